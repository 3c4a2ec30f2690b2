//! Prompts, templates and bodies between the domain's models and the protocol library's.

use std::collections::BTreeMap;

use rmcp::model::{
    ArgumentInfo, AudioContent, CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, EmbeddedResource,
    GetPromptResult, ImageContent, MetaObject, Prompt, PromptMessage, ReadResourceResult, Reference, Resource,
    ResourceContents, ResourceTemplate, Role,
};
use scion_domain::base64;
use scion_domain::json::JsonObject;
use scion_domain::mcp::{
    Attachment, Completion, CompletionRequest, CompletionTarget, PromptArgument, PromptBody, PromptContent,
    PromptDescription, PromptRole, ResourceBody, ResourceDescription,
};
use serde_json::{Map, Value};

fn meta(members: &JsonObject) -> Option<MetaObject> {
    let member = |(key, value): (&String, &scion_domain::json::Json)| (key.clone(), Value::from(value));
    (!members.is_empty()).then(|| MetaObject(members.iter().map(member).collect()))
}

pub(crate) fn resource(described: ResourceDescription) -> Resource {
    let mut resource = Resource::new(described.uri, described.name);
    resource.title = described.title;
    resource.description = described.description;
    resource.mime_type = described.media_type;
    resource.size = described.size;
    resource.meta = meta(&described.meta);
    resource
}

pub(crate) fn template(described: scion_domain::mcp::ResourceTemplate) -> ResourceTemplate {
    let mut template = ResourceTemplate::new(described.uri_template, described.name);
    template.title = described.title;
    template.description = described.description;
    template.mime_type = described.media_type;
    template.meta = meta(&described.meta);
    template
}

/// Bytes that are UTF-8 travel as text, others in base64.
fn contents(body: ResourceBody) -> ResourceContents {
    let (uri, mime_type, meta) = (body.uri, body.media_type, meta(&body.meta));
    match String::from_utf8(body.bytes) {
        Ok(text) => ResourceContents::TextResourceContents { uri, mime_type, text, meta },
        Err(error) => {
            let blob = base64::encode(error.as_bytes());
            ResourceContents::BlobResourceContents { uri, mime_type, blob, meta }
        }
    }
}

pub(crate) fn resource_result(body: ResourceBody) -> ReadResourceResult {
    ReadResourceResult::new(vec![contents(body)])
}

pub(crate) fn attachment(attachment: Attachment) -> ContentBlock {
    match attachment {
        Attachment::Image { media_type, bytes } => {
            ContentBlock::Image(ImageContent::new(base64::encode(&bytes), media_type))
        }
        Attachment::Audio { media_type, bytes } => {
            ContentBlock::Audio(AudioContent::new(base64::encode(&bytes), media_type))
        }
        Attachment::Link(described) => ContentBlock::ResourceLink(resource(described)),
        Attachment::Resource(body) => ContentBlock::Resource(EmbeddedResource::new(contents(body))),
    }
}

pub(crate) fn prompt(described: PromptDescription) -> Prompt {
    let argument = |given: PromptArgument| {
        let mut argument = rmcp::model::PromptArgument::new(given.name).with_required(given.required);
        argument.title = given.title;
        argument.description = given.description;
        argument
    };
    let arguments = described.arguments.into_iter().map(argument).collect();
    let mut prompt = Prompt::new(described.name, described.description, Some(arguments));
    prompt.title = described.title;
    prompt.meta = meta(&described.meta);
    prompt
}

pub(crate) fn prompt_result(body: PromptBody) -> GetPromptResult {
    let message = |message: scion_domain::mcp::PromptMessage| {
        let role = match message.role {
            PromptRole::User => Role::User,
            PromptRole::Assistant => Role::Assistant,
        };
        let content = match message.content {
            PromptContent::Text(text) => ContentBlock::text(text),
            PromptContent::Attachment(other) => attachment(other),
        };
        PromptMessage::new(role, content)
    };
    let mut result = GetPromptResult::new(body.messages.into_iter().map(message).collect());
    result.description = body.description;
    result.meta = meta(&body.meta);
    result
}

/// Values of a prompt's arguments are texts; another value is written out.
pub(crate) fn prompt_arguments(given: Option<Map<String, Value>>) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    given.unwrap_or_default().into_iter().map(|(name, value)| (name, text(value))).collect()
}

/// `None` for a reference of a kind nobody knows.
pub(crate) fn completion_request(request: CompleteRequestParams) -> Option<CompletionRequest> {
    let target = match request.r#ref {
        Reference::Prompt(prompt) => CompletionTarget::Prompt(prompt.name),
        Reference::Resource(resource) => CompletionTarget::Template(resource.uri),
        #[allow(unreachable_patterns, reason = "the library may add kinds")]
        _ => return None,
    };
    let ArgumentInfo { name, value, .. } = request.argument;
    let known = request.context.and_then(|context| context.arguments).unwrap_or_default().into_iter().collect();
    Some(CompletionRequest { target, argument: name, value, known })
}

pub(crate) fn completion(found: Completion) -> CompleteResult {
    let mut info = CompletionInfo::default();
    info.values = found.values;
    info.total = found.total;
    info.has_more = Some(found.has_more);
    CompleteResult::new(info)
}
