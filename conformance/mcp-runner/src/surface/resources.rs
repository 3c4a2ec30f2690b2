//! The resources of the scenarios.

use scion_domain::mcp::{ResourceBody, ResourceDescription, ResourceTemplate};

use super::media;

/// The one family of resources.
pub(super) const TEMPLATE: &str = "test://template/{id}/data";

/// URI, name, description, media type.
const ALL: [(&str, &str, &str, &str); 3] = [
    ("test://static-text", "static-text", "A text that never changes.", "text/plain"),
    ("test://static-binary", "static-binary", "A picture of one pixel.", "image/png"),
    ("test://watched-resource", "watched-resource", "A text that can be subscribed to.", "text/plain"),
];

pub(super) fn described() -> Vec<ResourceDescription> {
    ALL.iter()
        .map(|(uri, name, description, media_type)| ResourceDescription {
            uri: (*uri).to_owned(),
            name: (*name).to_owned(),
            description: Some((*description).to_owned()),
            media_type: Some((*media_type).to_owned()),
            ..ResourceDescription::default()
        })
        .collect()
}

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate {
        uri_template: TEMPLATE.to_owned(),
        name: "template".to_owned(),
        description: Some("The data of one id.".to_owned()),
        media_type: Some("application/json".to_owned()),
        ..ResourceTemplate::default()
    }
}

pub(super) fn read(uri: &str) -> Option<ResourceBody> {
    let (media_type, bytes) = match uri {
        "test://static-text" => ("text/plain", b"This is the content of the static text resource.".to_vec()),
        "test://static-binary" => ("image/png", media::png()),
        "test://watched-resource" => ("text/plain", b"Watched.".to_vec()),
        _ => ("application/json", templated(uri)?.into_bytes()),
    };
    Some(ResourceBody {
        uri: uri.to_owned(),
        media_type: Some(media_type.to_owned()),
        bytes,
        ..ResourceBody::default()
    })
}

fn templated(uri: &str) -> Option<String> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let plain = (1..=64).contains(&id.len()) && id.chars().all(|letter| letter.is_ascii_alphanumeric());
    plain.then(|| format!(r#"{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}"#))
}
