//! Schemas of a document as closed JSON Schemas without references.
//!
//! References and `allOf` are written out, `oneOf` and `anyOf` become `anyOf`, `nullable` becomes the type `null`.
//!
//! **Cut.** Where a schema contains itself, is deeper than the levels that are written out, or leaves open what it takes, it is
//! cut. In an input the cut place takes *JSON text*: a string, which [`request_plan`](crate::request_plan) decodes, so that
//! nothing an API takes is lost and the schema stays closed and finite. In an output the cut place takes anything. A schema
//! that needs more parts than [`Limits::max_schema_parts`](crate::Limits) is written out again with fewer levels.
//!
//! `pattern` is left out: one expression that a client's engine does not know loses the server all its tools.

mod flat;
mod object;
mod scalar;
mod union;

use std::collections::{BTreeMap, HashSet};

use scion_domain::json::{Json, JsonObject};
use scion_domain::openapi::OperationRefusal;

use crate::model::TextForm;
use crate::refs::Refs;
use flat::Flat;

/// What a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// A parameter: what is open takes text as it is.
    Parameter,
    /// A request body.
    Input,
    /// A response.
    Output,
}

/// A schema that was written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) schema: Json,
    /// The places of texts that stand for something else, as pointers into the schema.
    pub(crate) texts: BTreeMap<String, TextForm>,
    pub(crate) parts: usize,
    pub(crate) cut: usize,
}

pub(crate) enum Stop {
    /// More parts than allowed.
    TooLarge,
    Refused(OperationRefusal),
}

impl From<OperationRefusal> for Stop {
    fn from(refusal: OperationRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Writes a schema out with as many levels as its parts allow. `None` when not even one level is possible.
pub(crate) fn close<'d>(
    refs: Refs<'d>,
    schema: &'d Json,
    usage: Usage,
    parts: usize,
    levels: usize,
) -> Result<Option<Closed>, OperationRefusal> {
    for levels in (0..=levels).rev() {
        let mut writer = Writer::new(refs, usage, parts, levels);
        match writer.convert(&[schema], 0) {
            Ok(written) => {
                let schema = written.unwrap_or_else(|| Json::Object(JsonObject::new()));
                return Ok(Some(Closed { schema, texts: writer.texts, parts: writer.parts, cut: writer.cut }));
            }
            Err(Stop::TooLarge) => {}
            Err(Stop::Refused(refusal)) => return Err(refusal),
        }
    }
    Ok(None)
}

struct Writer<'d> {
    refs: Refs<'d>,
    usage: Usage,
    limit: usize,
    parts: usize,
    levels: usize,
    /// Steps taken, which are bounded even where they write nothing.
    steps: usize,
    /// The targets of references that are being written out, by address.
    open: Vec<usize>,
    /// The schemas whose branches are being written out, by address.
    branching: HashSet<usize>,
    at: String,
    texts: BTreeMap<String, TextForm>,
    cut: usize,
}

/// A name as a step of a pointer (RFC 6901).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

pub(crate) fn address(schema: &Json) -> usize {
    std::ptr::from_ref(schema) as usize
}

impl<'d> Writer<'d> {
    fn new(refs: Refs<'d>, usage: Usage, limit: usize, levels: usize) -> Self {
        Self {
            refs,
            usage,
            limit,
            parts: 0,
            levels,
            steps: 0,
            open: Vec::new(),
            branching: HashSet::new(),
            at: String::new(),
            texts: BTreeMap::new(),
            cut: 0,
        }
    }

    /// Counts what is written.
    fn charge(&mut self, parts: usize) -> Result<(), Stop> {
        self.parts += parts;
        if self.parts > self.limit { Err(Stop::TooLarge) } else { Ok(()) }
    }

    /// Counts what is looked at.
    fn step(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.limit.saturating_mul(8) { Err(Stop::TooLarge) } else { Ok(()) }
    }

    fn text(&mut self, out: &mut JsonObject, keyword: &str, text: String) -> Result<(), Stop> {
        self.charge(1 + text.len() / 64)?;
        out.insert(keyword.to_owned(), Json::String(text));
        Ok(())
    }

    /// Writes the schema that all of `schemas` together are; `None` when it has no place in this usage.
    fn convert(&mut self, schemas: &[&'d Json], depth: usize) -> Result<Option<Json>, Stop> {
        self.charge(1)?;
        let Some(flat) = self.flatten(schemas)? else {
            return self.cut_at(&Flat::default(), "a value of the type that contains this one").map(Some);
        };
        if match self.usage {
            Usage::Output => flat.write_only,
            Usage::Input | Usage::Parameter => flat.read_only,
        } && depth > 0
        {
            return Ok(None);
        }
        let pushed = flat.references.len();
        self.open.extend(&flat.references);
        let written = self.write(schemas, &flat, depth);
        self.open.truncate(self.open.len() - pushed);
        written.map(Some)
    }

    fn write(&mut self, schemas: &[&'d Json], flat: &Flat<'d>, depth: usize) -> Result<Json, Stop> {
        let compound = !flat.unions.is_empty() || !flat.properties.is_empty() || flat.kind() == Some("array");
        if compound && depth >= self.levels {
            return self.cut_at(flat, "a value");
        }
        if !flat.unions.is_empty() {
            return self.union(schemas, flat, depth);
        }
        match flat.kind() {
            Some("object") => self.object(flat, depth),
            Some("array") => self.array(flat, depth),
            Some(kind) => self.scalar(kind, flat),
            None if flat.several() => self.several(flat),
            None if flat.choices.is_some() => self.scalar("", flat),
            None => self.anything(flat),
        }
    }

    /// A value nothing is known of.
    fn anything(&mut self, flat: &Flat<'d>) -> Result<Json, Stop> {
        match self.usage {
            Usage::Parameter => self.scalar("string", flat),
            Usage::Input | Usage::Output => self.cut_at(flat, "any value"),
        }
    }

    /// Several scalar types at once (3.1), or compound ones, of which no schema says more.
    fn several(&mut self, flat: &Flat<'d>) -> Result<Json, Stop> {
        let scalar = |kind: &&str| !matches!(*kind, "object" | "array");
        if !flat.kinds.as_deref().unwrap_or_default().iter().all(scalar) {
            return self.cut_at(flat, "a value");
        }
        let mut out = JsonObject::new();
        self.describe(&mut out, flat, None)?;
        let mut kinds: Vec<Json> = flat.kinds.iter().flatten().map(|kind| Json::from(*kind)).collect();
        if flat.nullable {
            kinds.push(Json::from("null"));
        }
        self.charge(kinds.len())?;
        out.insert("type".to_owned(), Json::Array(kinds));
        self.choices(&mut out, flat)?;
        Ok(Json::Object(out))
    }

    /// The bounded form of what is not written out.
    fn cut_at(&mut self, flat: &Flat<'d>, what: &str) -> Result<Json, Stop> {
        self.cut += 1;
        let mut out = JsonObject::new();
        if self.usage == Usage::Output {
            self.describe(&mut out, flat, None)?;
            return Ok(Json::Object(out));
        }
        let name = flat.name.map(|name| format!(" ({})", name.chars().take(64).collect::<String>()));
        let note = format!("JSON text of {what}{}.", name.unwrap_or_default());
        self.describe(&mut out, flat, Some(&note))?;
        self.charge(2)?;
        out.insert("type".to_owned(), Json::from("string"));
        out.insert("contentMediaType".to_owned(), Json::from("application/json"));
        self.texts.insert(self.at.clone(), TextForm::Json);
        Ok(Json::Object(out))
    }

    fn describe(&mut self, out: &mut JsonObject, flat: &Flat<'d>, note: Option<&str>) -> Result<(), Stop> {
        let mut text = flat.description.map(|text| crate::text::shortened(text, 300)).unwrap_or_default();
        if let Some(note) = note {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(note);
        }
        if !text.is_empty() {
            self.text(out, "description", text)?;
        }
        if flat.deprecated {
            self.charge(1)?;
            out.insert("deprecated".to_owned(), Json::from(true));
        }
        Ok(())
    }

    /// Does something one level further down.
    fn within<T>(&mut self, step: &str, act: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        let length = self.at.len();
        self.at.push('/');
        self.at.push_str(&escaped(step));
        let done = act(self);
        self.at.truncate(length);
        done
    }

    /// Does something inside of an object or a list, where the branches that are being written out are no longer at hand.
    fn inside<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        let branching = std::mem::take(&mut self.branching);
        let done = act(self);
        self.branching = branching;
        done
    }
}
