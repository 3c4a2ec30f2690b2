//! Reads every repository of a vendor, page by page, through the governed client.
//!
//! `GITHUB_TOKEN=anything cargo run -p scion --example vendor_api`: the vendor is a server that this program starts. Against the real one,
//! leave `allow_loopback` out and write `https://api.github.com`.

#![allow(clippy::print_stdout, reason = "a program for people")]

use futures_util::StreamExt as _;
use scion::http::{Bearer, BuildClient as _, ClientRefusal, GovernedClient, LinkHeader, Paged, per_second};
use scion_lab::{Answer, Lab};

#[derive(serde::Deserialize)]
struct Repo {
    full_name: String,
}

async fn repositories(base_url: &str) -> Result<Vec<String>, ClientRefusal> {
    let client = GovernedClient::builder("github")
        .base_url(base_url)?
        .allow_loopback()
        .auth(Bearer::env("GITHUB_TOKEN"))
        .rate_limit(per_second(10))
        .build()
        .await?;
    let mut repos: Paged<Repo> = client.get("/user/repos").pages(LinkHeader).items();
    let mut names = Vec::new();
    while let Some(repo) = repos.next().await {
        names.push(repo?.full_name);
    }
    Ok(names)
}

/// Three pages of one repository each, for whoever brings a token.
async fn vendor() -> Lab {
    Lab::scripted(|received| {
        if received.header("authorization").is_none_or(|value| !value.starts_with("Bearer ")) {
            return Answer::status(401).into();
        }
        let page = received.query().and_then(|query| query.strip_prefix("page=")).unwrap_or("1");
        let answer = Answer::ok(format!(r#"[{{"full_name": "desk/repo-{page}"}}]"#));
        match page {
            "1" => answer.header("link", "</user/repos?page=2>; rel=\"next\"").into(),
            "2" => answer.header("link", "</user/repos?page=3>; rel=\"next\"").into(),
            _ => answer.into(),
        }
    })
    .await
}

#[tokio::main]
async fn main() -> Result<(), ClientRefusal> {
    let vendor = vendor().await;
    for name in repositories(vendor.url("").as_str()).await? {
        println!("{name}");
    }
    Ok(())
}
