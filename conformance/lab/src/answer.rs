use serde_json::Value;

/// Every form of `Retry-After` a server may send, honest and absurd, with what it is.
pub const RETRY_AFTER_FORMS: &[(&str, &str)] = &[
    ("seconds", "1"),
    ("zero", "0"),
    ("date in the past", "Wed, 21 Oct 2015 07:28:00 GMT"),
    ("date far ahead", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ("rfc 850 date", "Sunday, 06-Nov-94 08:49:37 GMT"),
    ("asctime date", "Sun Nov  6 08:49:37 1994"),
    ("absurd seconds", "99999999999999999999999999"),
    ("negative", "-5"),
    ("fraction", "1.5"),
    ("infinite", "inf"),
    ("words", "soon"),
    ("empty", ""),
    ("list", "1, 2"),
];

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length`.
    Length,
    /// Chunks of this many bytes, trailers after them.
    Chunked(usize),
    /// The connection closes.
    Close,
}

/// A faithful answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    pub(crate) framing: Framing,
    pub(crate) trailers: Vec<(String, String)>,
}

impl Answer {
    /// A status without a body.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), framing: Framing::Length, trailers: Vec::new() }
    }

    /// 200 with a body of no declared type.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200).body(body)
    }

    /// 200 with a JSON document.
    pub fn json(document: &Value) -> Self {
        Self::status(200).with_json(document)
    }

    /// A redirect.
    pub fn redirect(status: u16, location: impl AsRef<str>) -> Self {
        Self::status(status).header("location", location.as_ref())
    }

    /// 429 with a `Retry-After`.
    pub fn throttled(retry_after: &str) -> Self {
        Self::status(429).header("retry-after", retry_after)
    }

    /// 200 with a page of HTML where a document was asked for.
    pub fn html() -> Self {
        Self::ok("<!doctype html><title>Sign in</title><p>Please sign in")
            .header("content-type", "text/html; charset=utf-8")
    }

    /// 200 whose JSON says that the call failed.
    pub fn error_document(secret: &str) -> Self {
        Self::json(&serde_json::json!({
            "ok": false,
            "error": {"code": "internal", "message": format!("failed for {secret}")},
            "errors": [{"message": format!("failed for {secret}")}],
        }))
    }

    /// 200 with bytes that are not UTF-8 inside a JSON string.
    pub fn invalid_utf8() -> Self {
        Self::ok(*b"{\"name\":\"\xff\xfe\xc3\x28\"}").header("content-type", "application/json")
    }

    /// Replaces the body by a JSON document.
    #[must_use]
    pub fn with_json(self, document: &Value) -> Self {
        self.body(document.to_string()).header("content-type", "application/json")
    }

    /// Adds a header field; the same name may be added more than once.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Adds two cookies, one of them for every path of every host of the site.
    #[must_use]
    pub fn set_cookies(self) -> Self {
        self.header("set-cookie", "session=lab-cookie; Path=/; HttpOnly")
            .header("set-cookie", "tracker=lab-cookie; Domain=test; Path=/")
    }

    /// Replaces the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Says how the end of the body is told.
    #[must_use]
    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Adds a trailer field; the body becomes chunked.
    #[must_use]
    pub fn trailer(mut self, name: &str, value: &str) -> Self {
        if !matches!(self.framing, Framing::Chunked(_)) {
            self.framing = Framing::Chunked(1024);
        }
        self.trailers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The bytes of the head, framing header fields included.
    pub(crate) fn head(&self, keep_alive: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Lab\r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        let bodiless = matches!(self.status, 100..=199 | 204 | 304);
        match self.framing {
            Framing::Length if !bodiless => {
                head.extend_from_slice(format!("content-length: {}\r\n", self.body.len()).as_bytes());
            }
            Framing::Chunked(_) => head.extend_from_slice(b"transfer-encoding: chunked\r\n"),
            Framing::Length | Framing::Close => {}
        }
        if !keep_alive {
            head.extend_from_slice(b"connection: close\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// The bytes of the body with its framing.
    pub(crate) fn framed_body(&self) -> Vec<u8> {
        let Framing::Chunked(size) = self.framing else { return self.body.clone() };
        let mut framed = Vec::with_capacity(self.body.len() + 64);
        for chunk in self.body.chunks(size.max(1)) {
            framed.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            framed.extend_from_slice(chunk);
            framed.extend_from_slice(b"\r\n");
        }
        framed.extend_from_slice(b"0\r\n");
        for (name, value) in &self.trailers {
            framed.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        framed.extend_from_slice(b"\r\n");
        framed
    }
}
