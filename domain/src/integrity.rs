//! The integrity of a connector's release (SDK-CONNECTOR-CONTROL-R650): hashes that do not depend on how something was written down,
//! Ed25519 signatures over them, the public keys that a reader has accepted, and declared changes of a key.
//!
//! A release manifest is a JSON object. Its hash leaves `signature` out; its signature covers everything else. A reader accepts it
//! when the signature holds and the key is the one locked for its signer, or follows from the locked one by declared rotations.

mod graph;
mod key_ref;
mod locks;
mod release;
mod seen;

pub use graph::graph_hash;
pub use key_ref::ReleaseKeyRef;
pub use locks::{LockDecision, ROTATION_RECORD_VARIABLE, Rotation, RotationLedger, SignerLocks};
pub use release::{ReleaseSigner, VerifiedRelease, manifest_hash, verify_release};
pub use seen::{SeenReleases, refuse_expired};

use crate::refusals;

refusals! {
    /// Why a release is not signed, or not accepted.
    pub enum IntegrityRefusal {
        /// The text of a graph cannot be read.
        Graph { line: u64 } => "integrity_graph_unreadable", CallerMistake, Never,
            "the graph cannot be read as Turtle, at line {line}", "correct the text; a Turtle parser names the place";
        /// Blank nodes so alike that telling them apart could take for ever, or too many of anything.
        GraphTooSymmetric { what: &'static str } => "integrity_graph_too_symmetric", CallerMistake, Never,
            "the graph has {what}", "give its blank nodes names";
        /// A manifest, a lock file or a ledger is not what it should be.
        Document { document: &'static str, what: &'static str } => "integrity_document_invalid", CallerMistake, Never,
            "the {document}: {what}", "write it with this product, or restore it";
        /// The reference of a key does not do for publication.
        KeyReference { what: &'static str } => "integrity_key_reference_invalid", CallerMistake, Never,
            "the reference of the release key {what}", "write vault://MOUNT/PATH#FIELD@VERSION";
        /// Nobody signed it.
        Unsigned => "integrity_unsigned", Denied, Never,
            "the release carries no signature", "ask its publisher for the signed release";
        /// The signature is not the key's over this content.
        Signature => "integrity_signature_wrong", Denied, Never,
            "the signature does not fit the release", "fetch the release again; if it stays so, tell its publisher";
        /// Nobody accepted this signer before.
        SignerUnknown { signer: String } => "integrity_signer_unknown", Denied, Never,
            "no key is locked for the signer {signer}", "check its public key by another way, then lock it";
        /// The key is another than the locked one, and no rotation says why.
        KeyChanged { signer: String } => "integrity_key_changed", Denied, Never,
            "the signer {signer} uses another key than the locked one, and no rotation is declared",
            "ask the publisher; declare the rotation in the file that CONNECTOR_RELEASE_ROTATION_RECORD names";
        /// A build that is no release.
        NoSequence => "integrity_release_unnumbered", CallerMistake, Never,
            "the release has no number", "build it with --sequence";
        /// An older release than the one accepted before.
        RolledBack { offered: u64, newest: u64 } => "integrity_rolled_back", Denied, Never,
            "release {offered} is older than {newest}, which was accepted before",
            "fetch the newest release; to go back on purpose, its publisher releases the old content under a new number";
        /// Two different releases under one number.
        TwoReleases { sequence: u64 } => "integrity_two_releases", Denied, Never,
            "another release {sequence} was accepted before", "ask its publisher which one is theirs";
        /// It says itself that it is no longer the newest.
        Expired { at: String } => "integrity_expired", Denied, Never,
            "the release is good until {at} only", "fetch a newer one; if there is none, ask its publisher";
    }
}
