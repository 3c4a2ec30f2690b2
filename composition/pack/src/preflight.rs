//! The look at a contract before it is imported (SDK-CONNECTOR-CONTROL-R067.4).

use scion_domain::refusal::Refusal as _;
use scion_domain::shapes::PreflightRefusal;
use scion_ports::ShaclValidator;

/// Lets a validator check the Turtle of a contract against shapes, `PACK_SHAPES_TURTLE` for the ones of every contract, before
/// anything is imported. Nothing is validated here.
///
/// # Errors
/// The number of violations and the path of the first; or that the validator did not answer, which is no consent.
pub async fn preflight(validator: &dyn ShaclValidator, shapes: &str, turtle: &str) -> Result<(), PreflightRefusal> {
    match validator.validate(shapes, turtle).await {
        Ok(report) => report.require(),
        Err(refusal) => Err(PreflightRefusal::NotValidated { code: refusal.code() }),
    }
}
