//! Command lines: parsing, help, and what is wrong with them in one line.

use clap::Parser;
use clap::error::ErrorKind;
use scion::usage::describe;
use scion_domain::command::CommandRefusal;

use crate::output::{Refused, print, tell};
use crate::{DONE, NOT_STARTED};

/// Parses the arguments of this process. Help and version go to standard output with exit code 0, a mistake goes to
/// standard error with exit code 2.
pub(crate) fn parse<T: Parser>() -> Result<T, u8> {
    T::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = print(&format!("{}\n", error.to_string().trim_end()));
            DONE
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            tell(error.to_string().trim_end());
            NOT_STARTED
        }
        _ => {
            tell(&Refused::from(CommandRefusal::Usage { what: describe(&error) }).to_string());
            NOT_STARTED
        }
    })
}
