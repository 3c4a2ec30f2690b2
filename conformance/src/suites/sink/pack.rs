//! Packs.

use scion_domain::sink::SinkRefusal;

use super::SinkFixture;
use crate::fixtures::{connector, pack, pack_with};
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

pub(super) async fn run(fixture: &dyn SinkFixture, report: &mut Report) {
    report.add("O10", "the_same_pack_again_is_unchanged", again(fixture).await);
    report.add("O10", "another_expected_revision_is_a_conflict", revision(fixture).await);
    report.add("O10", "a_mass_withdrawal_needs_the_callers_word", mass(fixture).await);
    report.add("O10", "a_pack_without_a_declaration_is_refused", empty(fixture).await);
}

async fn again(fixture: &dyn SinkFixture) -> Checked {
    let sink = fixture.open().await;
    let first = must!(sink.import_pack(&pack()).await, "import");
    ensure!(!first.unchanged && first.revision == 1, "the first import answered {first:?}");
    let second = must!(sink.import_pack(&pack()).await, "import again");
    ensure!(second.unchanged && second.revision == 1, "the second import answered {second:?}");
    ensure!(second.pack_digest == first.pack_digest, "the digest moved");
    let status = must!(sink.pack_status(&connector()).await, "status");
    ensure!(status.accepted_digest == Some(first.pack_digest), "the status is {status:?}");
    let mut other = pack_with(&connector(), 1);
    other.expected_revision = Some(1);
    let third = must!(sink.import_pack(&other).await, "another pack");
    ensure!(!third.unchanged && third.revision == 2, "another pack answered {third:?}");
    ensure!(third.pack_digest != first.pack_digest, "another pack has the same digest");
    Ok(())
}

async fn revision(fixture: &dyn SinkFixture) -> Checked {
    let sink = fixture.open().await;
    must!(sink.import_pack(&pack()).await, "import");
    let mut late = pack_with(&connector(), 1);
    late.expected_revision = Some(7);
    match sink.import_pack(&late).await {
        Err(SinkRefusal::PackConflict { .. }) => Ok(()),
        other => Err(format!("a wrong revision got {other:?}")),
    }
}

async fn mass(fixture: &dyn SinkFixture) -> Checked {
    let sink = fixture.open().await;
    let first = must!(sink.import_pack(&pack_with(&connector(), 4)).await, "import");
    let mut small = pack();
    small.expected_revision = Some(first.revision);
    match sink.import_pack(&small).await {
        Err(SinkRefusal::MassWithdrawal { before: 5, withdrawn: 4 }) => {}
        other => return Err(format!("a mass withdrawal got {other:?}")),
    }
    let status = must!(sink.pack_status(&connector()).await, "status");
    ensure!(status.accepted_digest == Some(first.pack_digest), "the refused pack was accepted");
    small.allow_mass_withdrawal = true;
    let allowed = must!(sink.import_pack(&small).await, "allowed import");
    ensure!(allowed.revision == 2, "the allowed import answered {allowed:?}");
    Ok(())
}

async fn empty(fixture: &dyn SinkFixture) -> Checked {
    let sink = fixture.open().await;
    let mut bare = pack();
    bare.entries.clear();
    match sink.import_pack(&bare).await {
        Err(SinkRefusal::PackInvalid { .. }) => Ok(()),
        other => Err(format!("a pack without a declaration got {other:?}")),
    }
}
