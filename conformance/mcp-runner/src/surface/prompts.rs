//! The prompts of the scenarios.

use std::collections::BTreeMap;

use scion_domain::mcp::{
    Attachment, Completion, PromptArgument, PromptBody, PromptContent, PromptDescription, PromptMessage, PromptRole,
    ResourceBody,
};
use scion_domain::surface::{ArgumentRefusal, SurfaceRefusal};

use super::media;

const SIMPLE: &str = "test_simple_prompt";
const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
const WITH_RESOURCE: &str = "test_prompt_with_embedded_resource";
const WITH_IMAGE: &str = "test_prompt_with_image";

/// Name, description, arguments.
const ALL: [(&str, &str, &[&str]); 4] = [
    (SIMPLE, "A prompt without arguments.", &[]),
    (WITH_ARGUMENTS, "A prompt with two arguments.", &["arg1", "arg2"]),
    (WITH_RESOURCE, "A prompt with a resource in it.", &["resourceUri"]),
    (WITH_IMAGE, "A prompt with a picture in it.", &[]),
];

pub(super) fn described() -> Vec<PromptDescription> {
    ALL.iter()
        .map(|(name, description, arguments)| PromptDescription {
            name: (*name).to_owned(),
            description: Some((*description).to_owned()),
            arguments: arguments
                .iter()
                .map(|argument| PromptArgument {
                    name: (*argument).to_owned(),
                    description: Some("A text for the test.".to_owned()),
                    required: true,
                    ..PromptArgument::default()
                })
                .collect(),
            ..PromptDescription::default()
        })
        .collect()
}

pub(super) fn get(name: &str, arguments: &BTreeMap<String, String>) -> Result<PromptBody, SurfaceRefusal> {
    let argument = |key: &str| {
        arguments.get(key).ok_or_else(|| SurfaceRefusal::PromptArguments {
            prompt: name.to_owned(),
            refusal: ArgumentRefusal::Missing { name: key.to_owned() },
        })
    };
    let messages = match name {
        SIMPLE => vec![text("This is a simple prompt for testing.")],
        WITH_ARGUMENTS => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        WITH_RESOURCE => {
            let body = ResourceBody {
                uri: argument("resourceUri")?.clone(),
                media_type: Some("text/plain".to_owned()),
                bytes: b"Embedded resource content for testing.".to_vec(),
                ..ResourceBody::default()
            };
            vec![attached(Attachment::Resource(body)), text("Please process the embedded resource above.")]
        }
        WITH_IMAGE => vec![attached(media::picture()), text("Please analyze the image above.")],
        _ => return Err(unknown(name)),
    };
    Ok(PromptBody { messages, ..PromptBody::default() })
}

pub(super) fn complete(prompt: &str, argument: &str, typed: &str) -> Result<Completion, SurfaceRefusal> {
    let (_, _, arguments) = ALL.iter().find(|(name, ..)| *name == prompt).ok_or_else(|| unknown(prompt))?;
    if !arguments.contains(&argument) {
        return Ok(Completion::default());
    }
    let values: Vec<String> = ["paris", "park", "party", "testValue1", "testValue2"]
        .iter()
        .filter(|word| word.starts_with(typed))
        .map(|&word| word.to_owned())
        .collect();
    Ok(Completion { total: u32::try_from(values.len()).ok(), values, has_more: false })
}

fn unknown(name: &str) -> SurfaceRefusal {
    SurfaceRefusal::UnknownPrompt { prompt: name.chars().take(64).collect() }
}

fn text(words: &str) -> PromptMessage {
    PromptMessage { role: PromptRole::User, content: PromptContent::Text(words.to_owned()) }
}

fn attached(attachment: Attachment) -> PromptMessage {
    PromptMessage { role: PromptRole::User, content: PromptContent::Attachment(attachment) }
}
