//! Measures serving.
fn main() {}
