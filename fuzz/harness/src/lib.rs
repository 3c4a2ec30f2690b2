//! One function per parser: any bytes go in, nothing may panic, and what was read must keep its promise.
//!
//! The same functions run in three places: coverage-guided under `fuzz/cargo-fuzz`, as a bounded mutation run in the full
//! test command (`fuzz-smoke`), and over the stored corpus in the ordinary tests.

mod mutate;
pub mod targets;

pub use mutate::Mutator;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name: of the function, the corpus folder and the cargo-fuzz binary.
    pub name: &'static str,
    /// The harness.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "json", run: targets::json },
    Target { name: "canonical_json", run: targets::canonical_json },
    Target { name: "declaration", run: targets::declaration },
    Target { name: "fingerprint", run: targets::fingerprint },
    Target { name: "drift", run: targets::drift },
    Target { name: "cursor", run: targets::cursor },
    Target { name: "pagination", run: targets::pagination },
    Target { name: "configuration", run: targets::configuration },
    Target { name: "timestamp", run: targets::timestamp },
    Target { name: "secret_reference", run: targets::secret_reference },
    Target { name: "payment_challenge", run: targets::payment_challenge },
    Target { name: "graphql_response", run: targets::graphql_response },
    Target { name: "sparql", run: targets::sparql },
    Target { name: "egress", run: targets::egress },
    Target { name: "rate_headers", run: targets::rate_headers },
    Target { name: "link_header", run: targets::link_header },
    Target { name: "problem", run: targets::problem },
    Target { name: "authorization", run: targets::authorization },
    Target { name: "jwt", run: targets::jwt },
    Target { name: "jwks", run: targets::jwks },
    Target { name: "token_response", run: targets::token_response },
    Target { name: "openapi", run: targets::openapi },
    Target { name: "curation", run: targets::curation },
    Target { name: "next_page", run: targets::next_page },
    Target { name: "front_matter", run: targets::front_matter },
    Target { name: "pack_index", run: targets::pack_index },
    Target { name: "prompt_file", run: targets::prompt_file },
    Target { name: "mcp_frames", run: targets::mcp_frames },
    Target { name: "engine_value", run: targets::engine_value },
    Target { name: "pack_file", run: targets::pack_file },
    Target { name: "transport_profiles", run: targets::transport_profiles },
    Target { name: "access_contract", run: targets::access_contract },
    Target { name: "shapes", run: targets::shapes },
    Target { name: "pack_declaration", run: targets::pack_declaration },
];

/// The corpus of a target, in the order of file names: `(file name, bytes)`.
///
/// # Panics
/// When the folder cannot be read: a missing corpus must not look like a passed test.
pub fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, std::fs::read(entry.path()).ok()?)))
        .collect();
    files.sort();
    files
}
