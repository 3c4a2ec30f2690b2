//! Skills: `SKILL.md` with its front matter, and the files beside it.

use bytes::Bytes;

use super::ContentRefusal;
use super::files::text_of;
use crate::digest::sha256;
use crate::json::{Json, JsonObject};

/// The most bytes of front matter.
const MAX_FRONT_MATTER: usize = 16 << 10;

/// What the front matter of a `SKILL.md` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillHeader {
    /// The name; equal to the folder's.
    pub name: String,
    /// When to use the skill, 1 to 1024 characters.
    pub description: String,
    /// Every other member.
    pub other: JsonObject,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// The path below the skill's folder.
    pub path: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What its front matter says.
    pub header: SkillHeader,
    /// Its files in path order, `SKILL.md` among them.
    pub files: Vec<SkillFile>,
}

/// Cuts the front matter off a text: a first line that is `---`, and a later one that is `---` and nothing but blanks. The
/// first line of what stands between them is line 2.
pub fn split_front_matter(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("---\n")?;
    let mut at = 0;
    for line in inner.split_inclusive('\n') {
        if line.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty()) {
            let front = &inner[..at];
            return Some((front.strip_suffix('\n').unwrap_or(front), &inner[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// The front matter of a `SKILL.md`: UTF-8, LF only, within its bound.
pub(super) fn front_matter<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, ContentRefusal> {
    let text = text_of(file, bytes)?;
    if let Some(at) = text.find(['\r', '\u{feff}']) {
        let line = text[..at].matches('\n').count() + 1;
        return Err(ContentRefusal::LineEnds { file: file.to_owned(), line });
    }
    let refuse = |what: &str| ContentRefusal::FrontMatter { file: file.to_owned(), line: 1, what: what.to_owned() };
    let (front, _) =
        split_front_matter(text).ok_or_else(|| refuse("there is no front matter between two lines `---`"))?;
    if front.len() > MAX_FRONT_MATTER {
        return Err(refuse("the front matter has more than 16384 bytes"));
    }
    Ok(front)
}

impl Skill {
    /// The most files of one skill.
    pub const MAX_FILES: usize = 1024;

    /// The front matter of the skill's `SKILL.md`, for a reader of YAML. UTF-8 with LF line ends only.
    pub fn front_matter<'f>(folder: &str, files: &'f [SkillFile]) -> Result<&'f str, ContentRefusal> {
        let file = format!("skills/{folder}/SKILL.md");
        if !is_skill_name(folder) {
            return Err(ContentRefusal::Path { path: format!("skills/{folder}") });
        }
        match files.iter().find(|file| file.path == "SKILL.md") {
            Some(found) => front_matter(&file, &found.bytes),
            None => Err(ContentRefusal::Field { file, field: "SKILL.md".to_owned(), rule: "is missing" }),
        }
    }

    /// A skill from its folder's name, the members of its front matter, and its files.
    pub fn new(folder: &str, members: JsonObject, mut files: Vec<SkillFile>) -> Result<Self, ContentRefusal> {
        if files.len() > Self::MAX_FILES {
            return Err(ContentRefusal::TooMany { what: "files in a skill", limit: Self::MAX_FILES });
        }
        if files.iter().any(|file| file.path == "_manifest") {
            return Err(ContentRefusal::Path { path: format!("skills/{folder}/_manifest") });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { header: SkillHeader::read(folder, members)?, files })
    }

    /// The text served at `skill://<name>/_manifest`: every file with its size and SHA-256, in path order.
    pub fn manifest(&self) -> String {
        // Two blanks a level, as a peer writes it. Names and hashes need no escapes.
        let file = |file: &SkillFile| {
            let (size, hash) = (file.bytes.len(), sha256(&file.bytes).to_hex());
            format!(
                "    {{\n      \"path\": \"{}\",\n      \"size\": {size},\n      \"hash\": \"sha256:{hash}\"\n    }}",
                file.path
            )
        };
        let files = self.files.iter().map(file).collect::<Vec<_>>().join(",\n");
        format!("{{\n  \"skill\": \"{}\",\n  \"files\": [\n{files}\n  ]\n}}", self.header.name)
    }
}

impl SkillHeader {
    /// The two required members, and the name that must be the folder's.
    pub fn read(folder: &str, mut members: JsonObject) -> Result<Self, ContentRefusal> {
        let refuse = |field: &str, rule| {
            Err(ContentRefusal::Field { file: format!("skills/{folder}/SKILL.md"), field: field.to_owned(), rule })
        };
        let name = match members.remove("name") {
            Some(Json::String(name)) if name == folder => name,
            Some(Json::String(_)) => return refuse("name", "is not the name of its folder"),
            Some(_) => return refuse("name", "is not a text"),
            None => return refuse("name", "is missing"),
        };
        let description = match members.remove("description") {
            Some(Json::String(text)) if text.trim().is_empty() => return refuse("description", "is blank"),
            Some(Json::String(text)) if text.chars().count() > 1024 => {
                return refuse("description", "has more than 1024 characters");
            }
            Some(Json::String(text)) => text,
            Some(_) => return refuse("description", "is not a text"),
            None => return refuse("description", "is missing"),
        };
        Ok(Self { name, description, other: members })
    }
}

/// Names that can be the host of a `skill://` URI.
fn is_skill_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first.is_ascii_digit())
        && name.len() <= 64
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    fn file(bytes: &'static [u8]) -> Vec<SkillFile> {
        vec![SkillFile { path: "SKILL.md".into(), bytes: Bytes::from_static(bytes) }]
    }

    #[test]
    fn front_matter_is_cut_off_or_refused_with_its_line() {
        assert_eq!(split_front_matter("---\na: 1\n--- \nx\n"), Some(("a: 1", "x\n")));
        assert_eq!(split_front_matter("---\n---\n"), Some(("", "")));
        let refused = |bytes| Skill::front_matter("s", &file(bytes)).unwrap_err();
        assert_eq!(refused(b"---\r\nname: s\r\n---\r\n").code(), "content_line_ends");
        assert_eq!(
            refused(b"---\nname: s\n\xff---\n"),
            ContentRefusal::NotUtf8 { file: "skills/s/SKILL.md".into(), line: 3 }
        );
        assert_eq!(refused(b"name: s\n").code(), "content_front_matter");
        assert_eq!(refused(b"---\nname: s\n").code(), "content_front_matter");
        assert_eq!(Skill::front_matter("S", &file(b"")).unwrap_err().code(), "content_path_invalid");
        assert_eq!(
            Skill::front_matter("s", &[]).unwrap_err().to_string(),
            "SKILL.md in `skills/s/SKILL.md` is missing"
        );
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R075.5
    #[test]
    fn a_skill_is_called_like_its_folder_and_says_when_to_use_it() {
        let read = |members: &str| {
            let members = crate::json::parse(members).unwrap();
            SkillHeader::read("sort", members.as_object().unwrap().clone())
        };
        let good = read(r#"{"name":"sort","description":"Sorts.","license":"MIT"}"#).unwrap();
        assert_eq!((good.description.as_str(), good.other.len()), ("Sorts.", 1));
        for (members, field) in [
            (r#"{"name":"other","description":"x"}"#, "name"),
            (r#"{"description":"x"}"#, "name"),
            (r#"{"name":1,"description":"x"}"#, "name"),
            (r#"{"name":"sort"}"#, "description"),
            (r#"{"name":"sort","description":" "}"#, "description"),
            (r#"{"name":"sort","description":["x"]}"#, "description"),
        ] {
            let refusal = read(members).unwrap_err();
            assert!(refusal.to_string().starts_with(&format!("{field} in `skills/sort/SKILL.md` ")), "{refusal}");
        }
    }
}
