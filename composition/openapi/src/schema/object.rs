//! Objects and lists.

use scion_domain::json::{Json, JsonObject};

use super::flat::Flat;
use super::{Stop, Usage, Writer};

/// The type of a value that can be absent.
pub(super) fn kind_of(kind: &str, nullable: bool) -> Json {
    if nullable { Json::Array(vec![Json::from(kind), Json::from("null")]) } else { Json::from(kind) }
}

impl<'d> Writer<'d> {
    pub(super) fn object(&mut self, flat: &Flat<'d>, depth: usize) -> Result<Json, Stop> {
        if flat.properties.is_empty() {
            return self.map(flat, depth);
        }
        let mut out = JsonObject::new();
        self.describe(&mut out, flat, None)?;
        self.charge(4)?;
        let mut properties = JsonObject::new();
        self.inside(|writer| {
            writer.within("properties", |writer| {
                for (name, schemas) in &flat.properties {
                    if schemas.iter().any(|schema| schema.as_bool() == Some(false)) {
                        continue;
                    }
                    writer.charge(1 + name.len() / 64)?;
                    if let Some(property) = writer.within(name, |writer| writer.convert(schemas, depth + 1))? {
                        properties.insert((*name).to_owned(), property);
                    }
                }
                Ok(())
            })
        })?;
        let required: Vec<Json> =
            flat.required.iter().filter(|name| properties.contains_key(**name)).map(|name| Json::from(*name)).collect();
        self.charge(required.len())?;
        out.insert("type".to_owned(), kind_of("object", flat.nullable));
        out.insert("properties".to_owned(), Json::Object(properties));
        if !required.is_empty() {
            out.insert("required".to_owned(), Json::Array(required));
        }
        // Servers answer more members than they describe; what is sent to them is described.
        if self.usage != Usage::Output {
            out.insert("additionalProperties".to_owned(), Json::from(false));
        }
        Ok(Json::Object(out))
    }

    /// An object without described members.
    fn map(&mut self, flat: &Flat<'d>, depth: usize) -> Result<Json, Stop> {
        let values = match flat.additional {
            Some(Json::Bool(false)) => Some(None),
            Some(schema @ Json::Object(members)) if !members.is_empty() && depth < self.levels => Some(Some(schema)),
            _ => None,
        };
        let mut out = JsonObject::new();
        match (values, self.usage) {
            (None, Usage::Output) => {}
            (None, _) => return self.cut_at(flat, "an object"),
            (Some(None), _) => drop(out.insert("additionalProperties".to_owned(), Json::from(false))),
            (Some(Some(schema)), _) => {
                let written = self.inside(|writer| {
                    writer.within("additionalProperties", |writer| writer.convert(&[schema], depth + 1))
                })?;
                match written {
                    Some(values) if values.as_object().is_some_and(|members| !members.is_empty()) => {
                        out.insert("additionalProperties".to_owned(), values);
                    }
                    _ if self.usage == Usage::Output => {}
                    _ => return self.cut_at(flat, "an object"),
                }
            }
        }
        self.describe(&mut out, flat, None)?;
        self.charge(2)?;
        out.insert("type".to_owned(), kind_of("object", flat.nullable));
        Ok(Json::Object(out))
    }

    pub(super) fn array(&mut self, flat: &Flat<'d>, depth: usize) -> Result<Json, Stop> {
        let mut out = JsonObject::new();
        self.describe(&mut out, flat, None)?;
        self.charge(2)?;
        out.insert("type".to_owned(), kind_of("array", flat.nullable));
        let items = match flat.items {
            Some(items) => {
                self.inside(|writer| writer.within("items", |writer| writer.convert(&[items], depth + 1)))?
            }
            None => None,
        };
        let items = match items {
            Some(items) => items,
            None => self.within("items", |writer| writer.anything(&Flat::default()))?,
        };
        out.insert("items".to_owned(), items);
        for keyword in ["minItems", "maxItems"] {
            let bound = flat.kept.get(keyword).filter(|bound| {
                bound.as_number().and_then(scion_domain::json::JsonNumber::as_u64).is_some_and(|n| n < 1 << 31)
            });
            if let Some(bound) = bound {
                self.charge(1)?;
                out.insert(keyword.to_owned(), (*bound).clone());
            }
        }
        if flat.kept.get("uniqueItems").is_some_and(|unique| unique.as_bool() == Some(true)) {
            self.charge(1)?;
            out.insert("uniqueItems".to_owned(), Json::from(true));
        }
        Ok(Json::Object(out))
    }
}
