//! The one declared identity of a connector (R071).

use super::{ConnectorDeclaration, DeclarationRefusal};
use crate::id::ConnectorName;

/// The fleet name and version a connector's package declares once. Packs, manifests, declarations and ingest bindings take
/// the name from here, so that no two of them can disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorIdentity {
    name: ConnectorName,
    version: String,
}

impl ConnectorIdentity {
    /// From the names a package declares. Exactly one, and it must be a fleet name.
    pub fn from_declared<'a>(
        names: impl IntoIterator<Item = &'a str>,
        version: &str,
    ) -> Result<Self, DeclarationRefusal> {
        let names: Vec<&str> = names.into_iter().collect();
        let [name] = names.as_slice() else {
            return Err(DeclarationRefusal::Identity { found: names.len() });
        };
        let name = ConnectorName::parse(name).map_err(|_| DeclarationRefusal::Identity { found: 0 })?;
        Ok(Self { name, version: version.to_owned() })
    }

    /// The fleet name.
    pub const fn name(&self) -> &ConnectorName {
        &self.name
    }

    /// The version of the package.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Refuses a declaration that names another connector.
    pub fn agrees_with(&self, declaration: &ConnectorDeclaration) -> Result<(), DeclarationRefusal> {
        if declaration.connector == self.name {
            return Ok(());
        }
        Err(DeclarationRefusal::OtherConnector {
            configured: self.name.to_string(),
            declared: declaration.connector.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: SDK-CONNECTOR-CONTROL-R071
    #[test]
    fn a_package_has_one_name_and_everything_takes_it_from_there() {
        let identity = ConnectorIdentity::from_declared(["desk-mcp"], "1.2.3").unwrap();
        assert_eq!((identity.name().as_str(), identity.version()), ("desk-mcp", "1.2.3"));
        for names in [vec![], vec!["a", "b"], vec!["Not A Name"]] {
            let refusal = ConnectorIdentity::from_declared(names, "1").unwrap_err();
            assert!(matches!(refusal, DeclarationRefusal::Identity { .. }));
        }
        let own = ConnectorDeclaration::from_text(br#"{"connector":"desk-mcp"}"#).unwrap();
        let other = ConnectorDeclaration::from_text(br#"{"connector":"other"}"#).unwrap();
        assert_eq!(identity.agrees_with(&own), Ok(()));
        assert!(matches!(identity.agrees_with(&other), Err(DeclarationRefusal::OtherConnector { .. })));
    }
}
