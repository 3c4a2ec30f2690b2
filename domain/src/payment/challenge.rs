//! What a 402 answer asks for, read as data.

use super::Amount;
use crate::base64;
use crate::json::{self, Json, JsonLimits, JsonNumber};

/// The most bytes of a challenge that are read.
const MAX_BYTES: usize = 64 * 1024;
/// The most offers of a challenge that are looked at.
const MAX_OFFERS: usize = 64;
/// The longest name, address or identifier in an offer, in bytes.
const MAX_TEXT: usize = 256;

/// Something payments are made in. Amounts of a challenge are counts of its smallest unit, so nothing can be priced that is not
/// declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentAsset {
    /// The network, as servers name it: `base`, `eip155:8453`.
    pub network: String,
    /// The asset on it, as servers name it; letter case does not count.
    pub asset: String,
    /// The currency a budget counts it as.
    pub currency: String,
    /// Decimals of its smallest unit, at most 18.
    pub decimals: u8,
}

/// One way to pay that was read and priced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentOffer {
    /// The scheme, for example `exact`.
    pub scheme: String,
    /// The network.
    pub network: String,
    /// The asset.
    pub asset: String,
    /// The price.
    pub amount: Amount,
    /// The currency of the price.
    pub currency: String,
    /// Who is paid.
    pub payee: String,
    /// The offer as the server wrote it, for the payer.
    pub terms: Json,
}

/// What a 402 answer asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentChallenge {
    /// The version of the protocol.
    pub version: u32,
    /// The offers that were read and priced, in the server's order.
    pub offers: Vec<PaymentOffer>,
    /// How many offers were not.
    pub skipped: usize,
}

impl PaymentChallenge {
    /// The header field of protocol version 2; version 1 uses the body.
    pub const HEADER: &'static str = "payment-required";

    /// Reads a challenge of the x402 protocol, version 1 or 2, from the header field if there is one, else from the body. An offer in an
    /// asset that is not declared is skipped. A text that is no challenge is one without offers.
    pub fn read(header: Option<&[u8]>, body: &[u8], assets: &[PaymentAsset]) -> Self {
        let decoded = header.filter(|text| text.len() <= MAX_BYTES).and_then(decode);
        let limits = JsonLimits { max_bytes: MAX_BYTES, max_depth: 16, max_number_chars: 64 };
        let Ok(value) = json::parse_with(decoded.as_deref().unwrap_or(body), limits) else { return Self::default() };
        let version = value.get("x402Version").and_then(Json::as_number).and_then(JsonNumber::as_u64);
        let Some(version @ 1..=2) = version.and_then(|version| u32::try_from(version).ok()) else {
            return Self::default();
        };
        let Some(accepts) = value.get("accepts").and_then(Json::as_array) else {
            return Self { version, ..Self::default() };
        };
        let offers: Vec<PaymentOffer> =
            accepts.iter().take(MAX_OFFERS).filter_map(|terms| offer(terms, version, assets)).collect();
        let skipped = accepts.len() - offers.len();
        Self { version, offers, skipped }
    }
}

/// The bytes of a header field in either alphabet, padded or not.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    base64::decode_either(text)
}

fn offer(terms: &Json, version: u32, assets: &[PaymentAsset]) -> Option<PaymentOffer> {
    let text = |name: &str| {
        let text = terms.get(name)?.as_str()?;
        let plain = !text.is_empty() && text.len() <= MAX_TEXT && text.bytes().all(|byte| byte.is_ascii_graphic());
        plain.then(|| text.to_owned())
    };
    let (scheme, network, asset, payee) = (text("scheme")?, text("network")?, text("asset")?, text("payTo")?);
    let units = text(if version == 1 { "maxAmountRequired" } else { "amount" })?;
    let known = assets.iter().find(|known| known.network == network && known.asset.eq_ignore_ascii_case(&asset))?;
    let amount = Amount::from_atomic(&units, known.decimals)?;
    Some(PaymentOffer { scheme, network, asset, amount, currency: known.currency.clone(), payee, terms: terms.clone() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assets() -> Vec<PaymentAsset> {
        let usdc = |network: &str| PaymentAsset {
            network: network.into(),
            asset: "0xABCdef01".into(),
            currency: "USDC".into(),
            decimals: 6,
        };
        vec![usdc("base"), usdc("eip155:8453")]
    }

    const ONE: &str = r#"{"x402Version": 1, "error": "pay", "accepts": [
        {"scheme": "exact", "network": "base", "maxAmountRequired": "10000", "asset": "0xabcDEF01", "payTo": "0x01", "extra": {"name": "x"}},
        {"scheme": "exact", "network": "moon", "maxAmountRequired": "1", "asset": "0xabcDEF01", "payTo": "0x01"},
        {"scheme": "exact", "network": "base", "maxAmountRequired": "-1", "asset": "0xabcDEF01", "payTo": "0x01"},
        {"scheme": "exact", "network": "base", "maxAmountRequired": 10000, "asset": "0xabcDEF01", "payTo": "0x01"},
        {"scheme": "exact", "network": "base", "maxAmountRequired": "1", "asset": "0xabcDEF01"}, 5]}"#;

    /// Proves: SDK-CONNECTOR-CONTROL-R049.1
    #[test]
    fn offers_are_read_and_priced_exactly() {
        let challenge = PaymentChallenge::read(None, ONE.as_bytes(), &assets());
        assert_eq!((challenge.version, challenge.offers.len(), challenge.skipped), (1, 1, 5));
        let offer = &challenge.offers[0];
        assert_eq!(
            (offer.amount.to_string().as_str(), offer.currency.as_str(), offer.payee.as_str()),
            ("0.01", "USDC", "0x01")
        );
        assert_eq!(offer.terms.get("extra").unwrap().get("name").unwrap().as_str(), Some("x"));
        assert_eq!(PaymentChallenge::read(None, ONE.as_bytes(), &[]).offers, []);
    }

    #[test]
    fn version_two_stands_in_a_header() {
        // {"x402Version":2,"accepts":[{"scheme":"exact","network":"eip155:8453","amount":"1","asset":"0xabcdef01","payTo":"0x02"}]}
        let header = concat!(
            "eyJ4NDAyVmVyc2lvbiI6MiwiYWNjZXB0cyI6W3sic2NoZW1lIjoiZXhhY3QiLCJuZXR3b3JrIjoiZWlwMTU1Ojg0NTMiLCJhbW91bnQiOiIxIiwi",
            "YXNzZXQiOiIweGFiY2RlZjAxIiwicGF5VG8iOiIweDAyIn1dfQ=="
        );
        let challenge = PaymentChallenge::read(Some(header.as_bytes()), b"{}", &assets());
        assert_eq!((challenge.version, challenge.offers[0].amount.to_string().as_str()), (2, "0.000001"));
    }

    #[test]
    fn what_is_no_challenge_offers_nothing() {
        let deep = format!(r#"{{"x402Version": 1, "accepts": {}{}}}"#, "[".repeat(100), "]".repeat(100));
        let long = format!(r#"{{"x402Version": 1, "accepts": [], "error": "{}"}}"#, "x".repeat(MAX_BYTES));
        for text in
            ["", "pay up", "[]", "{}", r#"{"x402Version": 3, "accepts": []}"#, r#"{"x402Version": 1}"#, &deep, &long]
        {
            assert_eq!(PaymentChallenge::read(None, text.as_bytes(), &assets()).offers, [], "{text:.40}");
        }
        let many = format!(r#"{{"x402Version": 1, "accepts": [{}1]}}"#, "1,".repeat(1000));
        assert_eq!(PaymentChallenge::read(None, many.as_bytes(), &assets()).skipped, 1001);
    }

    proptest! {
        #[test]
        fn any_bytes_get_an_answer(header in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..64)), body in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = PaymentChallenge::read(header.as_deref(), &body, &assets());
        }
    }
}
