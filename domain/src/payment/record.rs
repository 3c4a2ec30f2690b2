//! What a payer is told, and what is written down of every attempt.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::{Amount, PaymentLimit, PaymentOffer, PaymentRefused};
use crate::canonical;
use crate::http::{HeaderName, HeaderValue, Url};
use crate::id::Digest256;
use crate::json::{Json, JsonObject};

/// What a payer is to pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentOrder {
    /// Identifies the attempt; the same for the payer, the record and the logs.
    pub transaction_id: String,
    /// The version of the protocol, which decides the header field.
    pub version: u32,
    /// What was approved.
    pub offer: PaymentOffer,
    /// The resource, without query.
    pub request_url: String,
}

/// A payment, ready to be sent.
#[derive(Clone)]
pub struct PaymentProof {
    /// The header field that carries it.
    pub header: HeaderName,
    /// Its value; worth money until it is used.
    pub value: HeaderValue,
}

impl fmt::Debug for PaymentProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaymentProof").field("header", &self.header).finish_non_exhaustive()
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentOutcome {
    /// Sent, and the server answered with something else than another 402.
    Paid,
    /// The gate said no; nothing was sent.
    Refused,
    /// It failed before anything was sent; what was reserved is given back.
    NotSent,
    /// Sent, and the server asks again. Counts as spent.
    Rejected,
    /// Sent, and nobody knows what became of it. Counts as spent.
    Unknown,
}

impl PaymentOutcome {
    /// The word in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Refused => "refused",
            Self::NotSent => "not_sent",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

/// What is kept of one attempt, paid or refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentRecord {
    /// Identifies the attempt.
    pub transaction_id: String,
    /// The price; `None` when no offer could be read.
    pub amount: Option<Amount>,
    /// Its currency.
    pub currency: Option<String>,
    /// Who was or would have been paid.
    pub payee: Option<String>,
    /// The resource, without query: a query can hold a secret.
    pub request_url: String,
    /// Who approved; `None` when nobody did.
    pub approver: Option<String>,
    /// How it ended.
    pub outcome: PaymentOutcome,
    /// The code of the refusal or failure, when there was one.
    pub reason: Option<&'static str>,
    /// The limit that applied to the decision.
    pub limit: Option<PaymentLimit>,
    /// On whose behalf; `None` when the call had no context.
    pub actor: Option<String>,
    /// The request it belongs to; `None` when the call had no context.
    pub request: Option<String>,
    /// Milliseconds since the Unix epoch at the end of the attempt.
    pub at_ms: i64,
}

impl PaymentRecord {
    /// The attempt as an entity of a graph.
    pub fn entity(&self) -> JsonObject {
        let text = |value: &Option<String>| Json::from(value.clone());
        let members = [
            ("id", Json::from(self.transaction_id.as_str())),
            ("type", "PaymentRecord".into()),
            ("transaction_id", self.transaction_id.as_str().into()),
            ("amount", self.amount.map(|amount| amount.to_string()).into()),
            ("currency", text(&self.currency)),
            ("payee", text(&self.payee)),
            ("request_url", self.request_url.as_str().into()),
            ("approver", text(&self.approver)),
            ("outcome", self.outcome.as_str().into()),
            ("reason", self.reason.into()),
            ("limit", self.limit.map(PaymentLimit::as_str).into()),
            ("actor", text(&self.actor)),
            ("request", text(&self.request)),
            ("at_ms", self.at_ms.into()),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The links of the entity, each a relation and the identity it leads to: the actor that asked and the request it asked in.
    pub fn links(&self) -> Vec<(&'static str, &str)> {
        let actor = self.actor.as_deref().map(|actor| ("requestedBy", actor));
        let request = self.request.as_deref().map(|request| ("partOfRequest", request));
        actor.into_iter().chain(request).collect()
    }

    /// Notes why it was refused.
    pub fn refuse(&mut self, refused: &PaymentRefused) {
        self.outcome = PaymentOutcome::Refused;
        self.reason = Some(refused.reason());
        if let PaymentRefused::OverBudget { limit, .. } = refused {
            self.limit = Some(*limit);
        }
    }
}

/// What an approval is for: exactly this payment to this payee in this request, and the digest that binds it.
pub fn approval_digest(operation: &str, arguments: &JsonObject) -> Digest256 {
    let bound = Json::from([("operation", operation.into()), ("arguments", Json::Object(arguments.clone()))]);
    Digest256::from_bytes(Sha256::digest(canonical::lossless_json(&bound).as_bytes()).into())
}

/// A URL as it may be written down: without user info, query and fragment.
pub fn public_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Both fail only for URLs without a host, which have no user info.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> PaymentRecord {
        PaymentRecord {
            transaction_id: "t1".into(),
            amount: Amount::parse("0.10"),
            currency: Some("USDC".into()),
            payee: Some("0x01".into()),
            request_url: public_url(&Url::parse("https://u:p@a.example/x?key=secret#f").unwrap()),
            approver: Some("ada".into()),
            outcome: PaymentOutcome::Paid,
            reason: None,
            limit: Some(PaymentLimit::PerCall),
            actor: Some("agent-7".into()),
            request: Some("r-1".into()),
            at_ms: 5,
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R049.1, SDK-CONNECTOR-CONTROL-R049.5
    #[test]
    fn a_record_has_every_field_and_its_links() {
        let record = record();
        let entity = record.entity();
        for field in ["transaction_id", "amount", "currency", "payee", "request_url", "approver", "outcome"] {
            assert!(entity[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
        }
        assert_eq!(entity["amount"], "0.1".into());
        assert_eq!(record.request_url, "https://a.example/x");
        assert_eq!(record.links(), [("requestedBy", "agent-7"), ("partOfRequest", "r-1")]);
    }

    #[test]
    fn a_refusal_is_noted_with_its_word_and_limit() {
        let mut record = record();
        let amount = Amount::parse("1").unwrap();
        record.refuse(&PaymentRefused::OverBudget { amount, currency: "USDC".into(), limit: PaymentLimit::PerDay });
        assert_eq!(
            (record.outcome, record.reason, record.limit),
            (PaymentOutcome::Refused, Some("over_budget"), Some(PaymentLimit::PerDay))
        );
    }

    #[test]
    fn an_approval_binds_every_argument() {
        let arguments = |payee: &str| JsonObject::from([("payee".to_owned(), payee.into())]);
        assert_eq!(approval_digest("payment", &arguments("a")), approval_digest("payment", &arguments("a")));
        assert_ne!(approval_digest("payment", &arguments("a")), approval_digest("payment", &arguments("b")));
        assert_ne!(approval_digest("payment", &arguments("a")), approval_digest("other", &arguments("a")));
    }

    #[test]
    fn a_proof_is_not_printed() {
        let proof = PaymentProof {
            header: HeaderName::from_static("x-payment"),
            value: HeaderValue::from_static("worth-money"),
        };
        assert!(!format!("{proof:?}").contains("worth-money"));
    }
}
