//! The cryptography of `ring` for `jsonwebtoken`.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, new_error};
use jsonwebtoken::signature::{Error as SignatureError, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED, ECDSA_P384_SHA384_FIXED_SIGNING,
    ED25519, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaEncoding, RsaKeyPair, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
    VerificationAlgorithm,
};

/// Signing and checking alone: keys are read from PEM or from parts, never derived from a private key.
pub(crate) static RING: CryptoProvider =
    CryptoProvider { signer_factory: signer, verifier_factory: verifier, key_utils: KeyUtils::new_unimplemented() };

fn family_is(algorithm: Algorithm, family: AlgorithmFamily) -> Result<(), Error> {
    if algorithm.family() == family { Ok(()) } else { Err(new_error(ErrorKind::InvalidAlgorithm)) }
}

enum SigningKey {
    Hmac(hmac::Key),
    Rsa(RsaKeyPair, &'static dyn RsaEncoding),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

struct RingSigner {
    algorithm: Algorithm,
    key: SigningKey,
}

fn hmac_of(algorithm: Algorithm) -> Option<hmac::Algorithm> {
    Some(match algorithm {
        Algorithm::HS256 => hmac::HMAC_SHA256,
        Algorithm::HS384 => hmac::HMAC_SHA384,
        Algorithm::HS512 => hmac::HMAC_SHA512,
        _ => return None,
    })
}

fn rsa_signing(algorithm: Algorithm) -> Option<&'static dyn RsaEncoding> {
    Some(match algorithm {
        Algorithm::RS256 => &RSA_PKCS1_SHA256,
        Algorithm::RS384 => &RSA_PKCS1_SHA384,
        Algorithm::RS512 => &RSA_PKCS1_SHA512,
        Algorithm::PS256 => &RSA_PSS_SHA256,
        Algorithm::PS384 => &RSA_PSS_SHA384,
        Algorithm::PS512 => &RSA_PSS_SHA512,
        _ => return None,
    })
}

fn rsa_checking(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn ec_signing(algorithm: Algorithm) -> Option<&'static EcdsaSigningAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED_SIGNING,
        Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED_SIGNING,
        _ => return None,
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the library says how it is called")]
fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    let algorithm = *algorithm;
    family_is(algorithm, key.family())?;
    let unusable = || new_error(ErrorKind::InvalidKeyFormat);
    let bytes = key.as_bytes();
    let key = if let Some(hash) = hmac_of(algorithm) {
        SigningKey::Hmac(hmac::Key::new(hash, bytes))
    } else if let Some(padding) = rsa_signing(algorithm) {
        SigningKey::Rsa(RsaKeyPair::from_der(bytes).map_err(|_| unusable())?, padding)
    } else if let Some(curve) = ec_signing(algorithm) {
        SigningKey::Ec(EcdsaKeyPair::from_pkcs8(curve, bytes, &SystemRandom::new()).map_err(|_| unusable())?)
    } else {
        SigningKey::Ed(Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes).map_err(|_| unusable())?)
    };
    Ok(Box::new(RingSigner { algorithm, key }))
}

impl Signer<Vec<u8>> for RingSigner {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        let random = SystemRandom::new();
        let failed = |_| SignatureError::new();
        Ok(match &self.key {
            SigningKey::Hmac(key) => hmac::sign(key, message).as_ref().to_vec(),
            SigningKey::Rsa(key, padding) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(*padding, &random, message, &mut signature).map_err(failed)?;
                signature
            }
            SigningKey::Ec(key) => key.sign(&random, message).map_err(failed)?.as_ref().to_vec(),
            SigningKey::Ed(key) => key.sign(message).as_ref().to_vec(),
        })
    }
}

impl JwtSigner for RingSigner {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the library says how it is called")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    family_is(*algorithm, key.family())?;
    Ok(Box::new(RingVerifier { algorithm: *algorithm, key: key.clone() }))
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        let failed = |_| SignatureError::new();
        let bytes = match self.key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let parameters = rsa_checking(self.algorithm).ok_or_else(SignatureError::new)?;
                let public = RsaPublicKeyComponents { n: without_zeros(n), e: without_zeros(e) };
                return public.verify(parameters, message, signature).map_err(failed);
            }
            DecodingKeyKind::SecretOrDer(bytes) => bytes,
        };
        if let Some(hash) = hmac_of(self.algorithm) {
            return hmac::verify(&hmac::Key::new(hash, bytes), message, signature).map_err(failed);
        }
        let check: &'static dyn VerificationAlgorithm = match self.algorithm {
            Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED,
            Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED,
            Algorithm::EdDSA => &ED25519,
            other => rsa_checking(other).ok_or_else(SignatureError::new)?,
        };
        UnparsedPublicKey::new(check, bytes).verify(message, signature).map_err(failed)
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// The library takes positive numbers in their shortest form only; key sets in the wild are longer by a zero byte.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}
