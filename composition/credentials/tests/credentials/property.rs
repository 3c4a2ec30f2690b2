//! The one property of the access check: a resolver is asked exactly when every part of the call is the granted one.

use std::time::Duration;

use proptest::prelude::{ProptestConfig, any, proptest};
use scion_domain::id::TenantId;

use crate::bound::{VAULT, call, setup};
use crate::support::{connector, reference};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Proves: SDK-CONNECTOR-CONTROL-R035.2, SDK-CONNECTOR-CONTROL-R035.4
    #[test]
    fn a_resolver_is_asked_exactly_when_everything_is_granted(
        changed in any::<u16>(),
        mask in any::<u16>(),
        seconds in 0u64..90,
        revoked in any::<bool>(),
        fewer_scopes in any::<bool>(),
    ) {
        // Two draws together leave most calls with few changes, and some with none.
        let bits = changed & mask & mask.rotate_left(3);
        let bit = |index: u16| bits >> index & 1 == 1;
        let mut asked = call();
        if bit(0) { asked.tenant = TenantId::parse("other").unwrap(); }
        if bit(1) { asked.principal = "eve".into(); }
        if bit(2) { asked.client = "neighbour".into(); }
        if bit(3) { asked.connector = connector("other-mcp"); }
        if bit(4) { asked.provider = "other".into(); }
        if bit(5) { asked.audience = "https://other.example".into(); }
        if bit(6) { asked.resource = "tickets/43".into(); }
        if bit(7) { asked.operation = "delete".into(); }
        if bit(8) { asked.profile.revision += 1; }
        if bit(9) { asked.profile.name = "jwt".into(); }
        if bit(10) { asked.scopes.insert("admin".into()); }
        if fewer_scopes && !bit(10) { asked.scopes.clear(); }
        let text = if bit(11) { "openbao://apps/desk-mcp/other#token" } else { VAULT };
        let granted = (0..12).all(|index| !bit(index)) && seconds < 60 && !revoked;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let setup = setup("desk-mcp");
            if revoked {
                setup.authority.revoke("grant-of-assistant");
            }
            tokio::time::advance(Duration::from_secs(seconds)).await;
            let answer = setup.bound.resolve(&asked, &reference(text)).await;
            assert_eq!(answer.is_ok(), granted, "{asked:?} {seconds} {revoked}");
            assert_eq!(setup.store.asked(), usize::from(granted));
            assert_eq!(setup.recorder.entries().len(), 1, "one entry for one decision");
        });
    }
}
