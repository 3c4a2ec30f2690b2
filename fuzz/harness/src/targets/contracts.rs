//! Contracts, shapes and declarations of packs.

use scion_domain::access_contract::{Statements, read_contracts};
use scion_domain::pack_declaration::{ConnectorPackDeclaration, views_fresh};
use scion_domain::semantic_coverage::DeclaredSemanticCoverage;

/// Contracts that were read are written and read as the same ones.
pub fn access_contract(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(contracts) = read_contracts(text) else { return };
    let mut out = Statements::default();
    for contract in &contracts {
        let written = contract.statements(&mut out);
        assert_eq!(written, Ok(()), "what was read is acceptable");
    }
    let text = out.to_turtle();
    // Two contracts can name a pair of property and field alike when one's IRI continues the other's.
    let nested = contracts.windows(2).any(|pair| pair[1].iri.starts_with(&pair[0].iri));
    assert!(nested || read_contracts(&text).as_ref() == Ok(&contracts), "{text}");
}

/// The pass over shapes ends, and what it found covers itself.
pub fn shapes(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(coverage) = DeclaredSemanticCoverage::parse(text) else { return };
    let classes = coverage.target_classes().iter().map(String::as_str);
    if let Err(refusal) = coverage.require_covers(classes) {
        assert!(refusal.to_string().starts_with("no shape has the path"), "{refusal}");
    }
}

/// A declaration that was read is the same one from its own document, and what it gives is written, readable and fresh.
pub fn pack_declaration(data: &[u8]) {
    let Ok(declaration) = ConnectorPackDeclaration::from_text(data, None) else { return };
    assert_eq!(ConnectorPackDeclaration::from_json(&declaration.to_json(), None).as_ref(), Ok(&declaration));
    let Ok(turtle) = declaration.to_turtle() else { panic!("what was read is acceptable") };
    let read = read_contracts(&turtle);
    assert!(read.is_ok_and(|read| read.len() == declaration.contracts.len()), "{turtle}");
    let views = declaration.views().into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())).collect();
    assert_eq!(views_fresh(&views, &declaration), Ok(()));
}
