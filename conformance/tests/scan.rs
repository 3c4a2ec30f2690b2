//! The scan finds planted bypasses, is not fooled by comments and texts, and finds nothing here.

#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]

use std::path::{Path, PathBuf};

use scion_conformance::scan::{Rule, ScanOptions, scan_python, scan_rust, scan_tree};

use Rule::{OwnTlsContext, OwnVerifier, RawClient, VerificationOff, WarningsSilenced};

const RUST_BYPASSES: &[(&str, Rule)] = &[
    ("let c = builder.danger_accept_invalid_certs(true);", VerificationOff),
    ("let c = builder\n    .danger_accept_invalid_hostnames(\n true );", VerificationOff),
    ("let c = builder.danger_accept_invalid_certs(settings.insecure);", VerificationOff),
    ("let f = ClientBuilder::danger_accept_invalid_certs;", VerificationOff),
    ("tls.disable_verification(true)", VerificationOff),
    ("let options = TlsOptions::builder().allow_invalid_certificates(true).build();", VerificationOff),
    ("connector.set_verify(SslVerifyMode::NONE);", VerificationOff),
    ("config.set_verify_hostname(false);", VerificationOff),
    ("handle.ssl_verify_peer(false)?;", VerificationOff),
    ("request.ssl_options(SslOption::DANGER_ACCEPT_INVALID_CERTS)", VerificationOff),
    ("config.dangerous().set_certificate_verifier(Arc::new(Any));", OwnVerifier),
    ("impl ServerCertVerifier for Any {}", OwnVerifier),
    ("use rustls::client::danger::{HandshakeSignatureValid as H, *};", OwnVerifier),
    ("builder.set_verify_callback(mode, |_, _| true);", OwnVerifier),
    ("let config = rustls::ClientConfig::builder();", OwnTlsContext),
    ("use rustls::{pki_types::CertificateDer, ClientConfig};", OwnTlsContext),
    ("let tls = native_tls::TlsConnector::new()?;", OwnTlsContext),
    ("let tls = SslConnector::builder(method)?;", OwnTlsContext),
    ("let client = reqwest::Client::new();", RawClient),
    ("let client = ::reqwest::ClientBuilder::new();", RawClient),
    ("use reqwest::{header::HeaderMap, Client as Http};", RawClient),
    ("use reqwest as web;", RawClient),
    ("use reqwest::*;", RawClient),
    ("let body = r#reqwest::get(url).await?;", RawClient),
    ("use hyper_util::client::legacy::Client;", RawClient),
    ("use hyper_util::{rt::TokioIo, client::legacy::{self}};", RawClient),
    ("hyper::client::conn::http1::handshake(io)", RawClient),
    ("ureq::get(url).call()", RawClient),
    ("let agent = isahc::HttpClient::new()?;", RawClient),
    ("macro_rules! m { () => { reqwest::blocking::get(u) } }", RawClient),
    ("/* fine */ let c = /* here */ b.danger_accept_invalid_certs /* and */ (true);", VerificationOff),
    ("let s = \"a\\\"\"; c.danger_accept_invalid_certs(true);", VerificationOff),
    ("let c = '\"'; b.danger_accept_invalid_certs(true); let d = '\"';", VerificationOff),
    ("fn f<'a>(b: &'a B) { b.danger_accept_invalid_certs(true) }", VerificationOff),
];

const RUST_FINE: &[&str] = &[
    "// builder.danger_accept_invalid_certs(true)",
    "/* config.dangerous() /* ServerCertVerifier */ reqwest::Client */",
    "/// Never `reqwest::Client::new()`.\n//! nor `danger_accept_invalid_certs(true)`",
    "#[doc = \"danger_accept_invalid_certs(true)\"] struct S;",
    "let text = r##\"reqwest::Client::new() \"# danger_accept_invalid_certs(true)\"##;",
    "let bytes = b\"rustls::ClientConfig\"; let c = c\"ureq::get\";",
    "let c = builder.danger_accept_invalid_certs(false);",
    "config.set_verify_hostname(true); config.set_verify(SslVerifyMode::PEER);",
    "use reqwest::{StatusCode, header::{HeaderMap, self}};",
    "let status = reqwest::StatusCode::OK;",
    "mod surf { pub fn get() {} } crate::surf::get();",
    "struct ClientConfig { url: String } let c = ClientConfig { url };",
    "fn danger_accept_invalid_certs() {}",
    "struct Seen { accept_invalid_certs: bool }",
    "let level = Zone::danger::HIGH_TIDE; let danger = 1; self::danger::warn();",
    "let dangerous = dangerous(x);",
    "hyper::server::conn::http1::Builder::new(); use hyper_util::rt::TokioIo;",
    "let verify = false; check(verify);",
];

const PYTHON_BYPASSES: &[(&str, Rule)] = &[
    ("api.get(url, verify=False)", VerificationOff),
    ("api.get(\n    url,\n    verify = ( False ),\n)", VerificationOff),
    ("api.get(url, verify=0)", VerificationOff),
    ("session.verify = False", VerificationOff),
    ("self._session.verify = verify", VerificationOff),
    ("client.verify = os.getenv('VERIFY')", VerificationOff),
    ("def call(url, verify: bool = False): ...", VerificationOff),
    ("class S:\n    ssl_verify: Optional[bool] = False", VerificationOff),
    ("options = {'verify': False}", VerificationOff),
    ("options[\"verify_ssl\"] = False", VerificationOff),
    ("setattr(session, 'verify', False)", VerificationOff),
    ("options.setdefault('verify', False)", VerificationOff),
    ("flag = os.getenv('SSL_VERIFY', 'false')", VerificationOff),
    ("ctx.check_hostname = False", VerificationOff),
    ("ctx.verify_mode = ssl.CERT_NONE", VerificationOff),
    ("from ssl import CERT_NONE as nothing", VerificationOff),
    ("pool(cert_reqs='CERT_NONE', assert_hostname=False)", VerificationOff),
    ("ctx = ssl._create_unverified_context()", VerificationOff),
    ("ssl._create_default_https_context = anything", VerificationOff),
    ("os.environ['PYTHONHTTPSVERIFY'] = '0'", VerificationOff),
    ("env = dict(PYTHONHTTPSVERIFY='0')", VerificationOff),
    ("subprocess.run(cmd, env={'PYTHONHTTPSVERIFY': '0'})", VerificationOff),
    ("await web.get(url, ssl=False)", VerificationOff),
    ("conn = TCPConnector(verify_ssl=False)", VerificationOff),
    ("MongoClient(uri, tlsAllowInvalidCertificates=True)", VerificationOff),
    ("print(f'answer: {api.get(url, verify=False).text:>{w}}')", VerificationOff),
    ("print(f\"{api.get(\"u\", verify=False)}\")", VerificationOff),
    ("x = 'it''s'; api.get(url, verify=False)  # fine", VerificationOff),
    ("x = r'\\\\'; y(verify=False) #'", VerificationOff),
    ("urllib3.disable_warnings()", WarningsSilenced),
    ("requests.packages.urllib3.disable_warnings(InsecureRequestWarning)", WarningsSilenced),
    ("warnings.filterwarnings('ignore', category=InsecureRequestWarning)", WarningsSilenced),
    ("warnings.filterwarnings('ignore', message='Unverified HTTPS request')", WarningsSilenced),
    ("warnings.simplefilter('ignore')", WarningsSilenced),
    ("warnings.simplefilter(action='ignore')", WarningsSilenced),
    ("os.environ['PYTHONWARNINGS'] = 'ignore:Unverified HTTPS request'", WarningsSilenced),
    ("import ssl\nctx = ssl.create_default_context()", OwnTlsContext),
    ("import ssl as s\nctx = s.SSLContext(p)", OwnTlsContext),
    ("from ssl import SSLContext", OwnTlsContext),
    ("import requests\nrequests.get(url)", RawClient),
    ("import os, requests as web\nweb.Session()", RawClient),
    ("from requests import (\n    Response,\n    Session as S,\n)", RawClient),
    ("from requests.sessions import Session", RawClient),
    ("import httpx\nclient = httpx.AsyncClient(timeout=5)", RawClient),
    ("import aiohttp\nasync with aiohttp.ClientSession() as s: pass", RawClient),
    ("import urllib.request\nurllib.request.urlopen(url)", RawClient),
    ("from urllib import request\nrequest.urlopen(url)", RawClient),
    ("import http.client as c\nc.HTTPSConnection(host)", RawClient),
    ("try: import requests\nexcept ImportError: pass\nrequests.post(u)", RawClient),
];

const PYTHON_FINE: &[&str] = &[
    "# api.get(url, verify=False)",
    "'''Never pass verify=False or ssl.CERT_NONE.'''\nx = 1",
    "def f():\n    \"\"\"requests.get(url, verify=False)\n    # urllib3.disable_warnings()\n    \"\"\"",
    "message = 'verify=False is not allowed'; other = \"session.verify = False\"",
    "message = f'use verify=False? {no} verify=False'",
    "api.get(url, verify=True)",
    "if verify == False: raise Refused",
    "if ctx.verify_mode == ssl.CERT_NONE: raise Refused",
    "if ctx.verify_mode is ssl.CERT_NONE: raise Refused",
    "assert session.verify is True",
    "session.verify = True",
    "warnings.filterwarnings('ignore', category=DeprecationWarning)",
    "warnings.simplefilter('error', InsecureRequestWarning)",
    "except requests.exceptions.HTTPError: pass",
    "requests = queue.pending(); requests.get(timeout=1)",
    "from requests import Response, HTTPError",
    "import httpx\nexcept_ = httpx.HTTPError",
    "verified = False; verify_count = 0; my_ssl = False",
    "x = {'verify': True, 'ssl': 'require'}",
    "def disable_warnings(): ...",
    "verify(False)",
    "NAMES = ['CERT_NONE'][1:]; 'PYTHONHTTPSVERIFY'",
];

fn expect(scan: fn(&str) -> Vec<(u32, Rule)>, bypasses: &[(&str, Rule)], fine: &[&str]) {
    for (text, rule) in bypasses {
        let found = scan(text);
        assert!(found.iter().any(|(_, found)| found == rule), "{rule:?} is not found in {text:?}, only {found:?}");
    }
    for text in fine {
        assert_eq!(scan(text), vec![], "{text:?}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
#[test]
fn planted_bypasses_in_rust_are_found_and_nothing_else_is() {
    expect(scan_rust, RUST_BYPASSES, RUST_FINE);
}

/// Proves: SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
#[test]
fn planted_bypasses_in_python_are_found_and_nothing_else_is() {
    expect(scan_python, PYTHON_BYPASSES, PYTHON_FINE);
}

#[test]
fn a_bypass_is_found_behind_any_amount_of_comments_and_texts() {
    for fine in RUST_FINE {
        let found = scan_rust(&format!("{fine}\n;\nb.danger_accept_invalid_certs(true);"));
        assert!(
            found.contains(&(u32::try_from(fine.lines().count()).unwrap() + 2, VerificationOff)),
            "{fine}: {found:?}"
        );
    }
    for fine in PYTHON_FINE {
        let found = scan_python(&format!("{fine}\n\napi(verify=False)"));
        assert!(
            found.contains(&(u32::try_from(fine.lines().count()).unwrap() + 2, VerificationOff)),
            "{fine}: {found:?}"
        );
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R017
#[test]
fn a_tree_with_a_planted_bypass_is_rejected_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("src/api.rs", "fn f() {\n    let c = reqwest::Client::new();\n}\n");
    write("desk/api.py", "import os\n\nx = call(verify=False)\n");
    write("tests/probe.rs", "use reqwest::Client;\nlet c = b.danger_accept_invalid_certs(true);\n");
    write("target/debug/gen.rs", "use reqwest::Client;");
    write(".venv/lib/x.py", "verify=False");
    write(
        "dial/src/lib.rs",
        "use hyper_util::client::legacy;\nb.dangerous().x(); b.danger_accept_invalid_certs(true)\n",
    );
    write("README.md", "verify=False");
    let options = ScanOptions { dialers: vec![PathBuf::from("dial")] };
    let report = scan_tree(folder.path(), &options);
    let lines: Vec<String> =
        report.findings.iter().map(|f| format!("{}:{} {}", f.file, f.line, f.rule.code())).collect();
    assert_eq!(
        lines,
        [
            "desk/api.py:3 tls_verification_off",
            "dial/src/lib.rs:2 tls_verification_off",
            "src/api.rs:2 http_raw_client",
            "tests/probe.rs:2 tls_verification_off",
        ]
    );
    assert!(!report.is_clean());
    assert!(report.findings[0].to_string().contains("name a TLS profile"));
    assert_eq!(report.files, 4);
    assert!(!scan_tree(&folder.path().join("nothing"), &options).is_clean());
}

/// The dialer, the lab that attacks it, and the bare clients of the benchmarks may open connections; nobody else here does.
const DIALERS: &[&str] = &[
    "adapters/engine",
    "adapters/http",
    "adapters/mcp-client",
    "conformance/http-bench",
    "conformance/lab",
    "conformance/serve-bench",
];

/// Proves: SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
#[test]
fn this_repository_is_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for dialer in DIALERS {
        assert!(root.join(dialer).is_dir(), "{dialer} is gone; take it off the list");
    }
    let report = scan_tree(root, &ScanOptions { dialers: DIALERS.iter().map(PathBuf::from).collect() });
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(report.is_clean(), "{findings:#?} {:?}", report.unread);
    assert!(report.files > 300);
}

#[test]
fn hostile_texts_end_soon() {
    // Not a timing assertion: with a quadratic search this would not end within the test run.
    for piece in [
        "f'{",
        "f'{a:",
        "/*",
        "r#\"",
        "'",
        "\"",
        "use reqwest::{",
        "import a.",
        "(",
        "verify: a[",
        "b'",
        "filterwarnings(",
        "a.b.",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let _ = (scan_rust(&text), scan_python(&text));
    }
}
