//! Measures governed GETs against bare reqwest on the same server in the same run; see BENCHMARKS.md.
//!
//! `http-bench [ROUNDS [SECONDS]]`: for each concurrency, the clients take turns for so many rounds of so many seconds; the
//! medians are printed as table rows.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod load;
mod server;

use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use scion_client::{ClientPorts, GovernedClient, NoAuthOnly};
use scion_domain::egress::{EgressPolicy, Plaintext, parse_url};
use scion_domain::http::{HttpProfile, Method, OutboundRequest, Url};
use scion_http::Dialer;
use scion_local::{SystemClock, SystemEntropy};
use scion_ports::{HttpDialer, HttpExchange};

const CONCURRENCY: [usize; 3] = [1, 8, 64];

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start_server() -> std::io::Result<(Server, String)> {
    let mut child = Command::new(std::env::current_exe()?).arg("serve").stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    let stdout = child.stdout.take().expect("stdout is piped");
    BufReader::new(stdout).read_line(&mut line)?;
    Ok((Server(child), format!("http://{}", line.trim())))
}

fn local() -> EgressPolicy {
    EgressPolicy { allow_loopback: true, ..EgressPolicy::default() }
}

async fn governed(base: &str) -> GovernedClient {
    let ports = ClientPorts {
        dialer: Arc::new(Dialer::builder().build()),
        auth: Arc::new(NoAuthOnly),
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(SystemEntropy),
    };
    let builder = GovernedClient::builder("bench").base_url(base).expect("the address of our server").allow_loopback();
    builder.max_concurrent(1024).build_with(&ports).await.expect("loopback is allowed")
}

async fn exchange() -> Arc<dyn HttpExchange> {
    let profile = HttpProfile { egress: local(), ..HttpProfile::default() };
    Dialer::builder().build().open(&profile).await.expect("loopback is allowed")
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Nanoseconds of the checks of one request to a literal address.
fn egress_check() -> f64 {
    let egress = EgressPolicy::default().compile().expect("the default policy is usable");
    let url = parse_url("https://93.184.216.34/x?q=1").expect("a public literal");
    let rounds: u32 = 1_000_000;
    let started = Instant::now();
    for _ in 0..rounds {
        let target = egress.check_url(black_box(&url), Plaintext::PrivateOnly);
        black_box(target.is_ok());
    }
    started.elapsed().as_secs_f64() * 1e9 / f64::from(rounds)
}

async fn measure(rounds: usize, span: Duration) -> std::io::Result<()> {
    let (server, base) = start_server()?;
    // Fails when the process has chosen a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    #[expect(clippy::disallowed_methods, reason = "it is what we are measured against")]
    let bare = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().expect("a client without options");
    let governed = governed(&base).await;
    let exchange = exchange().await;
    let url: Url = format!("{base}/record").parse().expect("the address of our server");
    println!("| client | concurrency | requests/s | against reqwest |\n|---|---|---|---|");
    for callers in CONCURRENCY {
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..rounds {
            let (client, target) = (bare.clone(), url.clone());
            rates[0].push(
                load::rate(callers, span, move || {
                    let (client, target) = (client.clone(), target.clone());
                    async move {
                        let answer = client.get(target).send().await.expect("our server answers");
                        answer.bytes().await.expect("our server answers in full").len()
                    }
                })
                .await,
            );
            let (client, target) = (Arc::clone(&exchange), url.clone());
            rates[1].push(
                load::rate(callers, span, move || {
                    let (client, target) = (Arc::clone(&client), target.clone());
                    async move {
                        let mut answer =
                            client.send(OutboundRequest::new(Method::GET, target)).await.expect("our server answers");
                        answer.bytes().await.expect("our server answers in full").len()
                    }
                })
                .await,
            );
            let client = governed.clone();
            rates[2].push(
                load::rate(callers, span, move || {
                    let client = client.clone();
                    async move { client.get("/record").bytes().await.expect("our server answers").len() }
                })
                .await,
            );
        }
        let [reqwest, exchange, governed] = rates.map(median);
        for (name, rate) in [("bare reqwest", reqwest), ("dialer alone", exchange), ("governed client", governed)] {
            println!("| {name} | {callers} | {rate:.0} | {:.2} |", rate / reqwest);
        }
    }
    println!("\negress check of a literal address: {:.0} ns", egress_check());
    drop(server);
    Ok(())
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    let runtime = tokio::runtime::Runtime::new()?;
    if first.as_deref() == Some("serve") {
        return runtime.block_on(server::serve());
    }
    let rounds = first.and_then(|text| text.parse().ok()).unwrap_or(5);
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(2);
    runtime.block_on(measure(rounds, Duration::from_secs(seconds)))
}
