//! A defect ends in one line, not in a backtrace.

use std::io::Write as _;

use scion_domain::command::CommandRefusal;

use crate::output::Refused;

/// From now on a panic prints where it happened and what to do, without its message: that may carry data.
pub(crate) fn one_line(program: &'static str) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |at| format!(" {}:{}", at.file(), at.line()));
        let refusal = CommandRefusal::Internal { place: format!("{program}{place}") };
        let _ = writeln!(std::io::stderr(), "{}", Refused::from(refusal));
    }));
}
