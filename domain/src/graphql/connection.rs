//! Walking a connection: `nodes` or `edges`, and `pageInfo`, forwards.

use std::collections::HashSet;

use super::GraphQlRefusal;
use crate::json::{Json, JsonObject};

/// Where a connection is and how much of it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// Member names from `data` to the connection, joined by dots.
    pub path: String,
    /// The variable that takes the cursor.
    pub cursor_variable: String,
    /// The most pages; at least 1.
    pub max_pages: usize,
    /// The most items.
    pub max_items: usize,
}

impl ConnectionOptions {
    /// A connection whose document takes the cursor in `$after`; 100 pages and 10,000 items.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), cursor_variable: "after".into(), max_pages: 100, max_items: 10_000 }
    }
}

/// What follows a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextPage {
    /// Ask again, with the cursor in its variable.
    After(String),
    /// The server has no more.
    End,
    /// A bound is reached and there is more.
    Bound,
}

/// A walk under way.
#[derive(Clone, Debug)]
pub struct ConnectionWalk {
    options: ConnectionOptions,
    seen: HashSet<String>,
    pages: usize,
    items: usize,
}

impl ConnectionWalk {
    /// A walk from the start.
    pub fn new(options: ConnectionOptions) -> Self {
        Self { options, seen: HashSet::new(), pages: 0, items: 0 }
    }

    /// Pages read.
    pub const fn pages(&self) -> usize {
        self.pages
    }

    /// Items read.
    pub const fn items(&self) -> usize {
        self.items
    }

    /// The variables of the next request.
    pub fn variables(&self, own: &JsonObject, cursor: Option<&str>) -> JsonObject {
        let mut variables = own.clone();
        if let Some(cursor) = cursor {
            variables.insert(self.options.cursor_variable.clone(), cursor.into());
        }
        variables
    }

    /// Takes a page. `nodes` is read if it is there, else the `node` of each of the `edges`; entries that are null are left out, since the
    /// server may hide some. A connection that is null or absent is malformed, never empty.
    pub fn page(&mut self, data: &JsonObject) -> Result<(Vec<Json>, NextPage), GraphQlRefusal> {
        let malformed = |what| GraphQlRefusal::Malformed { what };
        let mut names = self.options.path.split('.');
        let first = names.next().and_then(|name| data.get(name));
        let connection = names.try_fold(first, |here, name| here.map(|here| here.get(name))).flatten();
        let connection = connection.and_then(Json::as_object).ok_or(malformed("has no connection at the path"))?;
        let mut items: Vec<Json> = match (connection.get("nodes"), connection.get("edges")) {
            (Some(Json::Array(nodes)), _) => nodes.iter().filter(|node| !node.is_null()).cloned().collect(),
            (_, Some(Json::Array(edges))) => {
                edges.iter().filter_map(|edge| edge.get("node")).filter(|node| !node.is_null()).cloned().collect()
            }
            _ => return Err(malformed("has a connection without nodes and edges")),
        };
        let info = connection.get("pageInfo").ok_or(malformed("has a connection without pageInfo"))?;
        let more =
            info.get("hasNextPage").and_then(Json::as_bool).ok_or(malformed("has a pageInfo without hasNextPage"))?;
        self.pages += 1;
        let room = self.options.max_items.saturating_sub(self.items);
        let cut = items.len() > room;
        items.truncate(room);
        self.items += items.len();
        if !more {
            return Ok((items, if cut { NextPage::Bound } else { NextPage::End }));
        }
        let cursor = info.get("endCursor").and_then(Json::as_str).filter(|cursor| !cursor.is_empty());
        let cursor = cursor.ok_or(malformed("says that there is more and gives no endCursor"))?;
        if !self.seen.insert(cursor.to_owned()) {
            return Err(GraphQlRefusal::Loop { pages: self.pages });
        }
        let full = cut || self.pages >= self.options.max_pages.max(1) || self.items >= self.options.max_items;
        Ok((items, if full { NextPage::Bound } else { NextPage::After(cursor.to_owned()) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn page(walk: &mut ConnectionWalk, connection: &str) -> Result<(usize, NextPage), GraphQlRefusal> {
        let data = parse(&format!(r#"{{"viewer": {{"list": {connection}}}}}"#)).unwrap();
        walk.page(data.as_object().unwrap()).map(|(items, next)| (items.len(), next))
    }

    fn walk(max_pages: usize, max_items: usize) -> ConnectionWalk {
        ConnectionWalk::new(ConnectionOptions { max_pages, max_items, ..ConnectionOptions::new("viewer.list") })
    }

    const MORE: &str = r#"{"nodes": [1, null, 2], "pageInfo": {"hasNextPage": true, "endCursor": "c1"}}"#;

    /// Proves: SDK-CONNECTOR-CONTROL-R030.1
    #[test]
    fn nodes_and_edges_are_walked_to_the_servers_own_end() {
        let mut walk = walk(10, 10);
        assert_eq!(page(&mut walk, MORE), Ok((2, NextPage::After("c1".into()))));
        assert_eq!(
            walk.variables(&JsonObject::new(), Some("c1")),
            JsonObject::from([("after".to_owned(), "c1".into())])
        );
        let edges = r#"{"edges": [{"node": {"a": 1}}, {"node": null}, null], "pageInfo": {"hasNextPage": true, "endCursor": "c2"}}"#;
        assert_eq!(page(&mut walk, edges), Ok((1, NextPage::After("c2".into()))));
        let empty = r#"{"nodes": [], "pageInfo": {"hasNextPage": true, "endCursor": "c3"}}"#;
        assert_eq!(page(&mut walk, empty), Ok((0, NextPage::After("c3".into()))));
        let last = r#"{"nodes": [1], "pageInfo": {"hasNextPage": false, "endCursor": "c3"}}"#;
        assert_eq!(page(&mut walk, last), Ok((1, NextPage::End)));
        assert_eq!((walk.pages(), walk.items()), (4, 4));
    }

    #[test]
    fn bounds_and_loops_are_named() {
        let mut one = walk(1, 10);
        assert_eq!(page(&mut one, MORE), Ok((2, NextPage::Bound)));
        let mut few = walk(10, 1);
        assert_eq!(page(&mut few, MORE), Ok((1, NextPage::Bound)));
        let mut looping = walk(10, 10);
        assert!(page(&mut looping, MORE).is_ok());
        assert_eq!(page(&mut looping, MORE), Err(GraphQlRefusal::Loop { pages: 2 }));
    }

    #[test]
    fn malformed_pages_are_not_the_end() {
        for bad in [
            "null",
            "[]",
            "{}",
            r#"{"nodes": null, "pageInfo": {"hasNextPage": false}}"#,
            r#"{"nodes": []}"#,
            r#"{"nodes": [], "pageInfo": {}}"#,
            r#"{"nodes": [], "pageInfo": {"hasNextPage": true}}"#,
            r#"{"nodes": [], "pageInfo": {"hasNextPage": true, "endCursor": ""}}"#,
        ] {
            assert!(matches!(page(&mut walk(9, 9), bad), Err(GraphQlRefusal::Malformed { .. })), "{bad}");
        }
    }
}
