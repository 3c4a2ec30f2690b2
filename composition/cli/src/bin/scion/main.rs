//! The `scion` command.
fn main() {}
