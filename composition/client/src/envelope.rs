use scion_domain::http::RateSnapshot;
use scion_domain::json::Json;

/// An answer as tools hand it on: `{status_code, data, rate_limit}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The status of the answer, 200 to 304.
    pub status_code: u16,
    /// The JSON body; null when there is none.
    pub data: Json,
    /// What the server says about its rate limits.
    pub rate_limit: Option<RateSnapshot>,
}

impl Envelope {
    /// The envelope as JSON; `rate_limit` is null when the server says nothing.
    pub fn to_json(&self) -> Json {
        Json::from([
            ("status_code", u64::from(self.status_code).into()),
            ("data", self.data.clone()),
            ("rate_limit", self.rate_limit.map(|rate| rate.to_json()).into()),
        ])
    }
}
