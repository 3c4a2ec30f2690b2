//! Texts, numbers and booleans.

use scion_domain::client_profile::MAX_SAFE_INTEGER;
use scion_domain::json::{Json, JsonNumber, JsonObject};

use super::flat::Flat;
use super::object::kind_of;
use super::{Stop, Usage, Writer};
use crate::model::TextForm;

impl<'d> Writer<'d> {
    /// A scalar of a type; an empty type is one only its values tell.
    pub(super) fn scalar(&mut self, kind: &str, flat: &Flat<'d>) -> Result<Json, Stop> {
        let mut out = JsonObject::new();
        self.describe(&mut out, flat, None)?;
        self.charge(1)?;
        let format = flat.kept.get("format").and_then(|format| format.as_str()).unwrap_or_default();
        let kind = match kind {
            "file" => "string",
            "int" | "long" => "integer",
            kind => kind,
        };
        let binary = kind == "string" && (format == "binary" || flat.kinds.as_deref() == Some(&["file"]));
        if binary {
            if self.usage != Usage::Output {
                self.charge(1)?;
                out.insert("contentEncoding".to_owned(), Json::from("base64"));
                self.texts.insert(self.at.clone(), TextForm::Base64);
            }
        } else if !format.is_empty() && format.len() <= 64 {
            self.text(&mut out, "format", format.to_owned())?;
        }
        if !kind.is_empty() {
            out.insert("type".to_owned(), kind_of(kind, flat.nullable));
        }
        match kind {
            "string" => self.lengths(&mut out, flat)?,
            "integer" | "number" => self.bounds(&mut out, flat)?,
            _ => {}
        }
        self.choices(&mut out, flat)?;
        if kind == "integer" && self.usage != Usage::Output {
            self.widen(&mut out, flat);
        }
        self.default(&mut out, kind, flat)?;
        Ok(Json::Object(out))
    }

    fn lengths(&mut self, out: &mut JsonObject, flat: &Flat<'d>) -> Result<(), Stop> {
        for keyword in ["minLength", "maxLength"] {
            let length = flat.kept.get(keyword).and_then(|bound| bound.as_number()?.as_u64());
            if let Some(length) = length.filter(|length| *length < 1 << 31) {
                self.charge(1)?;
                out.insert(keyword.to_owned(), Json::from(length));
            }
        }
        Ok(())
    }

    fn bounds(&mut self, out: &mut JsonObject, flat: &Flat<'d>) -> Result<(), Stop> {
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            let usable = |keyword: &str| {
                flat.kept.get(keyword).and_then(|value| value.as_number()).filter(|number| is_safe(number))
            };
            // In 3.0 `exclusiveMinimum` is a flag about `minimum`, in 3.1 a bound of its own.
            let flag = flat.kept.get(exclusive).and_then(|value| value.as_bool()) == Some(true);
            if let Some(number) = usable(bound) {
                self.charge(1)?;
                out.insert(if flag { exclusive } else { bound }.to_owned(), Json::Number(number.clone()));
            }
            if let Some(number) = usable(exclusive) {
                self.charge(1)?;
                out.insert(exclusive.to_owned(), Json::Number(number.clone()));
            }
        }
        let step = flat.kept.get("multipleOf").and_then(|value| value.as_number());
        if let Some(step) = step.filter(|step| is_safe(step) && step.as_f64() > 0.0) {
            self.charge(1)?;
            out.insert("multipleOf".to_owned(), Json::Number(step.clone()));
        }
        Ok(())
    }

    /// An integer that may have 64 bits takes text too: a client whose numbers are floats rounds it otherwise.
    fn widen(&mut self, out: &mut JsonObject, flat: &Flat<'d>) {
        let format = flat.kept.get("format").and_then(|format| format.as_str());
        if !matches!(format, Some("int64" | "uint64")) || out.contains_key("enum") {
            return;
        }
        let bounded = ["minimum", "maximum"].iter().all(|bound| out.contains_key(*bound));
        if bounded {
            return;
        }
        let mut kinds = vec![Json::from("integer"), Json::from("string")];
        if flat.nullable {
            kinds.push(Json::from("null"));
        }
        out.insert("type".to_owned(), Json::Array(kinds));
        self.texts.insert(self.at.clone(), TextForm::Integer);
    }

    /// The values it may have, each once, in the order of the document.
    pub(super) fn choices(&mut self, out: &mut JsonObject, flat: &Flat<'d>) -> Result<(), Stop> {
        let Some(choices) = &flat.choices else { return Ok(()) };
        let text = out.get("type").is_some_and(|kind| {
            kind.as_str() == Some("string") || kind.as_array().is_some_and(|kinds| kinds[0].as_str() == Some("string"))
        });
        let mut listed: Vec<Json> = Vec::new();
        for choice in choices {
            let choice = match choice {
                // YAML without quotes.
                Json::Number(number) if text => Json::from(number.as_text()),
                Json::Bool(flag) if text => Json::from(flag.to_string()),
                Json::Number(number) if !is_safe(number) => continue,
                Json::Object(_) | Json::Array(_) => continue,
                Json::Null if !flat.nullable && out.contains_key("type") => continue,
                other => (*other).clone(),
            };
            self.step(1 + listed.len() / 16)?;
            if !listed.contains(&choice) {
                self.charge(1 + choice.as_str().map_or(0, str::len) / 64)?;
                listed.push(choice);
            }
        }
        if flat.nullable && !listed.is_empty() && !listed.contains(&Json::Null) {
            listed.push(Json::Null);
        }
        if !listed.is_empty() {
            out.insert("enum".to_owned(), Json::Array(listed));
        }
        Ok(())
    }

    fn default(&mut self, out: &mut JsonObject, kind: &str, flat: &Flat<'d>) -> Result<(), Stop> {
        let Some(default) = flat.kept.get("default") else { return Ok(()) };
        let fits = match default {
            Json::String(text) => kind == "string" && text.len() <= 256,
            Json::Bool(_) => kind == "boolean",
            Json::Number(number) => match kind {
                "integer" => number.is_integer() && is_safe(number),
                "number" => is_safe(number),
                _ => false,
            },
            _ => false,
        };
        let listed = out.get("enum").and_then(Json::as_array).is_none_or(|choices| choices.contains(default));
        if fits && listed {
            self.charge(1 + default.as_str().map_or(0, str::len) / 64)?;
            out.insert("default".to_owned(), (*default).clone());
        }
        Ok(())
    }
}

/// Whether a float keeps a number; fractions are rounded by everyone, and meant to be.
fn is_safe(number: &JsonNumber) -> bool {
    !number.is_integer() || number.as_i64().is_some_and(|value| value.unsigned_abs() <= MAX_SAFE_INTEGER)
}
