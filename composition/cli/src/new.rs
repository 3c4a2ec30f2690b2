//! `scion new`: a connector's package, complete, compiling and tested.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use scion_domain::command::CommandRefusal;
use scion_domain::tool_surface::ToolPrefix;

use crate::commands::{Outcome, done};
use crate::output::print;

/// The longest name, in characters: clients put it before the name of every tool, which begins with it too, and take 64.
const MAX_NAME: usize = 23;
/// Names that Cargo or Rust have another use for.
const TAKEN: [&str; 11] =
    ["alloc", "build", "core", "deps", "examples", "incremental", "proc-macro", "scion", "self", "std", "test"];

/// Where each file goes, and its text.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("new/template/Cargo.toml.in")),
    (".gitignore", include_str!("new/template/gitignore.in")),
    ("README.md", include_str!("new/template/README.md.in")),
    ("src/main.rs", include_str!("new/template/src/main.rs.in")),
    ("src/tests.rs", include_str!("new/template/src/tests.rs.in")),
    ("content/skills/use-items/SKILL.md", include_str!("new/template/content/skills/use-items/SKILL.md.in")),
    ("content/prompts/summary.json", include_str!("new/template/content/prompts/summary.json.in")),
    ("content/ontology/{{name}}.ttl", include_str!("new/template/content/ontology/connector.ttl.in")),
    ("content/ontology/shapes/{{name}}.ttl", include_str!("new/template/content/ontology/shapes/connector.ttl.in")),
];

/// `scion new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The connector's name, and its package's: lower-case letters,
    /// digits and `-`, at most 23 characters, for example github-mcp.
    #[arg(value_name = "NAME", verbatim_doc_comment)]
    name: String,

    /// The folder to make the package's folder in. Default: this one.
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true, verbatim_doc_comment)]
    dir: PathBuf,

    /// A checkout of the SDK to depend on, instead of its release.
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    sdk: Option<PathBuf>,
}

/// The words that go into the files.
struct Words {
    name: String,
    prefix: String,
    kind: String,
    sdk: String,
}

impl Words {
    fn of(args: &NewArgs) -> Result<Self, CommandRefusal> {
        let name = &args.name;
        let refuse = |what| CommandRefusal::ProjectName { name: name.chars().take(64).collect(), what };
        if name.chars().count() > MAX_NAME {
            return Err(refuse("has more than 23 characters, and clients put it before every tool"));
        }
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.bytes().all(plain) {
            return Err(refuse("is not a lower-case letter, then letters, digits and `-`"));
        }
        if name.ends_with('-') || name.contains("--") {
            return Err(refuse("has a `-` that divides nothing"));
        }
        if TAKEN.contains(&name.as_str()) {
            return Err(refuse("has another meaning for Cargo or Rust"));
        }
        let prefix = ToolPrefix::of_service(name, None).map_err(|_| refuse("gives no prefix for tool names"))?;
        let capital = |word: &str| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        };
        let kind: String = prefix.as_str().split('_').filter(|word| !word.is_empty()).map(capital).collect();
        // A name that the file has already.
        let kind = if matches!(kind.as_str(), "Item" | "ItemPage" | "Page" | "Api" | "Timestamp" | "Json" | "Self") {
            kind + "Client"
        } else {
            kind
        };
        let sdk = match &args.sdk {
            None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
            Some(checkout) => format!("path = {}", toml_text(&sdk_path(checkout)?)),
        };
        Ok(Self { name: name.clone(), prefix: prefix.as_str().to_owned(), kind, sdk })
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{{name}}", &self.name)
            .replace("{{prefix}}", &self.prefix)
            .replace("{{Type}}", &self.kind)
            .replace("{{VARIABLE}}", &self.prefix.to_ascii_uppercase())
            .replace("{{sdk}}", &self.sdk)
    }
}

/// The facade's package in a checkout.
fn sdk_path(checkout: &Path) -> Result<String, CommandRefusal> {
    let path = checkout.display().to_string();
    let none = || CommandRefusal::ProjectWrite { path: path.clone(), what: "it holds no checkout of the SDK" };
    let package = checkout.join("composition/scion").canonicalize().map_err(|_| none())?;
    if !package.join("Cargo.toml").is_file() {
        return Err(none());
    }
    package.to_str().map(str::to_owned).ok_or_else(none)
}

fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Runs the command.
pub(crate) fn main(args: &NewArgs) -> Outcome {
    let words = Words::of(args)?;
    let target = args.dir.join(&words.name);
    write_project(&words, &args.dir, &target)?;
    let (shown, variable) = (target.display(), words.prefix.to_ascii_uppercase());
    done(print(&format!(
        "{shown} is a connector. Try it:\n\n  cd {shown}\n  cargo test\n  {variable}_TOKEN=… cargo run -- --help\n"
    )))
}

/// Everything is written beside its place first and moved there whole, so that there is never half a project.
fn write_project(words: &Words, parent: &Path, target: &Path) -> Result<(), CommandRefusal> {
    let shown = || target.display().to_string();
    if target.symlink_metadata().is_ok() {
        return Err(CommandRefusal::ProjectExists { path: shown() });
    }
    let failed = |error: &std::io::Error| CommandRefusal::ProjectWrite { path: shown(), what: reason(error) };
    let draft = Draft(parent.join(format!(".{}.scion-new-{}", words.name, std::process::id())));
    fs::create_dir(&draft.0).map_err(|error| failed(&error))?;
    for (place, text) in FILES {
        let path = draft.0.join(words.fill(place));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        fs::write(path, words.fill(text)).map_err(|error| failed(&error))?;
    }
    // A folder that somebody made meanwhile is not replaced, unless it is empty.
    fs::rename(&draft.0, target).map_err(|error| failed(&error))
}

/// A folder that goes away unless it was moved.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn reason(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "the folder to make it in does not exist",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::NotADirectory => "the place to make it in is not a folder",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        _ => "the system reports an error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str) -> Result<Words, CommandRefusal> {
        Words::of(&NewArgs { name: name.to_owned(), dir: ".".into(), sdk: None })
    }

    #[test]
    fn a_name_gives_every_word_of_the_project() {
        let words = words("my-connector").unwrap();
        assert_eq!((words.prefix.as_str(), words.kind.as_str()), ("my_connector", "MyConnector"));
        assert_eq!(words.fill("{{VARIABLE}}_TOKEN of {{Type}}"), "MY_CONNECTOR_TOKEN of MyConnector");
        let github = self::words("github-mcp").unwrap();
        assert_eq!((github.prefix.as_str(), github.kind.as_str()), ("github", "Github"));
        assert_eq!(self::words("item-mcp").unwrap().kind, "ItemClient");
        // A prompt's own placeholder stays.
        assert_eq!(words.fill("{{since}}"), "{{since}}");
    }

    #[test]
    fn bad_names_are_refused() {
        for bad in ["", "My-Connector", "1st", "a_b", "a b", "../up", "a-", "a--b", "test", "café", &"a".repeat(24)] {
            assert!(words(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn there_is_a_whole_project_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("desk");
        write_project(&words("desk").unwrap(), folder.path(), &target).unwrap();
        assert!(target.join("src/main.rs").is_file() && target.join("content/ontology/shapes/desk.ttl").is_file());
        let again = write_project(&words("desk").unwrap(), folder.path(), &target);
        assert!(matches!(again, Err(CommandRefusal::ProjectExists { .. })));
        let absent = folder.path().join("absent");
        let nowhere = write_project(&words("lamp").unwrap(), &absent, &absent.join("lamp"));
        assert!(matches!(nowhere, Err(CommandRefusal::ProjectWrite { .. })));
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["desk"]);
    }
}
