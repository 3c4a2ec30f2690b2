//! Which releases a reader has accepted, so that nobody can hand it an older one (rollback) or keep it on one for ever (freeze).

use std::collections::BTreeMap;

use super::IntegrityRefusal;
use super::locks::document;
use crate::id::{ConnectorName, Digest256};
use crate::json::{Json, JsonNumber, JsonObject, to_spaced};
use crate::time::Timestamp;

/// The most connectors in one file.
const MAX_ENTRIES: usize = 100_000;

/// The newest accepted release of each connector, as one file:
/// `{"schema_version": 1, "releases": {"<connector>": {"sequence": 3, "manifest": "<hex>"}}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenReleases {
    newest: BTreeMap<ConnectorName, (u64, Digest256)>,
}

impl SeenReleases {
    /// Reads the file.
    pub fn from_text(text: &[u8]) -> Result<Self, IntegrityRefusal> {
        let wrong = |what| IntegrityRefusal::Document { document: "record of seen releases", what };
        let Json::Object(releases) = document(text, "releases").map_err(wrong)? else {
            return Err(wrong("`releases` is not an object"));
        };
        if releases.len() > MAX_ENTRIES {
            return Err(wrong("it has more than 100000 connectors"));
        }
        let mut seen = Self::default();
        for (name, entry) in releases {
            let read = || {
                let connector = ConnectorName::parse(&name).ok()?;
                let sequence = entry.get("sequence")?.as_number().and_then(JsonNumber::as_u64)?;
                let manifest = Digest256::parse_hex(entry.get("manifest")?.as_str()?).ok()?;
                (entry.as_object()?.len() == 2).then_some((connector, (sequence, manifest)))
            };
            let (connector, release) = read().ok_or(wrong("a release has not just `sequence` and `manifest`"))?;
            seen.newest.insert(connector, release);
        }
        Ok(seen)
    }

    /// The file, the same for the same releases.
    pub fn to_text(&self) -> String {
        let entry = |(connector, (sequence, manifest)): (&ConnectorName, &(u64, Digest256))| {
            let members = [("sequence", Json::from(*sequence)), ("manifest", manifest.to_hex().into())];
            (connector.to_string(), Json::from(members))
        };
        let releases = Json::Object(self.newest.iter().map(entry).collect::<JsonObject>());
        to_spaced(&Json::from([("schema_version", Json::from(1_u64)), ("releases", releases)])) + "\n"
    }

    /// The sequence of the newest accepted release.
    pub fn sequence(&self, connector: &ConnectorName) -> Option<u64> {
        self.newest.get(connector).map(|(sequence, _)| *sequence)
    }

    /// Accepts a verified release. An older one, another one under the same number, and one without a number are refused.
    pub fn accept(
        &mut self,
        connector: &ConnectorName,
        sequence: u64,
        manifest: Digest256,
    ) -> Result<(), IntegrityRefusal> {
        if sequence == 0 {
            return Err(IntegrityRefusal::NoSequence);
        }
        if let Some((newest, known)) = self.newest.get(connector) {
            if sequence < *newest {
                return Err(IntegrityRefusal::RolledBack { offered: sequence, newest: *newest });
            }
            if sequence == *newest && manifest != *known {
                return Err(IntegrityRefusal::TwoReleases { sequence });
            }
        }
        self.newest.insert(connector.clone(), (sequence, manifest));
        Ok(())
    }
}

/// Refuses a release that says that it is no longer the newest. `now` is in seconds since 1970.
pub fn refuse_expired(expires: Option<&Timestamp>, now: i64) -> Result<(), IntegrityRefusal> {
    match expires {
        Some(time) if time.unix_seconds() <= now => Err(IntegrityRefusal::Expired { at: time.to_string() }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn desk() -> ConnectorName {
        ConnectorName::parse("desk").unwrap()
    }

    fn manifest(byte: u8) -> Digest256 {
        Digest256::from_bytes([byte; 32])
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn older_and_other_releases_are_refused() {
        let mut seen = SeenReleases::default();
        assert_eq!(seen.accept(&desk(), 0, manifest(0)), Err(IntegrityRefusal::NoSequence));
        seen.accept(&desk(), 3, manifest(3)).unwrap();
        seen.accept(&desk(), 3, manifest(3)).unwrap();
        let kept = seen.clone();
        let rolled_back = Err(IntegrityRefusal::RolledBack { offered: 2, newest: 3 });
        assert_eq!(seen.accept(&desk(), 2, manifest(2)), rolled_back);
        assert_eq!(seen.accept(&desk(), 3, manifest(4)), Err(IntegrityRefusal::TwoReleases { sequence: 3 }));
        assert_eq!(seen, kept, "a refused release leaves no trace");
        seen.accept(&desk(), 7, manifest(7)).unwrap();
        seen.accept(&ConnectorName::parse("other").unwrap(), 1, manifest(1)).unwrap();
        assert_eq!(SeenReleases::from_text(seen.to_text().as_bytes()), Ok(seen));
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn an_expired_release_is_refused() {
        let time = Timestamp::parse("2026-03-01T12:00:00Z").unwrap();
        let at = time.unix_seconds();
        assert_eq!(refuse_expired(Some(&time), at - 1), Ok(()));
        assert!(matches!(refuse_expired(Some(&time), at), Err(IntegrityRefusal::Expired { .. })));
        assert_eq!(refuse_expired(None, i64::MAX), Ok(()));
    }

    #[test]
    fn a_damaged_record_is_refused() {
        for bad in [
            "",
            "{}",
            r#"{"schema_version":1,"releases":[]}"#,
            r#"{"schema_version":1,"releases":{"desk":{"sequence":1}}}"#,
            r#"{"schema_version":1,"releases":{"Desk!":{"sequence":1,"manifest":"00"}}}"#,
            r#"{"schema_version":1,"releases":{"desk":{"sequence":-1,"manifest":"00"}}}"#,
        ] {
            assert!(SeenReleases::from_text(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn the_sequence_never_falls(offers in proptest::collection::vec((0_u64..6, 0_u8..3), 0..30)) {
            let mut seen = SeenReleases::default();
            for (sequence, byte) in offers {
                let before = seen.sequence(&desk());
                let accepted = seen.accept(&desk(), sequence, manifest(byte)).is_ok();
                let after = seen.sequence(&desk());
                prop_assert!(after >= before);
                prop_assert!(accepted || after == before);
            }
        }
    }
}
