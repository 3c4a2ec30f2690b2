//! The command line.

use std::path::PathBuf;
use std::time::Duration;

/// What to serve.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) records: u64,
    pub(crate) seed: u64,
    /// Every `touch`-th record has other contents; 0 for none.
    pub(crate) touch: u64,
    pub(crate) edges: bool,
    /// Ids arrive in no order instead of counting up.
    pub(crate) random_ids: bool,
    pub(crate) page_size: u64,
    pub(crate) delay: Duration,
    pub(crate) log: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            records: 1000,
            seed: 1,
            touch: 0,
            edges: false,
            random_ids: false,
            page_size: 200,
            delay: Duration::ZERO,
            log: None,
        };
        while let Some(flag) = arguments.next() {
            if flag == "--edges" {
                options.edges = true;
                continue;
            }
            if flag == "--random-ids" {
                options.random_ids = true;
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
            if flag == "--log" {
                options.log = Some(PathBuf::from(value));
                continue;
            }
            let number: u64 = value.parse().map_err(|_| format!("{flag} needs a number"))?;
            match flag.as_str() {
                "--records" => options.records = number,
                "--seed" => options.seed = number,
                "--touch" => options.touch = number,
                "--page-size" => options.page_size = number.clamp(1, 1000),
                "--delay-ms" => options.delay = Duration::from_millis(number),
                _ => return Err(format!("unknown option {flag}")),
            }
        }
        Ok(options)
    }
}
