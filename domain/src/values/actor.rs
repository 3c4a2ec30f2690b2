//! Who acts (SDK-CONNECTOR-CONTROL-R780.1).

use serde::{Deserialize, Serialize};

/// The kind of actor behind a call. It describes and never grants: no decision about access reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorType {
    /// A person.
    Human,
    /// An agent driven by a model.
    AiAgent,
    /// A service that follows a fixed program.
    AutomatedService,
    /// People and agents together.
    HybridTeam,
    /// The system itself.
    System,
}

impl ActorType {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Human, Self::AiAgent, Self::AutomatedService, Self::HybridTeam, Self::System];

    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::AiAgent => "ai_agent",
            Self::AutomatedService => "automated_service",
            Self::HybridTeam => "hybrid_team",
            Self::System => "system",
        }
    }

    /// The kind a wire word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::ActorType;

    /// Proves: SDK-CONNECTOR-CONTROL-R780.1, SDK-CONNECTOR-CONTROL-R780
    #[test]
    fn five_kinds_have_their_words() {
        let words = ["human", "ai_agent", "automated_service", "hybrid_team", "system"];
        assert_eq!(ActorType::ALL.map(ActorType::as_str), words);
        for word in words {
            let kind = ActorType::parse(word).unwrap();
            assert_eq!(serde_json::to_value(kind).unwrap(), word);
            assert_eq!(serde_json::from_value::<ActorType>(word.into()).unwrap(), kind);
        }
        assert!(ActorType::parse("Human").is_none() && ActorType::parse("root").is_none());
    }
}
