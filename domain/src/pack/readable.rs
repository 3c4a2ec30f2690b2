//! The text form of what a tool answers, for agents that read (R048 of connector control).

use super::PackRefusal;
use super::annotation_json::{Members, bad};
use crate::json::{Json, JsonObject, to_compact};

/// The most characters of a readable form, where its author names no bound.
pub const DEFAULT_READABLE_CHARS: u64 = 4000;

/// How a tool's answer becomes text that questions can be answered from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadableForm {
    /// Which renderer, by its name.
    pub template_id: String,
    /// The most characters.
    pub max_chars: u64,
    /// Where the graded questions are; certification refuses a form without.
    pub question_set_ref: Option<String>,
    /// How it scored, once it was scored.
    pub score: Option<ReadableScore>,
}

/// A score: a ratio of counts, no judgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadableScore {
    /// Questions answered from the text alone.
    pub answered: u64,
    /// Questions asked.
    pub questions: u64,
}

/// Turns an answer into lines of plain text.
pub trait ReadableRenderer {
    /// The name a form asks for it by.
    fn template_id(&self) -> &str;

    /// The lines, most important first.
    fn lines(&self, result: &Json) -> Vec<String>;
}

/// The default: fitted terms with their effects, then the stated quality of the fit, one line each.
///
/// Reads `terms` (or `coefficients`), a list of objects or a map from name to effect, and `fit` (or `fit_quality`), a map. A
/// result with neither is one line per member.
#[derive(Clone, Copy, Debug, Default)]
pub struct FittedTerms;

impl FittedTerms {
    /// Its name.
    pub const TEMPLATE_ID: &'static str = "fitted-terms";
}

impl ReadableForm {
    /// A form of the default renderer and bound.
    pub fn fitted_terms(question_set_ref: Option<String>) -> Self {
        Self {
            template_id: FittedTerms::TEMPLATE_ID.to_owned(),
            max_chars: DEFAULT_READABLE_CHARS,
            question_set_ref,
            score: None,
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let mut out = JsonObject::from([
            ("template_id".to_owned(), Json::from(self.template_id.as_str())),
            ("max_chars".to_owned(), self.max_chars.into()),
        ]);
        if let Some(reference) = &self.question_set_ref {
            out.insert("question_set_ref".to_owned(), Json::from(reference.as_str()));
        }
        if let Some(score) = self.score {
            let members = [("answered", score.answered), ("questions", score.questions)];
            out.insert("score".to_owned(), Json::from(members.map(|(name, count)| (name, Json::from(count)))));
        }
        Json::Object(out)
    }

    /// Reads a declared form; the bound is 1 to 1,000,000 characters.
    pub fn from_json(uri: &str, value: &Json) -> Result<Self, PackRefusal> {
        let read = Members::of(uri, value, &["template_id", "max_chars", "question_set_ref", "score"])?;
        let template = read.text("template_id")?.filter(|text| !text.trim().is_empty());
        let max_chars = read.number("max_chars")?.unwrap_or(DEFAULT_READABLE_CHARS);
        if !(1..=1_000_000).contains(&max_chars) {
            return Err(bad(uri, "a readable form of no or more than 1,000,000 characters"));
        }
        let score = |value| {
            let read = Members::of(uri, value, &["answered", "questions"])?;
            match (read.number("answered")?, read.number("questions")?) {
                (Some(answered), Some(questions)) if answered <= questions => Ok(ReadableScore { answered, questions }),
                _ => Err(bad(uri, "a score that is no count out of a count")),
            }
        };
        Ok(Self {
            template_id: template.ok_or_else(|| bad(uri, "a readable form without template_id"))?.to_owned(),
            max_chars,
            question_set_ref: read.text("question_set_ref")?.map(str::to_owned),
            score: read.get("score").map(score).transpose()?,
        })
    }
}

/// The text of an answer under a form, with the default renderer.
pub fn render_readable(result: &Json, form: &ReadableForm) -> String {
    render_readable_with(&FittedTerms, result, form)
}

/// The text of an answer: whole lines of plain text, at most `max_chars` characters. Where not every line fits, the last one says
/// how many are missing, if there is room to say so.
pub fn render_readable_with(renderer: &dyn ReadableRenderer, result: &Json, form: &ReadableForm) -> String {
    let limit = usize::try_from(form.max_chars).unwrap_or(usize::MAX);
    let plain = |line: &String| line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let lines: Vec<String> = renderer.lines(result).iter().map(plain).collect();
    let sizes: Vec<usize> = lines.iter().map(|line| line.chars().count() + 1).collect();
    let fits = |count: usize| {
        let left_out = lines.len() - count;
        let note = if left_out == 0 { String::new() } else { format!("({left_out} more)") };
        let size = sizes[..count].iter().sum::<usize>() + note.chars().count();
        (size.saturating_sub(usize::from(left_out == 0)) <= limit).then_some((count, note))
    };
    let Some((count, note)) = (0..=lines.len()).rev().find_map(fits) else { return String::new() };
    let mut out = lines[..count].join("\n");
    if !note.is_empty() {
        if count > 0 {
            out.push('\n');
        }
        out.push_str(&note);
    }
    out
}

impl ReadableRenderer for FittedTerms {
    fn template_id(&self) -> &str {
        Self::TEMPLATE_ID
    }

    fn lines(&self, result: &Json) -> Vec<String> {
        let first = |names: [&str; 2]| names.into_iter().find_map(|name| result.get(name));
        let (terms, fit) = (first(["terms", "coefficients"]), first(["fit", "fit_quality"]));
        let mut lines = Vec::new();
        match terms {
            Some(Json::Array(items)) => lines.extend(items.iter().map(term)),
            Some(Json::Object(items)) => {
                lines.extend(items.iter().map(|(name, effect)| format!("{name}: effect {}", word(effect))));
            }
            _ => {}
        }
        match fit {
            Some(Json::Object(members)) => {
                lines.extend(members.iter().map(|(name, value)| format!("fit {name}: {}", word(value))));
            }
            Some(value) => lines.push(format!("fit: {}", word(value))),
            None => {}
        }
        if terms.is_none() && fit.is_none() {
            match result {
                Json::Object(members) => {
                    lines.extend(members.iter().map(|(name, value)| format!("{name}: {}", word(value))));
                }
                other => lines.push(word(other)),
            }
        }
        lines
    }
}

/// One fitted term: its name, its effect, and what else is said of it.
fn term(item: &Json) -> String {
    let Json::Object(members) = item else { return word(item) };
    let first = |names: &[&'static str]| names.iter().copied().find(|name| members.contains_key(*name));
    let name = first(&["name", "term"]);
    let effect = first(&["effect", "estimate", "coefficient"]);
    let named = name.map_or_else(|| "term".to_owned(), |name| word(&members[name]));
    let mut line = effect.map_or_else(|| named.clone(), |effect| format!("{named}: effect {}", word(&members[effect])));
    for (key, value) in members.iter().filter(|(key, _)| Some(key.as_str()) != name && Some(key.as_str()) != effect) {
        line.push_str(", ");
        line.push_str(key);
        line.push(' ');
        line.push_str(&word(value));
    }
    line
}

fn word(value: &Json) -> String {
    value.as_str().map_or_else(|| to_compact(value), str::to_owned)
}
