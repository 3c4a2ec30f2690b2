//! The declaration as a JSON document.

use super::{SeedGraphDeclaration, SeedIdentity, SeedObject, SeedProperties, SeedReference, SeedRefusal};
use crate::json::{Json, JsonObject};

impl SeedGraphDeclaration {
    /// The document; every member is there.
    pub fn to_json(&self) -> Json {
        let object = |object: &SeedObject| {
            Json::from([
                ("iri", object.iri.as_str().into()),
                ("class", object.class.as_str().into()),
                ("label", object.label.as_deref().into()),
                ("properties", object.properties.clone().into()),
            ])
        };
        let reference = |reference: &SeedReference| {
            Json::from([
                ("subject", reference.subject.as_str().into()),
                ("predicate", reference.predicate.as_str().into()),
                ("object", reference.object.as_str().into()),
            ])
        };
        let identity = Json::from([
            ("class", self.identity.class.as_deref().into()),
            ("label", self.identity.label.as_deref().into()),
            ("properties", self.identity.properties.clone().into()),
        ]);
        Json::from([
            ("instance_iri", self.instance_iri.as_str().into()),
            ("identity", identity),
            ("catalog", self.catalog.iter().map(object).collect::<Vec<_>>().into()),
            ("references", self.references.iter().map(reference).collect::<Vec<_>>().into()),
        ])
    }

    /// Reads the document back; unknown members are refused.
    pub fn from_json(document: &Json) -> Result<Self, SeedRefusal> {
        let root = Members::of(document, "the document", &["instance_iri", "identity", "catalog", "references"])?;
        let mut out = Self::new(root.text("instance_iri")?.unwrap_or_default())?;
        if let Some(identity) = root.given("identity") {
            let members = Members::of(identity, "identity", &["class", "label", "properties"])?;
            out.identity = SeedIdentity {
                class: members.text("class")?,
                label: members.text("label")?,
                properties: members.properties()?,
            };
        }
        for (index, item) in root.list("catalog")?.iter().enumerate() {
            let place = format!("catalog[{index}]");
            let members = Members::of(item, &place, &["iri", "class", "label", "properties"])?;
            out.catalog.push(SeedObject {
                iri: members.need("iri")?,
                class: members.need("class")?,
                label: members.text("label")?,
                properties: members.properties()?,
            });
        }
        for (index, item) in root.list("references")?.iter().enumerate() {
            let place = format!("references[{index}]");
            let members = Members::of(item, &place, &["subject", "predicate", "object"])?;
            let (subject, predicate) = (members.need("subject")?, members.need("predicate")?);
            out.references.push(SeedReference { subject, predicate, object: members.need("object")? });
        }
        Ok(out)
    }
}

struct Members<'a> {
    place: &'a str,
    members: &'a JsonObject,
}

impl<'a> Members<'a> {
    fn of(value: &'a Json, place: &'a str, known: &[&str]) -> Result<Self, SeedRefusal> {
        let members = value.as_object().ok_or_else(|| SeedRefusal::Member { path: place.to_owned() })?;
        match members.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                Err(SeedRefusal::Member { path: format!("{place}.{}", name.chars().take(64).collect::<String>()) })
            }
            None => Ok(Self { place, members }),
        }
    }

    fn given(&self, name: &str) -> Option<&'a Json> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str) -> SeedRefusal {
        SeedRefusal::Member { path: format!("{}.{name}", self.place) }
    }

    fn text(&self, name: &str) -> Result<Option<String>, SeedRefusal> {
        self.given(name).map(|value| value.as_str().map(str::to_owned).ok_or_else(|| self.wrong(name))).transpose()
    }

    fn need(&self, name: &str) -> Result<String, SeedRefusal> {
        self.text(name)?.ok_or_else(|| self.wrong(name))
    }

    fn list(&self, name: &str) -> Result<&'a [Json], SeedRefusal> {
        self.given(name).map_or(Ok(&[]), |value| value.as_array().ok_or_else(|| self.wrong(name)))
    }

    fn properties(&self) -> Result<SeedProperties, SeedRefusal> {
        self.given("properties").map_or(Ok(SeedProperties::new()), |value| {
            value.as_object().cloned().ok_or_else(|| self.wrong("properties"))
        })
    }
}
