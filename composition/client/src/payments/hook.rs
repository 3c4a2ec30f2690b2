//! Where a call meets a challenge.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use scion_domain::http::StatusCode;
use scion_domain::payment::{PaymentFailure, PaymentOutcome, PaymentRefused};
use scion_domain::refusal::Refusal as _;

use crate::ClientRefusal;
use crate::client::Inner;
use crate::request::Call;
use crate::response::start_of_body;
use crate::send::{Answered, Body, Failed, Want};

impl Inner {
    /// Whether a status asks for a payment that this client may decide about.
    pub(crate) fn is_challenge(&self, status: StatusCode) -> bool {
        status == StatusCode::PAYMENT_REQUIRED && self.payments.is_some()
    }

    /// Answers a challenge with one more attempt that carries a payment. The answer of that attempt is final.
    pub(crate) async fn pay(
        &self,
        call: &Call,
        want: Want,
        deadline: Duration,
        challenge: Answered,
    ) -> Result<Answered, ClientRefusal> {
        let Answered { head, body, turn, .. } = challenge;
        let body = match body {
            Body::Read(bytes) => bytes.to_vec(),
            Body::Unread(mut body) => start_of_body(body.as_mut()).await,
        };
        // The place among the concurrent calls is free while a person decides.
        drop(turn);
        // Asked only where `is_challenge` says so.
        let Some(payments) = &self.payments else {
            return Err(PaymentFailure::from(PaymentRefused::UnsupportedScheme).into());
        };
        let mut paying = payments.challenged(&head.url, &head.headers, &body, call.payment.as_deref()).await?;
        let mut paid = call.clone();
        let (name, value) = paying.field();
        paid.headers.insert(name, value);
        let sent = AtomicBool::new(false);
        match self.attempt(&paid, want, deadline, &sent).await {
            Ok(answered) => {
                let status = answered.head.status;
                if status == StatusCode::PAYMENT_REQUIRED {
                    let failure = paying.rejected();
                    paying.ended(PaymentOutcome::Rejected, Some(failure.code())).await;
                    return Err(failure.into());
                }
                let outcome = if status.is_client_error() || status.is_server_error() {
                    // It may have been taken all the same.
                    PaymentOutcome::Unknown
                } else {
                    PaymentOutcome::Paid
                };
                paying.ended(outcome, None).await;
                Ok(answered)
            }
            Err(failed) => {
                let (refusal, unsent) = match failed {
                    Failed::Exchange(refusal) => (ClientRefusal::from(refusal.clone()), refusal.before_sending()),
                    Failed::Final(refusal) => (refusal, !sent.load(Ordering::Relaxed)),
                };
                if unsent {
                    paying.not_sent(refusal.code()).await;
                } else {
                    paying.ended(PaymentOutcome::Unknown, Some(refusal.code())).await;
                }
                Err(refusal)
            }
        }
    }
}
