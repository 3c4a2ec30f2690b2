//! Where a file of content belongs.

use super::ContentRefusal;

/// What a file is, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// `skills/<skill>/<path>`.
    Skill {
        /// The folder of the skill, which is its name.
        skill: &'a str,
        /// The path below it.
        path: &'a str,
    },
    /// `prompts/<name>.json`.
    Prompt {
        /// The name of the prompt.
        name: &'a str,
    },
    /// `ontology/<file>.ttl`.
    Ontology {
        /// The file's name.
        file: &'a str,
    },
    /// `ontology/shapes/<file>.ttl`.
    Shapes {
        /// The file's name.
        file: &'a str,
    },
    /// Nothing is served from it: hidden files, `README.md`, prompts whose name begins with `_`, and whatever lies outside of
    /// the folders of content.
    Unserved,
}

/// Sorts a path in. A file in a folder of content that belongs to nothing is refused, so that a wrong ending is noticed.
pub fn place(path: &str) -> Result<Place<'_>, ContentRefusal> {
    if path.split('/').any(|name| name.starts_with('.')) {
        return Ok(Place::Unserved);
    }
    let unexpected = |wanted| Err(ContentRefusal::Unexpected { file: path.to_owned(), wanted });
    let Some((kind, rest)) = path.split_once('/') else { return Ok(Place::Unserved) };
    if !matches!(kind, "skills" | "prompts" | "ontology") || matches!(rest, "README.md" | "shapes/README.md") {
        return Ok(Place::Unserved);
    }
    match (kind, rest.split_once('/')) {
        ("skills", Some((skill, path))) => Ok(Place::Skill { skill, path }),
        ("skills", None) => unexpected("one folder per skill"),
        ("prompts", None) => match rest.strip_suffix(".json").filter(|name| !name.is_empty()) {
            Some(name) if name.starts_with('_') => Ok(Place::Unserved),
            Some(name) => Ok(Place::Prompt { name }),
            None => unexpected("<name>.json"),
        },
        ("prompts", Some(_)) => unexpected("<name>.json, without folders"),
        ("ontology", None) if is_turtle(rest) => Ok(Place::Ontology { file: rest }),
        ("ontology", Some(("shapes", file))) if is_turtle(file) && !file.contains('/') => Ok(Place::Shapes { file }),
        ("ontology", Some(("shapes", _))) => unexpected("<file>.ttl"),
        _ => unexpected("<file>.ttl or shapes/<file>.ttl"),
    }
}

fn is_turtle(file: &str) -> bool {
    file.strip_suffix(".ttl").is_some_and(|stem| !stem.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    #[test]
    fn every_file_has_its_place_or_is_refused() {
        assert_eq!(place("skills/a/refs/x.md"), Ok(Place::Skill { skill: "a", path: "refs/x.md" }));
        assert_eq!(place("prompts/p.json"), Ok(Place::Prompt { name: "p" }));
        assert_eq!(place("ontology/a.ttl"), Ok(Place::Ontology { file: "a.ttl" }));
        assert_eq!(place("ontology/shapes/a.ttl"), Ok(Place::Shapes { file: "a.ttl" }));
        for left_alone in [
            "curation.yaml",
            "connectors/a.json",
            "prompts/_base.json",
            "prompts/.keep",
            "skills/README.md",
            "ontology/shapes/README.md",
            "skills/.git/x",
        ] {
            assert_eq!(place(left_alone), Ok(Place::Unserved), "{left_alone}");
        }
        for bad in [
            "skills/a.md",
            "prompts/p.yaml",
            "prompts/x/p.json",
            "ontology/a.rdf",
            "ontology/x/a.ttl",
            "ontology/shapes/x/a.ttl",
        ] {
            assert_eq!(place(bad).unwrap_err().code(), "content_unexpected_file", "{bad}");
        }
    }
}
