/// The one declared identity of a connector (SDK-CONNECTOR-CONTROL-R071): name and version from the package metadata.
///
/// Make it with [`identity!`](crate::identity), so that neither is ever spelled a second time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Identity {
    /// The declared name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The package's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// An identity; checked by [`ConnectorBuilder::build`](crate::ConnectorBuilder::build).
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into() }
    }
}

/// The identity declared by the `Cargo.toml` of the calling crate (R071, R071.2).
///
/// `identity!()` takes the package name as the fleet name. `identity!("desk-mcp")` is for a package whose name is not the
/// fleet name; the version still comes from the package.
#[macro_export]
macro_rules! identity {
    () => {
        $crate::Identity::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    };
    ($fleet_name:literal) => {
        $crate::Identity::new($fleet_name, env!("CARGO_PKG_VERSION"))
    };
}
