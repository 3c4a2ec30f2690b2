//! `scion pack verify`, and what `import` checks before it believes a file.

use scion::local::SystemClock;
use scion::ports::Clock as _;
use scion_domain::integrity::{LockDecision, VerifiedRelease, refuse_expired};
use scion_domain::json::Json;
use scion_domain::pack::PackFile;

use super::args::{TrustArgs, VerifyArgs};
use super::files;
use super::target::misuse;
use crate::commands::{Outcome, done};
use crate::output::{Refused, print};

pub(super) fn main(args: &VerifyArgs) -> Outcome {
    let file = files::pack(&args.file)?;
    let release = check(&file, &args.trust)?;
    note(&file, &release, &args.trust)?;
    let decision = match release.decision {
        LockDecision::Rotated => "rotated",
        _ => "locked",
    };
    let (manifest, sequence) = (release.manifest.to_hex(), file.mark().sequence);
    done(print(&if args.json {
        files::document_line(&Json::from([
            ("connector", Json::from(file.connector().as_str())),
            ("sequence", sequence.into()),
            ("signer", release.signer.as_str().into()),
            ("public_key", release.public_key.as_str().into()),
            ("key", decision.into()),
            ("manifest", manifest.into()),
            ("pack_digest", file.pack_digest().to_hex().into()),
        ]))
    } else {
        let by = format!("signed by {} with the {decision} key {}", release.signer, release.public_key);
        format!("{} release {sequence} is {by}\nmanifest {manifest}\n", file.connector())
    }))
}

/// Signature, signer, expiry and number. Nothing is written.
pub(super) fn check(file: &PackFile, trust: &TrustArgs) -> Result<VerifiedRelease, Refused> {
    let Some(locks) = &trust.locks else { return Err(misuse("name the file of locked keys: --locks FILE")) };
    let release = file.verify(&files::locks(locks, false)?, &files::rotations()?)?;
    refuse_expired(file.mark().expires.as_ref(), SystemClock::new().unix_millis().div_euclid(1000))?;
    if let Some(path) = &trust.seen {
        files::seen(path)?.accept(file.connector(), file.mark().sequence, release.manifest)?;
    }
    Ok(release)
}

/// Notes an accepted release, where the command line asks for it.
pub(super) fn note(file: &PackFile, release: &VerifiedRelease, trust: &TrustArgs) -> Result<(), Refused> {
    let Some(path) = &trust.seen else { return Ok(()) };
    let before = files::seen(path)?;
    let mut seen = before.clone();
    seen.accept(file.connector(), file.mark().sequence, release.manifest)?;
    if seen != before {
        files::write(path, seen.to_text().as_bytes())?;
    }
    Ok(())
}
