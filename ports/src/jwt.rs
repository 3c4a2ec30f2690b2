use scion_domain::auth::{JwtAlgorithm, JwtRefusal, PublicKey, UnverifiedJwt};
use scion_domain::json::JsonObject;
use scion_domain::secret::Secret;

/// The key a token is checked with.
#[derive(Clone, Copy, Debug)]
pub enum VerifyKey<'k> {
    /// A key of an issuer's set.
    Public(&'k PublicKey),
    /// A public key as PEM (SPKI).
    Pem(&'k str),
    /// A shared secret of at least 32 bytes.
    Shared(&'k Secret<String>),
}

/// Signs JSON Web Tokens.
///
/// Obligations:
/// - **O1** What it signs is accepted by a [`JwtVerifier`] with the fitting key, under the algorithm and key id it was asked for.
/// - **O2** A shared secret below 32 bytes, or a key of another family than the algorithm's, is [`JwtRefusal::Key`].
/// - **O3** No key and no token appears in a refusal or `Debug` text.
pub trait JwtSigner: Send + Sync {
    /// The compact token over the claims. `key` is a private key as PEM (PKCS#8, or PKCS#1 for RSA), or a shared secret.
    fn sign(
        &self,
        algorithm: JwtAlgorithm,
        key_id: Option<&str>,
        claims: &JsonObject,
        key: &Secret<String>,
    ) -> Result<Secret<String>, JwtRefusal>;
}

/// Checks signatures of JSON Web Tokens; claims are checked elsewhere.
///
/// Obligations:
/// - **O1** A token signed by the other half of the key is accepted.
/// - **O2** A change of any byte that is signed, or another key, is [`JwtRefusal::Signature`].
/// - **O3** A key that does not fit the token's algorithm is refused with [`JwtRefusal::Key`]: a public key never serves as a
///   shared secret.
/// - **O4** A shared secret below 32 bytes is [`JwtRefusal::Key`].
pub trait JwtVerifier: Send + Sync {
    /// Checks the signature.
    fn verify(&self, token: &UnverifiedJwt<'_>, key: VerifyKey<'_>) -> Result<(), JwtRefusal>;
}
