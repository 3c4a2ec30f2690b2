use super::{AuthModel, Pushdown, StreamMode, TransportContract, TransportContractRefusal};
use crate::json::Json;
use crate::resource_descriptor::{AccessKind, ResourcePagination};

const MEMBERS: [&str; 5] = ["protocol", "auth_model", "paging", "streaming", "pushdown"];

impl TransportContract {
    /// The document; every member is there.
    pub fn to_json(&self) -> Json {
        let pushdown: Vec<Json> = self.pushdown.iter().map(|one| one.as_str().into()).collect();
        Json::from([
            ("protocol", self.protocol.as_str().into()),
            ("auth_model", self.auth_model.as_str().into()),
            ("paging", self.paging.as_str().into()),
            ("streaming", self.streaming.as_str().into()),
            ("pushdown", pushdown.into()),
        ])
    }

    /// Reads the document back.
    ///
    /// # Errors
    /// [`TransportContractRefusal::Member`] with the member that is missing, unknown or has an unknown word;
    /// [`TransportContractRefusal::Stream`] for a stream that is to filter.
    pub fn from_json(document: &Json) -> Result<Self, TransportContractRefusal> {
        let wrong = |member: &str| TransportContractRefusal::Member { member: member.chars().take(64).collect() };
        let members = document.as_object().ok_or_else(|| wrong("the document"))?;
        if let Some(unknown) = members.keys().find(|member| !MEMBERS.contains(&member.as_str())) {
            return Err(wrong(unknown));
        }
        let word = |member: &str| members.get(member).and_then(Json::as_str).ok_or_else(|| wrong(member));
        let list = members.get("pushdown").and_then(Json::as_array).ok_or_else(|| wrong("pushdown"))?;
        let one = |word: &Json| word.as_str().and_then(Pushdown::parse).ok_or_else(|| wrong("pushdown"));
        let contract = Self {
            protocol: AccessKind::parse(word("protocol")?).ok_or_else(|| wrong("protocol"))?,
            auth_model: AuthModel::parse(word("auth_model")?).ok_or_else(|| wrong("auth_model"))?,
            paging: ResourcePagination::parse(word("paging")?).ok_or_else(|| wrong("paging"))?,
            streaming: StreamMode::parse(word("streaming")?).ok_or_else(|| wrong("streaming"))?,
            pushdown: list.iter().map(one).collect::<Result<_, _>>()?,
        };
        if contract.is_consistent() {
            Ok(contract)
        } else {
            Err(TransportContractRefusal::Stream { protocol: contract.protocol.as_str() })
        }
    }
}
