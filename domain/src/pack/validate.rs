//! What an entry of each kind must be (`wire/mcp-surface.md` 4.1).

use super::{EntryKind, PackRefusal};
use crate::content::{front_matter, split_front_matter};
use crate::declaration::DECLARATION_URI;
use crate::json::{Json, JsonLimits, JsonObject, parse_with};

/// The longest URI of a `ui://` resource, in bytes.
const MAX_UI_URI: usize = 256;

/// The most bytes of front matter.
const MAX_FRONT_MATTER: usize = 16 << 10;

fn malformed(uri: &str, what: &'static str) -> PackRefusal {
    PackRefusal::Malformed { uri: uri.to_owned(), what }
}

/// The kind of a listed resource, by its scheme. `None` for what a server serves about itself and a pack does not hold: its
/// status, the manifest of a skill, disclosed API schemas, and what is made from the declaration (`data://`, `contract://`). Every
/// other scheme is refused; there is no kind for a manifest.
pub fn resource_kind(uri: &str) -> Result<Option<EntryKind>, PackRefusal> {
    let unknown = || PackRefusal::Scheme { uri: uri.to_owned() };
    let (scheme, rest) = uri.split_once("://").ok_or_else(unknown)?;
    if rest.is_empty() || rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(unknown());
    }
    Ok(match scheme {
        "ontology" => Some(EntryKind::Ontology),
        "shapes" => Some(EntryKind::Shapes),
        "model-profile" => Some(EntryKind::ModelProfile),
        "a2a-card" => Some(EntryKind::A2aCard),
        "ui" | "seed" => Some(EntryKind::Resource),
        "connector" if uri == DECLARATION_URI => Some(EntryKind::Resource),
        "connector" if rest == "status" || rest.starts_with("capability/") => None,
        "skill" => match skill_of(uri) {
            Some((_, "SKILL.md")) => Some(EntryKind::Skill),
            Some((_, "_manifest")) => None,
            Some(_) => Some(EntryKind::SkillFile),
            None => return Err(unknown()),
        },
        "openapi-schema" | "data" | "contract" => None,
        _ => return Err(unknown()),
    })
}

/// The skill and the path inside it that a `skill://` or `skill-file://` URI names.
pub fn skill_of(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("skill://").or_else(|| uri.strip_prefix("skill-file://"))?;
    rest.split_once('/').filter(|(name, path)| {
        let safe = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        !name.is_empty() && safe
    })
}

/// The front matter of a `SKILL.md`: UTF-8, line feeds only, a mapping.
pub fn skill_header(uri: &str, body: &[u8]) -> Result<JsonObject, PackRefusal> {
    let text = std::str::from_utf8(body).map_err(|_| malformed(uri, "not UTF-8"))?;
    if text.contains('\r') {
        return Err(malformed(uri, "a carriage return; lines end with a line feed"));
    }
    // The last line of the front matter may also be the last of the file.
    let whole = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let (front, _) =
        split_front_matter(&whole).ok_or_else(|| malformed(uri, "no front matter between two lines `---`"))?;
    if front.len() > MAX_FRONT_MATTER {
        return Err(malformed(uri, "front matter of more than 16384 bytes"));
    }
    front_matter(uri, front).map_err(|_| malformed(uri, "front matter that is no plain YAML mapping"))
}

/// Checks an entry: its URI against its kind, its name and body against what the kind asks for.
pub fn validate(kind: EntryKind, uri: &str, name: &str, media_type: &str, body: &[u8]) -> Result<(), PackRefusal> {
    let bad = |what| Err(malformed(uri, what));
    let text = std::str::from_utf8(body);
    if kind != EntryKind::SkillFile && text.is_ok_and(|text| text.trim().is_empty()) {
        return bad("an empty body");
    }
    if kind != EntryKind::SkillFile && text.is_err() {
        return bad("a body that is not UTF-8");
    }
    let scheme = match kind {
        EntryKind::McpServer => return bad("a second server"),
        EntryKind::Tool => uri.starts_with("tool://"),
        EntryKind::Prompt => uri.starts_with("prompt://"),
        EntryKind::SkillFile => uri.starts_with("skill-file://") && skill_of(uri).is_some(),
        EntryKind::Resource if uri.starts_with("contract://") || uri.starts_with("data://") => true,
        EntryKind::ResourceTemplate => true,
        kind => resource_kind(uri)? == Some(kind),
    };
    if !scheme {
        return bad("a URI of another kind");
    }
    match kind {
        EntryKind::Tool => {
            let body = object(uri, body)?;
            if body.get("name").and_then(Json::as_str) != Some(name) {
                return bad("a body with another name");
            }
            if body.get("input_schema").and_then(|schema| schema.get("type")).and_then(Json::as_str) != Some("object") {
                return bad("an input schema whose type is not `object`");
            }
        }
        EntryKind::Prompt => {
            let body = object(uri, body)?;
            if body.get("name").and_then(Json::as_str) != Some(name) {
                return bad("a body with another name");
            }
        }
        EntryKind::Skill => {
            let header = skill_header(uri, body)?;
            if header.get("name").and_then(Json::as_str) != Some(name) {
                return bad("front matter with another name than its folder");
            }
            if header.get("description").and_then(Json::as_str).is_none_or(|text| text.trim().is_empty()) {
                return bad("front matter without a description");
            }
        }
        EntryKind::A2aCard | EntryKind::ModelProfile => {
            object(uri, body)?;
        }
        EntryKind::Resource if uri == DECLARATION_URI || uri.starts_with("data://") => {
            object(uri, body)?;
        }
        EntryKind::Resource if uri.starts_with("ui://") => ui(uri, media_type)?,
        _ => {}
    }
    let turtle = is_media(media_type, "text/turtle");
    if turtle
        && oxttl::TurtleParser::new()
            .with_base_iri(uri)
            .is_ok_and(|parser| parser.for_slice(body).any(|triple| triple.is_err()))
    {
        return bad("not Turtle");
    }
    Ok(())
}

fn is_media(media_type: &str, wanted: &str) -> bool {
    media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

fn ui(uri: &str, media_type: &str) -> Result<(), PackRefusal> {
    let rest = uri.strip_prefix("ui://").unwrap_or_default();
    let plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte));
    if uri.len() > MAX_UI_URI || !plain || !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(malformed(
            uri,
            "a URI of other than letters, digits, dots, underscores, slashes and hyphens, or of more than 256 bytes",
        ));
    }
    if is_media(media_type, "text/html") { Ok(()) } else { Err(malformed(uri, "another media type than text/html")) }
}

fn object(uri: &str, body: &[u8]) -> Result<JsonObject, PackRefusal> {
    match parse_with(body, JsonLimits::DEFAULT) {
        Ok(Json::Object(members)) => Ok(members),
        _ => Err(malformed(uri, "not a JSON object")),
    }
}
