/// One request as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// How many requests the server had seen before it.
    pub number: usize,
    /// The connection it came on; the first one is 0.
    pub connection: usize,
    /// The method.
    pub method: String,
    /// The target as sent: path and query, or whatever the client wrote.
    pub target: String,
    /// Header fields in order, names in lower case. Of an HTTP/2 request `:authority` is shown as `host`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The server name the client asked for in its TLS handshake.
    pub sni: Option<String>,
    /// Whether the client showed a certificate.
    pub client_certificate: bool,
    /// Whether it is an HTTP/2 request.
    pub http2: bool,
}

impl Received {
    /// The first header field of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(at, _)| at.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The target without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The query without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.target.split_once('?').map(|(_, query)| query)
    }

    /// The body as text, replacing what is not UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether some part of the request contains a text: to say that a secret never came here.
    pub fn contains(&self, needle: &str) -> bool {
        self.target.contains(needle)
            || self.headers.iter().any(|(name, value)| name.contains(needle) || value.contains(needle))
            || self.text().contains(needle)
    }
}
