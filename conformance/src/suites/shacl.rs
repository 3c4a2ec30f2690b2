//! The suite of [`ShaclValidator`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::shapes::{MAX_VALIDATED_BYTES, ShapesRefusal, ShapesReport};
use scion_ports::ShaclValidator;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes validators to test.
#[async_trait]
pub trait ShaclFixture: Send + Sync {
    /// A validator.
    async fn open(&self) -> Arc<dyn ShaclValidator>;
}

/// A ticket has one subject and one room.
pub const SHAPES: &str = "@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:suite#TicketShape> a sh:NodeShape ; sh:targetClass <urn:suite#Ticket> ;
  sh:property [ sh:path <urn:suite#subject> ; sh:minCount 1 ; sh:maxCount 1 ] ;
  sh:property [ sh:path <urn:suite#room> ; sh:minCount 1 ] .
";

/// The path of the subject.
pub const SUBJECT: &str = "urn:suite#subject";
/// The path of the room.
pub const ROOM: &str = "urn:suite#room";

const GOOD: &str = "<urn:a> a <urn:suite#Ticket> ; <urn:suite#subject> \"one\" ; <urn:suite#room> \"3\" .\n";
/// One subject too many, and no room.
const BAD: &str = "<urn:b> a <urn:suite#Ticket> ; <urn:suite#subject> \"hunter2\" , \"hunter3\" .\n";

/// Runs every check.
pub async fn run(fixture: &dyn ShaclFixture) -> Report {
    let mut report = Report::new("ShaclValidator");
    report.add("O1", "data_that_conform_have_no_violation", conforming(fixture).await);
    report.add("O2", "violations_are_counted_with_their_paths", violating(fixture).await);
    report.add("O3", "what_cannot_be_read_is_refused", malformed(fixture).await);
    report.add("O3", "too_much_is_refused", large(fixture).await);
    report.add("O4", "the_report_holds_nothing_of_the_data", silent(fixture).await);
    report.add("O5", "a_validation_knows_nothing_of_the_one_before", alone(fixture).await);
    report
}

async fn validated(fixture: &dyn ShaclFixture, data: &str) -> Result<ShapesReport, String> {
    let validator = fixture.open().await;
    Ok(must!(validator.validate(SHAPES, data).await, "validate"))
}

async fn conforming(fixture: &dyn ShaclFixture) -> Checked {
    for data in [GOOD, "", "<urn:x> a <urn:suite#Room> .\n"] {
        let report = validated(fixture, data).await?;
        ensure!(report.conforms() && report.violations.is_empty(), "`{data}` has {} violations", report.count);
    }
    Ok(())
}

async fn violating(fixture: &dyn ShaclFixture) -> Checked {
    let report = validated(fixture, &format!("{GOOD}{BAD}")).await?;
    ensure!(report.count == 2 && report.violations.len() == 2, "{} violations instead of two", report.count);
    let paths: Vec<Option<&str>> = report.violations.iter().map(|one| one.path.as_deref()).collect();
    ensure!(paths == [Some(ROOM), Some(SUBJECT)], "the paths are {paths:?}");
    let components: Vec<&str> = report.violations.iter().map(|one| one.component.as_str()).collect();
    let wanted = ["MinCountConstraintComponent", "MaxCountConstraintComponent"];
    let known = components.iter().zip(wanted).all(|(component, name)| component.ends_with(name));
    ensure!(known, "the components are {components:?}");
    Ok(())
}

async fn malformed(fixture: &dyn ShaclFixture) -> Checked {
    let validator = fixture.open().await;
    for (shapes, data) in [(SHAPES, "<urn:a> <urn:b> "), ("this is no Turtle", GOOD)] {
        let answer = validator.validate(shapes, data).await;
        ensure!(matches!(answer, Err(ShapesRefusal::Malformed { .. })), "malformed Turtle got {answer:?}");
    }
    Ok(())
}

async fn large(fixture: &dyn ShaclFixture) -> Checked {
    let validator = fixture.open().await;
    let large = " ".repeat(MAX_VALIDATED_BYTES + 1);
    for (shapes, data) in [(SHAPES, large.as_str()), (large.as_str(), GOOD)] {
        let answer = validator.validate(shapes, data).await;
        ensure!(matches!(answer, Err(ShapesRefusal::TooLarge { .. })), "too much got {answer:?}");
    }
    Ok(())
}

async fn silent(fixture: &dyn ShaclFixture) -> Checked {
    let shown = format!("{:?}", validated(fixture, BAD).await?);
    ensure!(!shown.contains("hunter") && !shown.contains("urn:b\""), "the report shows data");
    Ok(())
}

async fn alone(fixture: &dyn ShaclFixture) -> Checked {
    let validator = fixture.open().await;
    for (data, count) in [(BAD, 2), (GOOD, 0), (BAD, 2)] {
        let report = must!(validator.validate(SHAPES, data).await, "validate");
        ensure!(report.count == count, "{} violations instead of {count}", report.count);
    }
    Ok(())
}
