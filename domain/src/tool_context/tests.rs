use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::id::{ConnectorName, TenantId};
use crate::refusal::Refusal as _;
use crate::secret::Secret;
use crate::served_security::VerifiedToken;
use crate::surface::{CallScope, CallerIdentity, PresentedToken};

fn instant() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "an instant cannot be made in any other way")]
    Instant::now()
}

fn caller() -> CallerIdentity {
    CallerIdentity::new(TenantId::parse("acme").unwrap(), "ada", "desk").unwrap()
}

fn token(tenant: Option<&str>, subject: Option<&str>) -> Arc<PresentedToken> {
    Arc::new(PresentedToken {
        text: Secret::new("t".to_owned()),
        verified: VerifiedToken {
            subject: subject.map(str::to_owned),
            tenant: tenant.map(str::to_owned),
            client: None,
            scopes: [].into(),
            audiences: [].into(),
            expires_at: None,
            claims: [].into(),
        },
    })
}

fn bind(scope: &CallScope, operation: &str) -> Result<ToolExecutionContext, ToolContextRefusal> {
    let connector = ConnectorName::parse("desk-mcp").unwrap();
    let operation = Arc::from(operation);
    let deadline = instant() + Duration::from_secs(1);
    ToolExecutionContext::bind(ContextParts {
        scope,
        connector: &connector,
        operation: &operation,
        deadline,
        reports_progress: true,
    })
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.1
#[test]
fn a_context_binds_verified_ids_and_refuses_missing_or_contradicting_ones() {
    let scope = CallScope::default().with_caller(Some(caller())).with_request(Some("7".into()));
    let context = bind(&scope, "delete_ticket").unwrap();
    assert_eq!((context.tenant.as_str(), context.actor.as_str(), &*context.session), ("acme", "ada", "desk"));
    assert_eq!(
        (&*context.request, &*context.operation, context.connector.as_str()),
        ("7", "delete_ticket", "desk-mcp")
    );
    assert!(context.reports_progress);
    let in_session = scope.clone().with_session(Some("s-1".into()));
    assert_eq!(&*bind(&in_session, "delete_ticket").unwrap().session, "s-1");

    let refused = [
        CallScope::default().with_request(Some("7".into())),
        CallScope::default().with_caller(Some(caller())),
        CallScope::default().with_caller(Some(caller())).with_request(Some("".into())),
        scope.clone().with_token(Some(token(Some("other"), Some("ada")))),
        scope.clone().with_token(Some(token(Some("acme"), Some("eve")))),
        CallScope::default().with_request(Some("7".into())).with_token(Some(token(Some("acme"), Some("ada")))),
    ];
    for scope in refused {
        assert_eq!(bind(&scope, "delete_ticket").unwrap_err().code(), "invalid_context");
    }
    assert!(bind(&scope, "").is_err());
    assert!(bind(&scope.with_token(Some(token(Some("acme"), Some("ada")))), "delete_ticket").is_ok());
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.1
#[test]
fn terminal_states_are_closed() {
    for state in TerminalState::ALL {
        assert_eq!(TerminalState::parse(state.as_str()), Some(state));
    }
    for word in ["", "Succeeded", "done", "succeeded ", "unknown"] {
        assert_eq!(TerminalState::parse(word), None);
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[test]
fn the_reason_codes_are_the_closed_ones() {
    let codes: Vec<_> = ToolContextRefusal::CATALOGUE.iter().map(|entry| entry.code).collect();
    assert_eq!(
        codes,
        [
            "invalid_context",
            "invalid_progress",
            "approval_required",
            "deadline_exceeded",
            "cancelled",
            "delivery_failed",
            "recovery_unavailable"
        ]
    );
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.1
#[test]
fn progress_that_cannot_be_is_refused_and_changes_nothing() {
    let mut rules = ProgressRules::default();
    rules.report(2.0, Some(10.0), Some("two")).unwrap();
    let long = "x".repeat(MAX_PROGRESS_MESSAGE + 1);
    let bad: [(f64, Option<f64>, Option<&str>); 8] = [
        (f64::NAN, None, None),
        (f64::INFINITY, None, None),
        (-1.0, None, None),
        (3.0, Some(f64::NAN), None),
        (3.0, Some(-1.0), None),
        (3.0, Some(11.0), None),
        (10.5, None, None),
        (3.0, None, Some(&long)),
    ];
    for (completed, total, message) in bad {
        assert_eq!(rules.report(completed, total, message).unwrap_err().code(), "invalid_progress");
    }
    assert!(rules.advance(-1.0, None).is_err());
    assert_eq!(rules.last_sequence(), 1);
    assert_eq!(rules.last().unwrap().completed.to_bits(), 2.0_f64.to_bits());
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.2
#[test]
fn an_equal_report_is_suppressed_and_moves_the_summary_only() {
    let mut rules = ProgressRules::default();
    assert!(matches!(rules.report(1.0, None, Some("a")), Ok(ProgressStep::Notify(_))));
    assert_eq!(rules.report(1.0, None, Some("b")), Ok(ProgressStep::Suppressed));
    assert_eq!(rules.report(0.5, None, Some("late")), Ok(ProgressStep::Suppressed));
    assert_eq!(rules.last().unwrap().message.as_deref(), Some("b"));
    assert_eq!(rules.last_sequence(), 1);
    assert!(matches!(rules.advance(1.0, None), Ok(ProgressStep::Notify(notice)) if notice.sequence == 2));
}

proptest! {
    /// Proves: SDK-CONNECTOR-CONTROL-R050.2
    #[test]
    fn notices_grow_strictly_whatever_comes(
        reports in proptest::collection::vec((any::<f64>(), proptest::option::of(0.0..100.0_f64), any::<bool>()), 0..60)
    ) {
        let mut rules = ProgressRules::default();
        let mut told: Vec<ToolProgress> = Vec::new();
        for (value, total, step) in reports {
            let step = if step { rules.advance(value, None) } else { rules.report(value.abs() % 100.0, total, None) };
            if let Ok(ProgressStep::Notify(notice)) = step {
                prop_assert!(notice.completed.is_finite() && notice.completed >= 0.0);
                prop_assert!(notice.total.is_none_or(|total| notice.completed <= total));
                if let Some(last) = told.last() {
                    prop_assert!(notice.sequence == last.sequence + 1 && notice.completed > last.completed);
                    prop_assert!(last.total.is_none() || last.total == notice.total);
                } else {
                    prop_assert_eq!(notice.sequence, 1);
                }
                told.push(notice);
            }
        }
        prop_assert_eq!(rules.last_sequence(), told.len() as u64);
    }
}

#[test]
fn the_metadata_of_an_end_names_its_request_and_leaves_out_what_is_not_there() {
    let plain = ToolExecutionResult::plain(TerminalState::Failed, Some("deadline_exceeded"));
    let json = crate::json::to_compact(&plain.meta(Some("7")));
    assert_eq!(json, r#"{"lastSequence":0,"reason":"deadline_exceeded","request":"7","state":"failed"}"#);
    let full = ToolExecutionResult {
        progress: Some(ToolProgress { sequence: 3, completed: 2.5, total: Some(4.0), message: Some("m".into()) }),
        receipt: Some(ReceiptReference::parse("r/1").unwrap()),
        lost: 2,
        ..ToolExecutionResult::plain(TerminalState::Uncertain, None)
    };
    let meta = full.meta(None);
    assert_eq!(meta.get("receipt").and_then(crate::json::Json::as_str), Some("r/1"));
    assert!(meta.get("progress").unwrap().get("total").is_some() && meta.get("lostNotices").is_some());
}

#[test]
fn receipts_are_short_visible_ascii() {
    assert!(ReceiptReference::parse("urn:receipt:1").is_ok());
    for bad in ["", "a b", "é", "line\n", &"x".repeat(257)] {
        assert!(ReceiptReference::parse(bad).is_err());
    }
}

#[test]
fn a_trace_is_read_from_a_sound_traceparent_only() {
    let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert_eq!(TraceId::of_traceparent(good).unwrap().to_string(), "0af7651916cd43dd8448eb211c80319c");
    for bad in [
        "",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
        "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ] {
        assert_eq!(TraceId::of_traceparent(bad), None, "{bad}");
    }
}
