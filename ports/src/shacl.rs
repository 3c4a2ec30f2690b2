use async_trait::async_trait;
use scion_domain::shapes::{ShapesRefusal, ShapesReport};

/// Validates RDF against SHACL shapes, both as Turtle texts.
///
/// Obligations:
/// - **O1** Data that conform have no violation; data without a target conform.
/// - **O2** Every violation is counted, with its path and component.
/// - **O3** What cannot be read is refused, and so is more than
///   [`MAX_VALIDATED_BYTES`](scion_domain::shapes::MAX_VALIDATED_BYTES). It never conforms.
/// - **O4** The report holds nothing of the data: no value, no focus node, no message.
/// - **O5** A validation changes nothing and knows nothing of the one before.
#[async_trait]
pub trait ShaclValidator: Send + Sync {
    /// Validates `data` against `shapes`.
    async fn validate(&self, shapes: &str, data: &str) -> Result<ShapesReport, ShapesRefusal>;
}
