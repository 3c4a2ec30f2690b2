//! Spec report.
fn main() {}
