//! Digests of a source change set (`wire/engine-protocol.md` 5 and 10). The change set itself is modelled by the write-back
//! part; here it is the JSON object the engine takes.

use super::msgpack::Writer;
use super::{DigestRefusal, NumberForm, framed};
use crate::id::Digest256;
use crate::json::{Json, JsonObject};

/// The members in the engine's order.
const MEMBERS: [&str; 20] = [
    "schema_version",
    "change_set_id",
    "change_set_digest",
    "tenant_id",
    "actor",
    "purpose",
    "connector_id",
    "source_instance_id",
    "entity_id",
    "field_scope",
    "base_source_version",
    "desired_patch",
    "source_of_truth_rule",
    "field_provenance",
    "required_capability",
    "policy_digest",
    "authorization",
    "idempotency_key",
    "expires_at_ms",
    "reconciliation_procedure",
];

const AUTHORIZATION: [&str; 6] =
    ["mode", "authorization_ref", "decision_digest", "input_digest", "output_digest", "authorized"];

/// Digest of a change set (`eg/source-change-set/v1`). Its own `change_set_digest` counts as 64 zeros, and every map is
/// key-sorted, `field_provenance` included: the engine refuses a digest over another order.
pub fn change_set(members: &JsonObject) -> Result<Digest256, DigestRefusal> {
    change_set_in_order(members, None)
}

/// [`change_set`] with `field_provenance` in a given order, which is what the peer hashes.
pub(super) fn change_set_in_order(
    members: &JsonObject,
    provenance_order: Option<&[&str]>,
) -> Result<Digest256, DigestRefusal> {
    known(members, &MEMBERS)?;
    let mut out = Writer::new(NumberForm::EngineOnly);
    out.map(MEMBERS.len());
    for member in MEMBERS {
        let value = members.get(member).ok_or(DigestRefusal::ChangeSetMember { member })?;
        out.text(member);
        match (member, value) {
            ("change_set_digest", _) => out.text(&Digest256::ZERO.to_hex()),
            ("authorization", Json::Object(authorization)) => {
                known(authorization, &AUTHORIZATION)?;
                out.map(AUTHORIZATION.len());
                for member in AUTHORIZATION {
                    out.text(member);
                    out.json(authorization.get(member).ok_or(DigestRefusal::ChangeSetMember { member })?);
                }
            }
            ("authorization", _) => return Err(DigestRefusal::ChangeSetMember { member }),
            ("field_provenance", Json::Object(provenance)) => {
                out.map(provenance.len());
                let sorted: Vec<&str> = provenance.keys().map(String::as_str).collect();
                for key in provenance_order.unwrap_or(&sorted) {
                    out.text(key);
                    out.json(provenance.get(*key).unwrap_or(&Json::Null));
                }
            }
            (_, value) => out.within(member, |out| out.json(value)),
        }
    }
    Ok(framed("eg/source-change-set/v1", &[&out.finish()?]))
}

/// Digest of the patch of a change set (`eg/source-change-set-patch/v1`); the order of the scope does not matter.
pub fn change_set_patch(field_scope: &[&str], patch: &JsonObject) -> Result<Digest256, DigestRefusal> {
    let mut scope = field_scope.to_vec();
    scope.sort_unstable();
    let mut out = Writer::new(NumberForm::EngineOnly);
    out.array(2);
    out.array(scope.len());
    for field in scope {
        out.text(field);
    }
    out.within("desired_patch", |out| out.object(patch));
    Ok(framed("eg/source-change-set-patch/v1", &[&out.finish()?]))
}

fn known(members: &JsonObject, names: &[&str]) -> Result<(), DigestRefusal> {
    match members.keys().find(|key| !names.contains(&key.as_str())) {
        Some(member) => Err(DigestRefusal::ChangeSetUnknown { member: member.clone() }),
        None => Ok(()),
    }
}
