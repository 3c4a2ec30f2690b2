//! Files of declared content.

use std::collections::BTreeMap;

use scion_domain::content::{ContentFiles, PromptFile};
use scion_domain::refusal::Refusal as _;
use scion_serve::ServedContent;

/// A skill is read or refused with a line of its file; what was read is served as the same bytes and names its folder.
pub fn front_matter(data: &[u8]) {
    let mut files = ContentFiles::default();
    if files.add("skills/fuzzed/SKILL.md", data.to_vec()).is_err() {
        return;
    }
    match ServedContent::from_files(&files) {
        Ok(content) => {
            let skill = &content.skills()[0];
            assert_eq!((skill.header.name.as_str(), &skill.files[0].bytes[..]), ("fuzzed", data));
            assert!(!skill.header.description.trim().is_empty() && !data.contains(&b'\r'));
        }
        Err(refusal) => assert!(refusal.code().starts_with("content_"), "{refusal}"),
    }
}

/// A prompt is read or refused; a text without arguments stands as written, and its own placeholders give a template back.
pub fn prompt_file(data: &[u8]) {
    let Ok(prompt) = PromptFile::read("fuzzed", data) else { return };
    assert!(prompt.tags.contains("prompt"));
    let own = prompt.arguments.iter().map(|argument| (argument.name.clone(), format!("{{{{{}}}}}", argument.name)));
    let own: BTreeMap<String, String> = own.collect();
    let body = prompt.body(&own).expect("its own arguments are acceptable");
    let text = match &body.messages[0].content {
        scion_domain::mcp::PromptContent::Text(text) => text,
        scion_domain::mcp::PromptContent::Attachment(_) => unreachable!("a prompt file holds text only"),
    };
    assert_eq!(text, prompt.directive.text());
    let _ = prompt.describe();
}
