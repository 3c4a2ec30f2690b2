//! Building requests.

use std::collections::HashMap;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder};

use super::{Authorization, Shared};
use crate::fault::Fault;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

impl Shared {
    /// A request with its protocol headers and credentials.
    pub(super) async fn request(
        &self,
        method: Method,
        session: Option<&str>,
        last_event: Option<&str>,
        protocol: HashMap<HeaderName, HeaderValue>,
    ) -> Result<RequestBuilder, Fault> {
        let mut request = self.client.request(method, self.url.clone()).header(ACCEPT, BOTH);
        for (name, value) in protocol {
            request = request.header(name, value);
        }
        for (name, value) in [(SESSION_ID, session), (LAST_EVENT_ID, last_event)] {
            if let Some(value) = value {
                request = request.header(name, HeaderValue::from_str(value).map_err(|_| Fault::Malformed)?);
            }
        }
        Ok(match &self.authorization {
            Authorization::None => request,
            Authorization::Bearer(value) => request.header(AUTHORIZATION, value.clone()),
            Authorization::Provider(provider) => {
                let headers = provider.headers(self.url.as_str()).await.map_err(Fault::Refused)?;
                for (name, value) in headers {
                    // A header that cannot be sent is a credential that does not work.
                    let name = HeaderName::try_from(name).map_err(|_| Fault::Unauthorized)?;
                    let mut value = HeaderValue::from_str(value.expose()).map_err(|_| Fault::Unauthorized)?;
                    value.set_sensitive(true);
                    request = request.header(name, value);
                }
                request
            }
        })
    }
}

/// What a failure to exchange anything means.
#[expect(clippy::needless_pass_by_value, reason = "used as the function of map_err")]
pub(super) fn unsent(error: reqwest::Error) -> Fault {
    if error.is_connect() || error.is_timeout() || error.is_builder() { Fault::Unreachable } else { Fault::Closed }
}
