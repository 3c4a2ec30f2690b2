use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Turns a name into addresses. What it answers is checked before anything is dialled, so it need not be trusted.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// The addresses of a name in lower case and without a final dot; never called for an address literal.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// A function of names to addresses; `None` is a name nobody knows.
#[async_trait]
impl<F: Fn(&str) -> Option<Vec<IpAddr>> + Send + Sync> Resolve for F {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}
