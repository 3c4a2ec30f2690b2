//! The ports of Scion: object-safe async traits, and nothing else.
//!
//! Each trait states its contract as numbered obligations (`O1`, `O2`, …). `scion-conformance` has a suite with one
//! check per obligation that any implementer can run on their own type.
//!
//! Cancellation and deadlines are the same everywhere: a caller bounds a call with a timeout and may drop the returned
//! future at any await point. Dropping never loses data and never leaves half a state; where it can leave an unknown
//! outcome, the obligation says how to read it back.
//!
//! Where to start: [`Sink`] with [`RecordDigests`] and [`CheckpointStore`] for a store of your own, [`SourceAdapter`] for
//! records that come from elsewhere, [`CredentialProvider`] for a secret store, [`McpConnector`] for another transport.
//! Implement one, then run its suite over your type.

mod access_authority;
mod access_check;
mod approvals;
mod audit_reservation;
mod authorization_verifier;
mod call_channel;
mod call_observer;
mod change_envelopes;
mod change_feed;
mod change_feed_reader;
mod checkpoint_store;
mod clock;
mod credential_provider;
mod credential_recorder;
mod decision_runner;
mod effect_receipts;
mod entropy;
mod graph_query;
mod http_exchange;
mod interaction;
mod jwt;
mod key_value;
mod mcp_session;
mod message_stream;
mod pack_capture;
mod payments;
mod record_digests;
mod repair_proposals;
mod repository_index;
mod request_auth;
mod served_route;
mod shacl;
mod sink;
mod source_adapter;
mod stream_catalog;
mod task_queue;
mod token_checks;
mod token_delegation;
mod token_store;
mod token_verifier;
mod tool_surface;
mod work_admission;
mod write_back_ledger;
mod write_back_transport;

pub use access_authority::AccessAuthority;
pub use access_check::AccessCheck;
pub use approvals::Approvals;
pub use audit_reservation::AuditReservation;
pub use authorization_verifier::AuthorizationVerifier;
pub use call_channel::{CallChannel, NoChannel};
pub use call_observer::CallObserver;
pub use change_envelopes::ChangeEnvelopes;
pub use change_feed::ChangeFeed;
pub use change_feed_reader::ChangeFeedReader;
pub use checkpoint_store::CheckpointStore;
pub use clock::Clock;
pub use credential_provider::CredentialProvider;
pub use credential_recorder::CredentialRecorder;
pub use decision_runner::DecisionRunner;
pub use effect_receipts::EffectReceipts;
pub use entropy::Entropy;
pub use graph_query::GraphQuery;
pub use http_exchange::{BodyStream, HttpDialer, HttpExchange, InboundResponse};
pub use interaction::{BrowserLauncher, CallbackListener, CeremonyAuthority, OpenCallback};
pub use jwt::{JwtSigner, JwtVerifier, VerifyKey};
pub use key_value::{KeyValueEntry, KeyValueStore};
pub use mcp_session::{McpConnector, McpSession};
pub use message_stream::MessageStream;
pub use pack_capture::{CaptureRefusal, CapturedPack, PackCapture};
pub use payments::{Payer, PaymentRecorder};
pub use record_digests::RecordDigests;
pub use repair_proposals::RepairProposals;
pub use repository_index::RepositoryIndex;
pub use request_auth::{AuthFactory, RequestAuth};
pub use served_route::{ReadinessProbe, RouteHandler, ServedRoute};
pub use shacl::ShaclValidator;
pub use sink::Sink;
pub use source_adapter::SourceAdapter;
pub use stream_catalog::StreamCatalog;
pub use task_queue::TaskQueue;
pub use token_checks::{SignedTokens, TokenAuthorities, TokenIntrospection};
pub use token_delegation::TokenDelegation;
pub use token_store::{AccountGuard, TokenStore};
pub use token_verifier::TokenVerifier;
pub use tool_surface::ToolSurface;
pub use work_admission::WorkAdmission;
pub use write_back_ledger::WriteBackLedger;
pub use write_back_transport::WriteBackTransport;

pub use async_trait::async_trait;
