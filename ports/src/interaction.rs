use async_trait::async_trait;
use scion_domain::auth::{PkceBinding, PkceRefusal};
use scion_domain::http::Url;
use scion_domain::secret::Secret;

/// Takes the callback of a browser login on this machine (RFC 8252, section 7.3).
///
/// Obligations:
/// - **O1** It listens on 127.0.0.1 alone, on a port of the system's choice, and knows one path.
/// - **O2** What is sent to it is bounded in size and time, and no part of it is logged.
/// - **O3** Dropping what was opened closes the port.
#[async_trait]
pub trait CallbackListener: Send + Sync {
    /// Opens it; [`PkceRefusal::CallbackUnavailable`] when that is not possible.
    async fn open(&self) -> Result<Box<dyn OpenCallback>, PkceRefusal>;
}

/// An open callback listener.
#[async_trait]
pub trait OpenCallback: Send {
    /// The address to register with the authorization request.
    fn redirect_url(&self) -> &str;

    /// Waits for a callback and answers its complete address. The first one is handed over; later ones are turned away.
    async fn answer(&mut self) -> Result<Secret<String>, PkceRefusal>;
}

/// Shows a page to a person.
///
/// Obligations:
/// - **O1** The address is an argument, never a part of a shell command.
/// - **O2** [`PkceRefusal::BrowserLaunchFailed`] when there is nothing to start.
#[async_trait]
pub trait BrowserLauncher: Send + Sync {
    /// Starts the browser.
    async fn launch(&self, url: &Url) -> Result<(), PkceRefusal>;
}

/// Whether the host still wants a login to happen; asked before it starts and again before its operation goes on.
///
/// Obligations:
/// - **O1** It answers for now; nothing is kept from an earlier answer.
/// - **O2** No authority is a refusal: [`PkceRefusal::Revoked`] when it was taken back, [`PkceRefusal::InteractionRequired`] or
///   [`PkceRefusal::NoCredential`] when no login may begin.
#[async_trait]
pub trait CeremonyAuthority: Send + Sync {
    /// Confirms, or refuses.
    async fn confirm(&self, binding: &PkceBinding) -> Result<(), PkceRefusal>;
}
