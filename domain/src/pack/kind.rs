/// What an entry of a pack is. Closed: the engine refuses every other (`wire/engine-protocol.md` 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// The server itself; never among the entries of an import.
    McpServer,
    /// A tool.
    Tool,
    /// A `SKILL.md`.
    Skill,
    /// A prompt.
    Prompt,
    /// A resource with a schema of its content.
    Resource,
    /// A family of resources.
    ResourceTemplate,
    /// An ontology.
    Ontology,
    /// SHACL shapes.
    Shapes,
    /// What is known of a model.
    ModelProfile,
    /// An agent card.
    A2aCard,
    /// A file of a skill beside its `SKILL.md`.
    SkillFile,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::McpServer,
        Self::Tool,
        Self::Skill,
        Self::Prompt,
        Self::Resource,
        Self::ResourceTemplate,
        Self::Ontology,
        Self::Shapes,
        Self::ModelProfile,
        Self::A2aCard,
        Self::SkillFile,
    ];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::McpServer => "mcp_server",
            Self::Tool => "tool",
            Self::Skill => "skill",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource_template",
            Self::Ontology => "ontology",
            Self::Shapes => "shapes",
            Self::ModelProfile => "model_profile",
            Self::A2aCard => "a2a_card",
            Self::SkillFile => "skill_file",
        }
    }

    /// Reads it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}
