//! A hash of what a graph says, whatever its order, prefixes and blank node labels: RDF Dataset Canonicalization (RDFC-1.0), then
//! SHA-256 of the canonical N-Quads.

use std::collections::BTreeMap;

use oxrdf::dataset::{CanonicalizationAlgorithm, CanonicalizationHashAlgorithm};
use oxrdf::{Dataset, GraphName, NamedOrBlankNode, Quad, Term};
use oxttl::TurtleParser;

use super::IntegrityRefusal;
use crate::digest::sha256;
use crate::id::Digest256;

/// The longest text, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// The most blank nodes of one connected part that are alike at first sight.
const MAX_ALIKE: usize = 256;
/// The most orders in which the alike neighbours of one connected part may have to be tried.
const MAX_ORDERS: u64 = 5040;

/// The hash of a Turtle text. It refuses a text over 16 MiB, and a graph built to make canonicalisation endless (RDFC-1.0, section
/// 7.1): many blank nodes that only their mutual links tell apart.
pub fn graph_hash(turtle: &[u8]) -> Result<Digest256, IntegrityRefusal> {
    if turtle.len() > MAX_BYTES {
        return Err(IntegrityRefusal::GraphTooSymmetric { what: "more than 16 MiB of text" });
    }
    let mut dataset = Dataset::new();
    for triple in TurtleParser::new().for_slice(turtle) {
        let triple = triple.map_err(|error| IntegrityRefusal::Graph { line: error.location().start.line + 1 })?;
        dataset.insert(&Quad::new(triple.subject, triple.predicate, triple.object, GraphName::DefaultGraph));
    }
    refuse_poison(&dataset)?;
    dataset.canonicalize(CanonicalizationAlgorithm::Rdfc10 { hash_algorithm: CanonicalizationHashAlgorithm::Sha256 });
    let mut lines: Vec<String> = dataset.iter().map(|quad| format!("{quad} .\n")).collect();
    lines.sort_unstable();
    Ok(sha256(lines.concat().as_bytes()))
}

/// What one blank node shows: its quads, with itself and other blank nodes made anonymous.
type FirstSight = Vec<(bool, String, Option<String>)>;

fn refuse_poison(dataset: &Dataset) -> Result<(), IntegrityRefusal> {
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    let mut sight: Vec<FirstSight> = Vec::new();
    let mut links: Vec<(usize, String, usize)> = Vec::new();
    for quad in dataset {
        let quad = quad.into_owned();
        let predicate = quad.predicate.as_str().to_owned();
        let mut node = |label: &str| {
            let next = index.len();
            let at = *index.entry(label.to_owned()).or_insert(next);
            if at == sight.len() {
                sight.push(FirstSight::new());
            }
            at
        };
        let subject = match &quad.subject {
            NamedOrBlankNode::BlankNode(blank) => Some(node(blank.as_str())),
            NamedOrBlankNode::NamedNode(_) => None,
        };
        let object = match &quad.object {
            Term::BlankNode(blank) => Some(node(blank.as_str())),
            _ => None,
        };
        if let Some(at) = subject {
            let other = object.is_none().then(|| quad.object.to_string());
            sight[at].push((true, predicate.clone(), other));
        }
        if let Some(at) = object {
            let other = subject.is_none().then(|| quad.subject.to_string());
            sight[at].push((false, predicate.clone(), other));
        }
        if let (Some(from), Some(to)) = (subject, object) {
            links.push((from, predicate, to));
        }
    }
    let mut classes: BTreeMap<FirstSight, Vec<usize>> = BTreeMap::new();
    for (at, mut shown) in sight.into_iter().enumerate() {
        shown.sort_unstable();
        classes.entry(shown).or_default().push(at);
    }
    let mut class = vec![0; index.len()];
    let mut alike = vec![false; index.len()];
    for (number, members) in classes.values().enumerate() {
        for member in members {
            (class[*member], alike[*member]) = (number, members.len() > 1);
        }
    }
    weigh(&links, &class, &alike)
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

/// Counts, for each connected part of alike blank nodes, what a canonicaliser has to try.
fn weigh(links: &[(usize, String, usize)], class: &[usize], alike: &[bool]) -> Result<(), IntegrityRefusal> {
    let mut parent: Vec<usize> = (0..class.len()).collect();
    let mut groups: BTreeMap<(usize, bool, &str, usize), u64> = BTreeMap::new();
    for (from, predicate, to) in links.iter().filter(|(from, _, to)| alike[*from] && alike[*to]) {
        let (one, other) = (root(&mut parent, *from), root(&mut parent, *to));
        parent[one] = other;
        *groups.entry((*from, true, predicate, class[*to])).or_default() += 1;
        *groups.entry((*to, false, predicate, class[*from])).or_default() += 1;
    }
    let mut orders: BTreeMap<usize, u64> = BTreeMap::new();
    for ((node, ..), size) in groups {
        let part = orders.entry(root(&mut parent, node)).or_insert(1);
        let tries = (1..=size).try_fold(1_u64, u64::checked_mul);
        *part = tries.map_or(u64::MAX, |tries| part.saturating_mul(tries));
        if *part > MAX_ORDERS {
            return Err(IntegrityRefusal::GraphTooSymmetric {
                what: "blank nodes that only their links to each other tell apart",
            });
        }
    }
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for at in (0..class.len()).filter(|at| alike[*at]) {
        let size = sizes.entry(root(&mut parent, at)).or_default();
        *size += 1;
        if *size > MAX_ALIKE {
            return Err(IntegrityRefusal::GraphTooSymmetric {
                what: "a chain of more than 256 blank nodes that look alike",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::format_collect, clippy::format_push_string, reason = "short texts of tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PREFIX: &str = "@prefix ex: <https://desk.example/> .\n";

    fn hash(body: &str) -> Result<Digest256, IntegrityRefusal> {
        graph_hash(format!("{PREFIX}{body}").as_bytes())
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn the_same_statements_have_the_same_hash() {
        let one = hash("ex:a ex:p ex:b, [ ex:q 1 ] . ex:c ex:r ( ex:x ex:y ) .").unwrap();
        let other = graph_hash(
            b"PREFIX d: <https://desk.example/>\nd:c d:r _:l1 . _:l1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:zz .\n\
              _:zz <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> d:y ; <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> () .\n\
              _:l1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> d:x .\n\
              _:n d:q \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> . d:a d:p _:n . d:a d:p d:b . d:a d:p d:b .",
        );
        assert_eq!(one, other.unwrap());
        for changed in [
            "ex:a ex:p ex:b, [ ex:q 2 ] . ex:c ex:r ( ex:x ex:y ) .",
            "ex:a ex:p ex:b, [ ex:q 1 ] . ex:c ex:r ( ex:y ex:x ) .",
            "ex:a ex:p ex:b . _:n ex:q 1 . ex:c ex:r ( ex:x ex:y ) .",
        ] {
            assert_ne!(one, hash(changed).unwrap(), "{changed}");
        }
    }

    /// The example of RDFC-1.0, appendix A.3 shows two nodes that only their neighbours tell apart.
    #[test]
    fn nodes_told_apart_by_their_neighbours_are_hashed() {
        let one = hash("ex:p ex:q _:e0, _:e1 . _:e0 ex:p _:e2 . _:e1 ex:p _:e3 . _:e2 ex:r _:e3 .").unwrap();
        let other = hash("_:b ex:p _:d . _:a ex:p _:c . ex:p ex:q _:a, _:b . _:d ex:r _:c .").unwrap();
        assert_eq!(one, other);
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn a_graph_built_to_be_endless_is_refused_at_once() {
        let mut clique = String::new();
        for from in 0..12 {
            for to in (0..12).filter(|to| *to != from) {
                clique.push_str(&format!("_:n{from} ex:p _:n{to} . "));
            }
        }
        let mut cubic = String::new();
        for at in 0..60 {
            for step in [1, 59, 30] {
                cubic.push_str(&format!("_:n{at} ex:p _:n{} . ", (at + step) % 60));
            }
        }
        let chain: String = (0..2000).map(|at| format!("_:n{at} ex:p _:n{} . ", at + 1)).collect();
        for poison in [clique, cubic, chain] {
            assert!(matches!(hash(&poison), Err(IntegrityRefusal::GraphTooSymmetric { .. })));
        }
        let honest: String =
            (0..2000).map(|at| format!("ex:c{at} ex:sub [ ex:on ex:p{at} ; ex:some ex:q ] . ")).collect();
        assert!(hash(&honest).is_ok());
        let list: String = (0..1000).map(|at| format!("ex:v{at} ")).collect();
        assert!(hash(&format!("ex:c ex:oneOf ( {list} ) .")).is_ok());
    }

    #[test]
    fn what_is_no_turtle_is_refused_with_its_line() {
        assert_eq!(graph_hash(b"<a:a> <a:b> <a:c> .\n<a:a> <a:b> ."), Err(IntegrityRefusal::Graph { line: 2 }));
    }

    proptest! {
        /// Proves: SDK-CONNECTOR-CONTROL-R650
        #[test]
        fn order_and_labels_do_not_matter(
            triples in proptest::collection::vec((0_u8..6, 0_u8..3, 0_u8..6), 1..14),
            seed in any::<u64>(),
        ) {
            // Even numbers are blank nodes, odd ones have names.
            let write = |order: &[(u8, u8, u8)], mark: &str| -> String {
                let node = |n: u8| if n.is_multiple_of(2) { format!("_:{mark}{n}") } else { format!("ex:n{n}") };
                order.iter().map(|(s, p, o)| format!("{} ex:p{p} {} .\n", node(*s), node(*o))).collect()
            };
            let mut shuffled = triples.clone();
            let turns = usize::try_from(seed % 97).unwrap_or_default() % triples.len();
            shuffled.rotate_left(turns);
            shuffled.reverse();
            let one = hash(&write(&triples, "a"));
            prop_assert_eq!(one.clone(), hash(&write(&shuffled, "zz")));
            if let Ok(one) = one {
                let mut more = triples.clone();
                more.push((1, 9, 1));
                prop_assert_ne!(Ok(one), hash(&write(&more, "a")));
            }
        }
    }
}
