//! A tunnel through an HTTP proxy (RFC 9110 section 9.3.6).

use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use scion_domain::base64;
use scion_domain::http::{Bytes, HeaderValue, HttpRefusal, Method, header};
use scion_domain::proxy::ProxyProfile;
use tokio::net::TcpStream;

use crate::interim::Interim;
use crate::material::{self, Credentials};
use crate::race;
use crate::resolve::Resolve;

/// The largest answer to CONNECT.
const HEAD_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;

/// A proxy a client opted into.
pub(crate) struct Proxy {
    pub(crate) name: String,
    pub(crate) profile: ProxyProfile,
    pub(crate) credentials: Option<Credentials>,
}

impl Proxy {
    /// A connection through the proxy to `authority`, which was checked. Its own address is the operator's word.
    pub(crate) async fn tunnel(&self, authority: &str, resolver: &dyn Resolve) -> Result<TcpStream, HttpRefusal> {
        let refused = || HttpRefusal::Connect { host: self.profile.host().to_owned() };
        let addresses = match self.profile.host().parse() {
            Ok(address) => vec![address],
            Err(_) => resolver.resolve(self.profile.host()).await.map_err(|_| refused())?,
        };
        let dialled: Vec<_> = addresses.iter().take(8).map(|address| (*address, self.profile.port()).into()).collect();
        let (stream, _) = race::connect(&dialled).await.map_err(|_| refused())?;
        let mut request = self.request(authority).await?;
        let (mut sender, connection) = http1::Builder::new()
            .max_headers(HEADERS)
            .max_buf_size(HEAD_BYTES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|_| refused())?;
        // The connection is driven here, so that it ends with this future.
        let interim = Interim::watch(&mut request);
        let answer = sender.send_request(request);
        let connection = connection.with_upgrades();
        let tunnel = async {
            let answer = answer.await.map_err(|_| refused())?;
            match answer.status().as_u16() {
                200..=299 => hyper::upgrade::on(answer).await.map_err(|_| refused()),
                407 => Err(self.unusable("username or password")),
                _ => Err(refused()),
            }
        };
        tokio::pin!(tunnel, connection);
        let upgraded = tokio::select! {
            biased;
            () = interim.flooded() => return Err(refused()),
            outcome = &mut tunnel => outcome?,
            _ = &mut connection => tunnel.await?,
        };
        let parts = upgraded.downcast::<TokioIo<TcpStream>>().map_err(|_| refused())?;
        // Whoever speaks before us in the tunnel is not the server we want.
        if parts.read_buf.is_empty() { Ok(parts.io.into_inner()) } else { Err(refused()) }
    }

    async fn request(&self, authority: &str) -> Result<hyper::Request<Empty<Bytes>>, HttpRefusal> {
        let mut request = hyper::Request::new(Empty::new());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = authority.parse().map_err(|_| HttpRefusal::Url { what: "has an impossible host" })?;
        let host = HeaderValue::from_str(authority).map_err(|_| HttpRefusal::Url { what: "has an impossible host" })?;
        request.headers_mut().insert(header::HOST, host);
        if let Some(references) = &self.profile.credentials {
            let resolve = |reference| material::resolve(reference, self.credentials.as_ref());
            let username = resolve(&references.username).await.ok_or_else(|| self.unusable("username"))?;
            let password = resolve(&references.password).await.ok_or_else(|| self.unusable("password"))?;
            let value = basic(username.expose(), password.expose()).ok_or_else(|| self.unusable("username"))?;
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, value);
        }
        Ok(request)
    }

    fn unusable(&self, what: &'static str) -> HttpRefusal {
        HttpRefusal::Profile { kind: "proxy", name: self.name.clone(), what }
    }
}

/// Basic credentials (RFC 7617); a user name with a colon cannot be sent.
fn basic(username: &str, password: &str) -> Option<HeaderValue> {
    if username.contains(':') || username.chars().chain(password.chars()).any(char::is_control) {
        return None;
    }
    let mut value =
        HeaderValue::try_from(format!("Basic {}", base64::encode(format!("{username}:{password}").as_bytes()))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_credentials_are_sensitive_and_a_colon_is_refused() {
        let value = basic("Aladdin", "open sesame").unwrap();
        assert!(value.is_sensitive());
        assert_eq!(value.to_str().unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(basic("a:b", "c").is_none() && basic("a", "b\r\n").is_none());
    }
}
