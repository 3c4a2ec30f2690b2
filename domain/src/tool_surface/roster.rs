//! The names of a whole surface, in the order of their registration (SDK-CONNECTOR-CONTROL-R032).

use std::collections::HashSet;

use super::{ToolName, ToolSurfaceRefusal};

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolOrigin {
    /// An operation of the client.
    Operation,
    /// Written by hand.
    Registrar,
    /// An action of a router.
    Split,
    /// Added explicitly, after all others.
    Additional,
}

/// Every name once, additional tools last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRoster {
    tools: Vec<(ToolName, ToolOrigin)>,
    names: HashSet<ToolName>,
}

impl ToolRoster {
    /// Adds a tool. Refuses a name that is there, and everything but additional tools once there is one of those.
    pub fn add(&mut self, name: ToolName, origin: ToolOrigin) -> Result<(), ToolSurfaceRefusal> {
        if origin != ToolOrigin::Additional && self.additional().next().is_some() {
            return Err(ToolSurfaceRefusal::Order { tool: name.as_str().to_owned() });
        }
        if !self.names.insert(name.clone()) {
            let first =
                self.tools.iter().find(|(known, _)| *known == name).map_or("a tool", |(_, origin)| said(*origin));
            return Err(ToolSurfaceRefusal::Collision {
                tool: name.as_str().to_owned(),
                first: first.to_owned(),
                second: said(origin).to_owned(),
            });
        }
        self.tools.push((name, origin));
        Ok(())
    }

    /// All tools, in the order they were added.
    pub fn tools(&self) -> impl Iterator<Item = (&ToolName, ToolOrigin)> {
        self.tools.iter().map(|(name, origin)| (name, *origin))
    }

    /// The additional ones; they stand at the end.
    pub fn additional(&self) -> impl Iterator<Item = &ToolName> {
        let last = self.tools.iter().rev().take_while(|(_, origin)| *origin == ToolOrigin::Additional);
        last.map(|(name, _)| name)
    }
}

const fn said(origin: ToolOrigin) -> &'static str {
    match origin {
        ToolOrigin::Operation => "an operation",
        ToolOrigin::Registrar => "a tool of a registrar",
        ToolOrigin::Split => "an action of a router",
        ToolOrigin::Additional => "an additional tool",
    }
}
