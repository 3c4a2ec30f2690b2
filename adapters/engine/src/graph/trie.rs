//! A map from digests to digests in a key-value store with compare-and-swap. A node is a leaf with a few entries, or says that its
//! sixteen children hold them. Keys are digests, so leaves fill evenly.

use std::collections::BTreeMap;

use scion_domain::id::Digest256;
use scion_domain::sink::StoreRefusal;
use scion_ports::{KeyValueEntry, KeyValueStore as _};
use tokio::task::JoinSet;

use super::NAMESPACE;
use crate::EngineKeyValues;

/// Entries of a leaf before it is split: 8 KiB.
const LEAF: usize = 128;
/// Requests under way at once.
const AT_ONCE: usize = 16;
const LEAF_MARK: u8 = b'L';
const SPLIT: &[u8] = b"S";

/// What becomes of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) key: Digest256,
    /// The new digest; `None` removes it.
    pub(super) digest: Option<Digest256>,
}

/// A trie below a prefix of keys.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    prefix: String,
}

type Leaf = BTreeMap<[u8; 32], [u8; 32]>;

enum Node {
    Leaf(Leaf),
    Split,
}

impl Trie {
    pub(super) fn new(prefix: String) -> Self {
        Self { prefix }
    }

    fn place(&self, path: &str) -> String {
        format!("{}/{path}", self.prefix)
    }

    async fn node(&self, values: &EngineKeyValues, path: &str) -> Result<(Option<u64>, Node), StoreRefusal> {
        match values.get(NAMESPACE, &self.place(path)).await? {
            None => Ok((None, Node::Leaf(Leaf::new()))),
            Some(entry) => Ok((Some(entry.version), read(&entry).ok_or(StoreRefusal::Corrupt)?)),
        }
    }

    /// The digests of keys, in their order.
    pub(super) async fn get(
        &self,
        values: &EngineKeyValues,
        keys: &[Digest256],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        let mut found = vec![None; keys.len()];
        let mut waiting = vec![(String::new(), (0..keys.len()).collect::<Vec<_>>())];
        let mut running = JoinSet::new();
        loop {
            while running.len() < AT_ONCE
                && let Some((path, members)) = waiting.pop()
            {
                let (trie, values) = (self.clone(), values.clone());
                running.spawn(async move {
                    let node = trie.node(&values, &path).await;
                    (path, members, node)
                });
            }
            let Some(ended) = running.join_next().await else { return Ok(found) };
            let (path, members, node) =
                ended.map_err(|_| StoreRefusal::Unavailable { what: "a lookup was cut off" })?;
            match node?.1 {
                Node::Leaf(leaf) => {
                    for member in members {
                        found[member] = leaf.get(keys[member].as_bytes()).map(|digest| Digest256::from_bytes(*digest));
                    }
                }
                Node::Split => waiting.extend(by_child(&path, members, |member| keys[*member])),
            }
        }
    }

    /// Makes the changes; of two for one key the later counts. Each leaf changes as a whole.
    pub(super) async fn apply(&self, values: &EngineKeyValues, changes: Vec<Change>) -> Result<(), StoreRefusal> {
        let mut last: BTreeMap<[u8; 32], Change> = BTreeMap::new();
        for change in changes {
            last.insert(*change.key.as_bytes(), change);
        }
        if last.is_empty() {
            return Ok(());
        }
        let mut waiting = vec![(String::new(), last.into_values().collect::<Vec<_>>())];
        let mut running = JoinSet::new();
        loop {
            while running.len() < AT_ONCE
                && let Some((path, changes)) = waiting.pop()
            {
                let (trie, values) = (self.clone(), values.clone());
                running.spawn(async move { trie.change(&values, path, changes).await });
            }
            let Some(ended) = running.join_next().await else { return Ok(()) };
            waiting.extend(ended.map_err(|_| StoreRefusal::Unavailable { what: "a change was cut off" })??);
        }
    }

    /// Changes one leaf, or gives what its children have to do.
    async fn change(
        &self,
        values: &EngineKeyValues,
        path: String,
        changes: Vec<Change>,
    ) -> Result<Vec<(String, Vec<Change>)>, StoreRefusal> {
        for _ in 0..16 {
            let (version, node) = self.node(values, &path).await?;
            let Node::Leaf(mut leaf) = node else {
                return Ok(by_child(&path, changes, |change| change.key));
            };
            let before = leaf.clone();
            for change in &changes {
                match change.digest {
                    Some(digest) => leaf.insert(*change.key.as_bytes(), *digest.as_bytes()),
                    None => leaf.remove(change.key.as_bytes()),
                };
            }
            if leaf == before {
                return Ok(Vec::new());
            }
            let place = self.place(&path);
            let written = if leaf.len() <= LEAF || path.len() >= 64 {
                values.compare_and_swap(NAMESPACE, &place, version, &write(&leaf)).await
            } else {
                // Children first: until the mark is there nobody reads them, and a split that broke off is made again.
                self.split(values, &path, &leaf).await?;
                values.compare_and_swap(NAMESPACE, &place, version, SPLIT).await
            };
            match written {
                Err(StoreRefusal::Conflict { .. }) => {}
                other => return other.map(|_| Vec::new()),
            }
        }
        Err(StoreRefusal::Conflict { key: self.place(&path) })
    }

    async fn split(&self, values: &EngineKeyValues, path: &str, leaf: &Leaf) -> Result<(), StoreRefusal> {
        let entries: Vec<([u8; 32], [u8; 32])> = leaf.iter().map(|(key, digest)| (*key, *digest)).collect();
        for digit in 0..16_u32 {
            let child = format!("{path}{}", char::from_digit(digit, 16).unwrap_or('0'));
            let own = |(key, _): &&([u8; 32], [u8; 32])| nibble(key, path.len()) == digit;
            let part: Leaf = entries.iter().filter(own).copied().collect();
            let place = self.place(&child);
            let version = values.get(NAMESPACE, &place).await?.map(|entry| entry.version);
            // One child in a full split may hold everything, when a key were made for it; it is split when it is next changed.
            values.compare_and_swap(NAMESPACE, &place, version, &write(&part)).await?;
        }
        Ok(())
    }
}

fn nibble(key: &[u8; 32], depth: usize) -> u32 {
    let byte = key[(depth / 2).min(31)];
    u32::from(if depth.is_multiple_of(2) { byte >> 4 } else { byte & 15 })
}

fn by_child<T>(path: &str, items: Vec<T>, key: impl Fn(&T) -> Digest256) -> Vec<(String, Vec<T>)> {
    let mut children: BTreeMap<u32, Vec<T>> = BTreeMap::new();
    for item in items {
        children.entry(nibble(key(&item).as_bytes(), path.len())).or_default().push(item);
    }
    let named = |digit: u32| format!("{path}{}", char::from_digit(digit, 16).unwrap_or('0'));
    children.into_iter().map(|(digit, items)| (named(digit), items)).collect()
}

fn write(leaf: &Leaf) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + 64 * leaf.len());
    bytes.push(LEAF_MARK);
    for (key, digest) in leaf {
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(digest);
    }
    bytes
}

fn read(entry: &KeyValueEntry) -> Option<Node> {
    let bytes = entry.value.as_slice();
    if bytes == SPLIT {
        return Some(Node::Split);
    }
    let (mark, rest) = bytes.split_first()?;
    if *mark != LEAF_MARK || rest.len() % 64 != 0 {
        return None;
    }
    let half = |part: &[u8]| <[u8; 32]>::try_from(part).ok();
    rest.chunks(64).map(|pair| Some((half(&pair[..32])?, half(&pair[32..])?))).collect::<Option<Leaf>>().map(Node::Leaf)
}
