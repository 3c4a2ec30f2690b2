//! `scion pack import`.

use scion::sink::{Access, SinkRegistry};
use scion_domain::json::Json;

use super::args::ImportArgs;
use super::target::misuse;
use super::{files, trust};
use crate::commands::{Outcome, done};
use crate::output::print;
use crate::place;

pub(super) async fn main(args: &ImportArgs, sinks: &SinkRegistry) -> Outcome {
    let file = files::pack(&args.file)?;
    let release = if args.unverified {
        None
    } else if args.trust.locks.is_some() {
        Some(trust::check(&file, &args.trust)?)
    } else {
        return Err(misuse("say whom to trust with --locks FILE, or import it --unverified"));
    };
    let (factory, request) = args.place.request(sinks, Access::Write)?;
    place::make(&request.state_dir)?;
    let open = factory.open(&request).await?;
    let expected = match args.expect {
        Some(0) => None,
        Some(revision) => Some(revision),
        None => open.sink.pack_status(file.connector()).await?.revision,
    };
    let receipt = open.sink.import_pack(&file.import(expected, args.allow_mass_withdrawal)).await?;
    // Only now: a release that the graph refused was not accepted.
    if let Some(release) = &release {
        trust::note(&file, release, &args.trust)?;
    }
    let (digest, revision) = (receipt.pack_digest.to_hex(), receipt.revision);
    done(print(&if args.json {
        files::document_line(&Json::from([
            ("connector", Json::from(file.connector().as_str())),
            ("pack_digest", digest.into()),
            ("revision", revision.into()),
            ("unchanged", receipt.unchanged.into()),
            ("verified", release.is_some().into()),
        ]))
    } else {
        let what = if receipt.unchanged { "was accepted already, as" } else { "is accepted as" };
        format!("{} {what} revision {revision}\npack {digest}\n", file.connector())
    }))
}
