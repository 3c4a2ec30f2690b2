//! What servers outside answer: payment challenges and GraphQL.

use scion_domain::graphql::{
    ConnectionOptions, ConnectionWalk, CostBudget, GraphQlDocument, GraphQlResponse, SchemaModel,
};
use scion_domain::json::{Json, JsonLimits};
use scion_domain::payment::{Amount, PaymentAsset, PaymentBudget, PaymentChallenge, PaymentDecision, PaymentGate};

/// One line, a header field or nothing, then a body: nothing is ever allowed that does not fit the budget, and nothing at all without one.
pub fn payment_challenge(data: &[u8]) {
    let (header, body) = match data.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (&data[..0], data),
    };
    let assets = [PaymentAsset { network: "base".into(), asset: "0xa5".into(), currency: "USDC".into(), decimals: 6 }];
    let challenge = PaymentChallenge::read((!header.is_empty()).then_some(header), body, &assets);
    assert!(challenge.offers.len() <= 64);
    for offer in &challenge.offers {
        assert_eq!(Amount::parse(&offer.amount.to_string()), Some(offer.amount));
    }
    let Some(limit) = Amount::parse("0.5") else { return };
    for budget in [
        PaymentBudget { currency: "USDC".into(), ..PaymentBudget::default() },
        PaymentBudget { currency: "USDC".into(), per_call: limit, per_day: limit },
    ] {
        if let PaymentDecision::Allowed { offer, .. } = PaymentGate::decide(&challenge, &budget, Amount::ZERO, |_| true)
        {
            assert!(offer.amount <= budget.per_call && offer.currency == budget.currency);
        }
    }
}

/// An answer with errors is no result unless partial data was asked for, no budget panics on what a server says about cost, and any text
/// is a document or none.
pub fn graphql_response(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(document) = GraphQlDocument::parse(text)
    {
        assert_eq!(
            document.body(&scion_domain::json::JsonObject::new()).get("query").and_then(Json::as_str),
            Some(text)
        );
    }
    let limits = JsonLimits { max_bytes: 1 << 18, ..JsonLimits::DEFAULT };
    let Ok(response) = GraphQlResponse::read(data, limits) else { return };
    let mut budget = CostBudget::keeping(1);
    budget.settle(0, response.cost, 0);
    let _ = (budget.reserve(1, 0), budget.reserve(u64::MAX, i64::MAX), budget.reserve(1, i64::MIN));
    if let Ok(answer) = response.clone().result(false) {
        assert_eq!(answer.errors, 0);
    }
    let Ok(answer) = response.result(true) else { return };
    let mut walk = ConnectionWalk::new(ConnectionOptions { max_items: 3, ..ConnectionOptions::new("list") });
    for _ in 0..3 {
        let _ = walk.page(&answer.data);
    }
    assert!(walk.items() <= 3);
    let _ = SchemaModel::read(&answer.data);
}
