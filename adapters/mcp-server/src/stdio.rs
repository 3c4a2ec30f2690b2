//! Standard input and output, set aside for the protocol.

use scion_domain::surface::TransportRefusal;
use tokio::io::{AsyncRead, AsyncWrite};

/// Takes both streams. From here on, what the process prints on its standard output goes to standard error.
#[cfg(unix)]
pub(crate) fn take()
-> Result<(impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static), TransportRefusal> {
    use std::os::fd::AsFd as _;

    let private = std::io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|_| TransportRefusal::Stdio { what: "standard output is closed" })?;
    rustix::stdio::dup2_stdout(std::io::stderr())
        .map_err(|_| TransportRefusal::Stdio { what: "standard error is closed" })?;
    Ok((tokio::io::stdin(), tokio::fs::File::from_std(std::fs::File::from(private))))
}

/// Takes both streams. On this platform nothing keeps the rest of the process from printing on standard output.
#[cfg(not(unix))]
pub(crate) fn take()
-> Result<(impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static), TransportRefusal> {
    Ok((tokio::io::stdin(), tokio::io::stdout()))
}
