//! What was found, told at once: a server that does not answer takes its time.

use scion_domain::command::CommandRefusal;

use crate::output::{Refused, print, printable};

/// Counts what was looked at and what is wrong.
#[derive(Debug, Default)]
pub(super) struct Findings {
    checks: usize,
    wrong: usize,
}

type Told = Result<(), CommandRefusal>;

impl Findings {
    /// Something is as it should be.
    pub(super) fn ok(&mut self, subject: &str, what: &str) -> Told {
        self.checks += 1;
        print(&format!("ok     {}: {}\n", printable(subject), printable(what)))
    }

    /// Something is worth knowing and not wrong.
    pub(super) fn note(&mut self, subject: &str, what: &str) -> Told {
        self.checks += 1;
        print(&format!("note   {}: {}\n", printable(subject), printable(what)))
    }

    /// Something is wrong.
    pub(super) fn wrong(&mut self, subject: &str, refused: &Refused) -> Told {
        self.checks += 1;
        self.wrong += 1;
        let Refused { code, message, next } = refused;
        let (subject, message) = (printable(subject), printable(message));
        print(&format!("wrong  {subject}: {message} [{code}]\n         next: {next}\n"))
    }

    /// Sums up; answers how much is wrong.
    pub(super) fn end(self) -> Result<usize, CommandRefusal> {
        print(&match self.wrong {
            0 => format!("\n{} checks; nothing is wrong.\n", self.checks),
            1 => format!("\n{} checks; 1 thing is wrong.\n", self.checks),
            more => format!("\n{} checks; {more} things are wrong.\n", self.checks),
        })?;
        Ok(self.wrong)
    }
}
