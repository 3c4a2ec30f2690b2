//! Every refusal family of the product, for the generated catalogue.

use crate::refusal::CatalogueEntry;

/// The rows of all families, family by family.
pub fn all() -> Vec<&'static [CatalogueEntry]> {
    vec![
        crate::auth::AuthRefusal::CATALOGUE,
        crate::auth::JwtRefusal::CATALOGUE,
        crate::auth::PkceRefusal::CATALOGUE,
        crate::http::HttpRefusal::CATALOGUE,
        crate::current_plan::CurrentPlanRefusal::CATALOGUE,
        crate::entitlement::EntitlementRefusal::CATALOGUE,
        crate::extension::ExtensionRefusal::CATALOGUE,
        crate::egress::EgressRefusal::CATALOGUE,
        crate::proxy::ProxyRefusal::CATALOGUE,
        crate::tls::TlsRefusal::CATALOGUE,
        crate::outbound::OutboundSettingRefusal::CATALOGUE,
        crate::http::CallRefusal::CATALOGUE,
        crate::http::ResponseRefusal::CATALOGUE,
        crate::listener::ListenerRefusal::CATALOGUE,
        crate::listener::ListenerConfigRefusal::CATALOGUE,
        crate::call::ChannelRefusal::CATALOGUE,
        crate::served_security::TokenRefusal::CATALOGUE,
        crate::served_security::ServedSecurityRefusal::CATALOGUE,
        crate::confirmation::ConfirmationRefusal::CATALOGUE,
        crate::tool_context::ActorRefusal::CATALOGUE,
        crate::tool_context::DelegationRefusal::CATALOGUE,
        crate::tool_context::ToolContextRefusal::CATALOGUE,
        crate::tool_context::EffectRefusal::CATALOGUE,
        crate::engine::EngineRefusal::CATALOGUE,
        crate::canonical::CanonicalRefusal::CATALOGUE,
        crate::digest::DigestRefusal::CATALOGUE,
        crate::drift::DriftRefusal::CATALOGUE,
        crate::fingerprint::FingerprintRefusal::CATALOGUE,
        crate::retry::RetryRefusal::CATALOGUE,
        crate::access::AccessRefusal::CATALOGUE,
        crate::access_contract::AccessContractRefusal::CATALOGUE,
        crate::transport_contract::TransportContractRefusal::CATALOGUE,
        crate::pack_declaration::PackDeclarationRefusal::CATALOGUE,
        crate::pack_declaration::ViewRefusal::CATALOGUE,
        crate::semantic_coverage::DeclaredSemanticCoverageRefusal::CATALOGUE,
        crate::privacy::GuardRefusal::CATALOGUE,
        crate::privacy::PiiRefusal::CATALOGUE,
        crate::pseudonym::PseudonymRefusal::CATALOGUE,
        crate::settings::DocumentRefusal::CATALOGUE,
        crate::settings::SettingRefusal::CATALOGUE,
        crate::values::ClientRefusal::CATALOGUE,
        crate::values::ValueRefusal::CATALOGUE,
        crate::values::ExpandRefusal::CATALOGUE,
        crate::client_profile::ProfileFinding::CATALOGUE,
        crate::certification::CertificationRefusal::CATALOGUE,
        crate::certification::CertificationFinding::CATALOGUE,
        crate::certification::PinRefusal::CATALOGUE,
        crate::openapi::ApiDocumentRefusal::CATALOGUE,
        crate::openapi::OperationRefusal::CATALOGUE,
        crate::openapi::PlanRefusal::CATALOGUE,
        crate::openapi::SetupRefusal::CATALOGUE,
        crate::openapi::AnswerRefusal::CATALOGUE,
        crate::command::CommandRefusal::CATALOGUE,
        crate::config::ConfigRefusal::CATALOGUE,
        crate::config::HealthAddressRefusal::CATALOGUE,
        crate::id::IdRefusal::CATALOGUE,
        crate::identifier::IdentifierRefusal::CATALOGUE,
        crate::signing::SigningRefusal::CATALOGUE,
        crate::integrity::IntegrityRefusal::CATALOGUE,
        crate::ingest::IngestRefusal::CATALOGUE,
        crate::json::JsonRefusal::CATALOGUE,
        crate::mcp::McpRefusal::CATALOGUE,
        crate::messaging::MessageRefusal::CATALOGUE,
        crate::model::BatchRefusal::CATALOGUE,
        crate::pack::PackRefusal::CATALOGUE,
        crate::pack::ToolFactsRefusal::CATALOGUE,
        crate::pack::CompatibilityRefusal::CATALOGUE,
        crate::paths::LockRefusal::CATALOGUE,
        crate::paths::PathRefusal::CATALOGUE,
        crate::payment::PaymentRefused::CATALOGUE,
        crate::payment::PaymentFailure::CATALOGUE,
        crate::payment::PayerRefusal::CATALOGUE,
        crate::graphql::GraphQlRefusal::CATALOGUE,
        crate::embedding::EmbeddingRefusal::CATALOGUE,
        crate::query::QueryRefusal::CATALOGUE,
        crate::sink::SinkRefusal::CATALOGUE,
        crate::sink::StoreRefusal::CATALOGUE,
        crate::source::SourceRefusal::CATALOGUE,
        crate::sync::SyncRefusal::CATALOGUE,
        crate::time::TimeRefusal::CATALOGUE,
        crate::surface::SurfaceRefusal::CATALOGUE,
        crate::surface::ArgumentRefusal::CATALOGUE,
        crate::surface::ToolFailure::CATALOGUE,
        crate::surface::ConnectorRefusal::CATALOGUE,
        crate::surface::StartRefusal::CATALOGUE,
        crate::surface::TransportRefusal::CATALOGUE,
        crate::served_route::RouteRefusal::CATALOGUE,
        crate::content::ContentRefusal::CATALOGUE,
        crate::seed_graph::SeedRefusal::CATALOGUE,
        crate::tool_surface::ToolSurfaceRefusal::CATALOGUE,
        crate::tool_surface::ActionRefusal::CATALOGUE,
        crate::tool_surface::FilterRefusal::CATALOGUE,
        crate::credential::CredentialRefusal::CATALOGUE,
        crate::credential::ReferenceRefusal::CATALOGUE,
        crate::credential::ProviderRefusal::CATALOGUE,
        crate::credential::RuntimeSecretRefusal::CATALOGUE,
        crate::credential::SourceCredentialRefusal::CATALOGUE,
        crate::credential::StoreSettingRefusal::CATALOGUE,
        crate::credential::access::AccessFactRefusal::CATALOGUE,
        crate::credential::access::CredentialAccessRefusal::CATALOGUE,
        crate::access_check::AccessCheckRefusal::CATALOGUE,
        crate::work::WorkRefusal::CATALOGUE,
        crate::writeback::WriteBackRefusal::CATALOGUE,
        crate::declaration::DeclarationRefusal::CATALOGUE,
        crate::declaration::descriptor::DescriptorRefusal::CATALOGUE,
        crate::cursor::CursorRefusal::CATALOGUE,
        crate::pagination::http::WalkRefusal::CATALOGUE,
        crate::pagination::ToolPageRefusal::CATALOGUE,
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    /// A code means one thing: it may stand in one family only, once.
    #[test]
    fn codes_are_unique() {
        let mut seen = HashMap::new();
        for entry in super::all().into_iter().flatten() {
            let before = seen.insert(entry.code, entry.family);
            assert_eq!(before, None, "{} stands in {before:?} and {}", entry.code, entry.family);
            assert!(!entry.next.is_empty() && !entry.message.is_empty());
        }
        assert!(seen.len() > 50);
    }
}
