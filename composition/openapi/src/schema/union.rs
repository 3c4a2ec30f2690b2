//! Choices between schemas.

use scion_domain::json::{Json, JsonObject};

use super::flat::{Branches, Flat};
use super::{Stop, Usage, Writer, escaped};

impl<'d> Writer<'d> {
    /// Writes `oneOf` and `anyOf` as `anyOf`: a value that fits two branches is the server's to judge.
    pub(super) fn union(&mut self, schemas: &[&'d Json], flat: &Flat<'d>, depth: usize) -> Result<Json, Stop> {
        let [choice] = flat.unions.as_slice() else {
            return self.cut_at(flat, "a value");
        };
        self.step(choice.branches.len())?;
        let added: Vec<usize> = flat.owners.iter().copied().filter(|owner| !self.branching.contains(owner)).collect();
        self.branching.extend(&added);
        let written = self.branches(schemas, choice, depth);
        for owner in &added {
            self.branching.remove(owner);
        }
        let (mut branches, mut nullable) = written?;
        nullable |= flat.nullable;
        if branches.is_empty() {
            return self.anything(flat);
        }
        if branches.len() == 1 && !nullable {
            // The places of texts were noted below `anyOf/0`.
            let (prefix, length) = (format!("{}/anyOf/0", self.at), self.at.len());
            let moved: Vec<_> = self.texts.keys().filter(|at| at.starts_with(&prefix)).cloned().collect();
            for at in moved {
                if let Some(form) = self.texts.remove(&at) {
                    let rest = &at[prefix.len()..];
                    self.texts.insert(format!("{}{rest}", &self.at[..length]), form);
                }
            }
            return Ok(branches.remove(0));
        }
        let mut out = JsonObject::new();
        self.describe(&mut out, flat, None)?;
        if nullable && !branches.iter().any(takes_null) {
            self.charge(2)?;
            branches.push(Json::from([("type", Json::from("null"))]));
        }
        self.charge(1)?;
        out.insert("anyOf".to_owned(), Json::Array(branches));
        Ok(Json::Object(out))
    }

    fn branches(
        &mut self,
        schemas: &[&'d Json],
        choice: &Branches<'d>,
        depth: usize,
    ) -> Result<(Vec<Json>, bool), Stop> {
        let mut nullable = false;
        let mut out: Vec<Json> = Vec::new();
        for branch in choice.branches {
            let members = branch.as_object();
            if members.and_then(|members| members.get("type")).and_then(Json::as_str) == Some("null") {
                nullable = true;
                continue;
            }
            // A branch that only says which members are required changes nothing that is written out.
            let mut all = schemas.to_vec();
            all.push(branch);
            let step = format!("anyOf/{}", out.len());
            let length = self.at.len();
            self.at.push('/');
            self.at.push_str(&step);
            let written = self.convert(&all, depth + 1);
            self.at.truncate(length);
            let Some(mut written) = written? else { continue };
            if let Some(discriminator) = choice.discriminator {
                self.discriminate(&mut written, &step, branch, discriminator)?;
            }
            if written.as_object().is_some_and(JsonObject::is_empty) && self.usage == Usage::Output {
                // One branch takes anything, so the choice does.
                return Ok((Vec::new(), nullable));
            }
            if out.contains(&written) {
                let gone = format!("{}/{step}", self.at);
                self.texts.retain(|at, _| at != &gone && !at.starts_with(&format!("{gone}/")));
            } else {
                out.push(written);
            }
        }
        Ok((out, nullable))
    }

    /// Writes into a branch which values its discriminator has there.
    fn discriminate(
        &mut self,
        written: &mut Json,
        step: &str,
        branch: &'d Json,
        discriminator: &'d Json,
    ) -> Result<(), Stop> {
        let Some(property) = discriminator.get("propertyName").and_then(Json::as_str) else { return Ok(()) };
        let Some(reference) = branch.get("$ref").and_then(Json::as_str) else { return Ok(()) };
        let name = reference.rsplit('/').next().unwrap_or_default();
        let mut values: Vec<Json> = Vec::new();
        if let Some(mapping) = discriminator.get("mapping").and_then(Json::as_object) {
            self.step(mapping.len())?;
            let here = |target: &Json| target.as_str().is_some_and(|target| target == reference || target == name);
            values = mapping
                .iter()
                .filter(|(_, target)| here(target))
                .map(|(value, _)| Json::from(value.as_str()))
                .collect();
        }
        if values.is_empty() {
            values.push(Json::from(name));
        }
        self.charge(3 + values.len() + name.len() / 64)?;
        let Json::Object(members) = written else { return Ok(()) };
        let Some(Json::Object(properties)) = members.get_mut("properties") else { return Ok(()) };
        let entry = properties.entry(property.to_owned()).or_insert_with(|| Json::Object(JsonObject::new()));
        if let Json::Object(entry) = entry {
            entry.insert("type".to_owned(), Json::from("string"));
            entry.insert("enum".to_owned(), Json::Array(values));
            entry.remove("anyOf");
            entry.remove("contentMediaType");
            entry.remove("default");
            self.texts.remove(&format!("{}/{step}/properties/{}", self.at, escaped(property)));
        }
        let required = members.entry("required".to_owned()).or_insert_with(|| Json::Array(Vec::new()));
        if let Json::Array(required) = required {
            let property = Json::from(property);
            if !required.contains(&property) {
                required.push(property);
                required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
        }
        Ok(())
    }
}

fn takes_null(schema: &Json) -> bool {
    match schema.get("type") {
        Some(Json::String(kind)) => kind == "null",
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some("null")),
        _ => false,
    }
}
