//! The exchange through a proxy, and to a proxy that is itself hostile.

use std::sync::Arc;

use scion_domain::http::Url;
use scion_domain::proxy::{ProxyProfile, ProxyProfiles};
use scion_http::Dialer;
use scion_lab::Answer;

use super::{FetchPath, SMALL, Wants, no_prologue, raw};
use crate::stage::Stage;

/// An honest proxy, a hostile server behind it.
pub(crate) const TUNNEL: FetchPath = FetchPath {
    name: "raw through a proxy",
    holds: SMALL,
    wants: Wants::Document,
    tls: true,
    prologue: no_prologue,
    leads: None,
    roams: false,
    honest: Some(|_, _| Answer::ok("{}")),
    run: |mut stage| {
        stage.profile.proxy = Some("lab".to_owned());
        Box::pin(raw::document(stage))
    },
};

/// The hostile server is the proxy: whatever it says, no answer of a server comes of it.
pub(crate) const CONNECT: FetchPath = FetchPath {
    name: "raw to a hostile proxy",
    holds: SMALL,
    wants: Wants::Members,
    tls: false,
    prologue: no_prologue,
    leads: None,
    roams: false,
    honest: None,
    run: |stage| Box::pin(raw::document(behind(stage))),
};

/// The same stage with the hostile server for a proxy.
fn behind(stage: Stage) -> Stage {
    let proxy = ProxyProfile::parse(&format!("http://127.0.0.1:{}", stage.base.port().unwrap())).unwrap();
    let dialer = Dialer::builder().proxies(ProxyProfiles::new().with("hostile", proxy).unwrap()).build();
    let mut profile = stage.profile;
    profile.proxy = Some("hostile".to_owned());
    profile.tls = None;
    // A public address: only a tunnel could lead there, and nothing is dialled but the proxy.
    Stage { dialer: Arc::new(dialer), profile, base: Url::parse("https://93.184.215.14/").unwrap() }
}
