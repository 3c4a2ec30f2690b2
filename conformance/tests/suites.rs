//! The suites against the references, and every check against a double that breaks it.

use std::collections::BTreeSet;

use scion_conformance::doubles::access_authority::{AuthorityFlaw, FlawedAuthorities};
use scion_conformance::doubles::access_check::{AccessFlaw, FlawedChecks};
use scion_conformance::doubles::change_envelopes::{EnvelopeFlaw, FlawedEnvelopeGraphs};
use scion_conformance::doubles::change_feed_reader::{FeedFlaw, FlawedFeeds};
use scion_conformance::doubles::checkpoint_store::{CheckpointFlaw, FlawedCheckpointStores};
use scion_conformance::doubles::credential_provider::{CredentialFlaw, FlawedProviders};
use scion_conformance::doubles::effect_receipts::{FlawedReceiptStores, ReceiptFlaw};
use scion_conformance::doubles::graph_query::{FlawedGraphs, GraphFlaw};
use scion_conformance::doubles::jwt::{FlawedJwt, JwtFlaw};
use scion_conformance::doubles::key_value::{FlawedKeyValueStores, KeyValueFlaw};
use scion_conformance::doubles::mcp_session::{FlawedSessions, SessionFlaw};
use scion_conformance::doubles::message_stream::{FlawedStreams, StreamFlaw};
use scion_conformance::doubles::record_digests::{DigestFlaw, FlawedDigestStores};
use scion_conformance::doubles::shacl::{FlawedValidators, ShaclFlaw};
use scion_conformance::doubles::sink::{FlawedSinks, SinkFlaw};
use scion_conformance::doubles::source_adapter::{FlawedSources, SourceFlaw};
use scion_conformance::doubles::token_store::{FlawedTokenStores, TokenFlaw};
use scion_conformance::doubles::token_verifier::{FlawedVerifiers, VerifierFlaw};
use scion_conformance::doubles::work::{FlawedWorkStores, WorkFlaw};
use scion_conformance::doubles::write_back_ledger::{FlawedLedgers, LedgerFlaw};
use scion_conformance::doubles::write_back_transport::{FlawedTransports, WriteBackFlaw};
use scion_conformance::report::Report;
use scion_conformance::suites;

/// Checks that the reference passes, that every flaw is found, and that every check finds a flaw.
fn judge(reference: &Report, flawed: &[(String, Report)]) {
    reference.assert_passed();
    let mut found = BTreeSet::new();
    for (flaw, report) in flawed {
        assert_eq!(report.checks(), reference.checks());
        assert!(!report.failed().is_empty(), "no check of the {} suite finds {flaw}", report.port);
        found.extend(report.failed());
    }
    let all: BTreeSet<&str> = reference.checks().into_iter().collect();
    let never: Vec<_> = all.difference(&found).collect();
    assert!(never.is_empty(), "no double breaks these checks of the {} suite: {never:?}", reference.port);
}

macro_rules! suite_test {
    ($name:ident, $suite:ident, $flaw:ident, $fixture:expr) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            let reference = suites::$suite::run(&$fixture($flaw::None)).await;
            let mut flawed = Vec::new();
            for flaw in $flaw::ALL {
                flawed.push((format!("{flaw:?}"), suites::$suite::run(&$fixture(*flaw)).await));
            }
            judge(&reference, &flawed);
        }
    };
}

suite_test!(the_work_suite_finds_every_flaw, work, WorkFlaw, FlawedWorkStores::new);
suite_test!(the_sink_suite_finds_every_flaw, sink, SinkFlaw, FlawedSinks);
suite_test!(the_key_value_suite_finds_every_flaw, key_value, KeyValueFlaw, FlawedKeyValueStores);
suite_test!(the_stream_suite_finds_every_flaw, message_stream, StreamFlaw, FlawedStreams);
suite_test!(the_envelope_suite_finds_every_flaw, change_envelopes, EnvelopeFlaw, FlawedEnvelopeGraphs);
suite_test!(the_change_feed_suite_finds_every_flaw, change_feed_reader, FeedFlaw, FlawedFeeds::new);
suite_test!(the_ledger_suite_finds_every_flaw, write_back_ledger, LedgerFlaw, FlawedLedgers);
suite_test!(the_checkpoint_suite_finds_every_flaw, checkpoint_store, CheckpointFlaw, FlawedCheckpointStores);
suite_test!(the_digest_suite_finds_every_flaw, record_digests, DigestFlaw, FlawedDigestStores);
suite_test!(the_credential_suite_finds_every_flaw, credential_provider, CredentialFlaw, FlawedProviders::new);
suite_test!(the_token_store_suite_finds_every_flaw, token_store, TokenFlaw, FlawedTokenStores::new);
suite_test!(the_verifier_suite_finds_every_flaw, token_verifier, VerifierFlaw, FlawedVerifiers::new);
suite_test!(the_jwt_suite_finds_every_flaw, jwt, JwtFlaw, FlawedJwt::new);
suite_test!(the_access_suite_finds_every_flaw, access_check, AccessFlaw, FlawedChecks::new);
suite_test!(the_source_suite_finds_every_flaw, source_adapter, SourceFlaw, FlawedSources::new);
suite_test!(the_write_back_suite_finds_every_flaw, write_back_transport, WriteBackFlaw, FlawedTransports::new);
suite_test!(the_query_suite_finds_every_flaw, graph_query, GraphFlaw, FlawedGraphs::new);
suite_test!(the_shacl_suite_finds_every_flaw, shacl, ShaclFlaw, FlawedValidators::new);
suite_test!(the_session_suite_finds_every_flaw, mcp_session, SessionFlaw, FlawedSessions::new);
suite_test!(the_authority_suite_finds_every_flaw, access_authority, AuthorityFlaw, FlawedAuthorities::new);
suite_test!(the_receipt_suite_finds_every_flaw, effect_receipts, ReceiptFlaw, FlawedReceiptStores::new);
