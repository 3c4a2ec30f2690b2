//! The `Link` header (RFC 8288).

/// The target of the first link whose relation is `next`. Relations are compared without case, may be several in one
/// parameter, and only the first `rel` of a link counts.
pub fn next_link(header: &str) -> Option<String> {
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        let body = rest.strip_prefix('<')?;
        let (target, after) = body.split_once('>')?;
        let (relation, after) = relation(after);
        if relation.is_some_and(|names| names.split_ascii_whitespace().any(|name| name.eq_ignore_ascii_case("next"))) {
            return Some(target.to_owned());
        }
        rest = after;
    }
}

/// The value of the first `rel` parameter of one link, and what follows the link.
fn relation(mut rest: &str) -> (Option<String>, &str) {
    let mut found = None;
    loop {
        rest = rest.trim_start();
        let Some(parameter) = rest.strip_prefix(';') else { break };
        let parameter = parameter.trim_start();
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let (name, after) = parameter.split_at(end);
        let (value, after) = match after.strip_prefix('=') {
            None => (String::new(), after),
            Some(value) => value_of(value.trim_start()),
        };
        if name.trim().eq_ignore_ascii_case("rel") && found.is_none() {
            found = Some(value);
        }
        rest = after;
    }
    // Whatever is left before the next comma is not a parameter.
    (found, rest.find(',').map_or("", |comma| &rest[comma..]))
}

/// A quoted or plain parameter value, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut escaped = false;
    for (index, c) in quoted.char_indices() {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return (value, &quoted[index + 1..]),
            _ => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::next_link;

    #[test]
    fn links_are_read_as_the_rfc_says() {
        for (header, target) in [
            ("<https://a/2>; rel=\"next\"", Some("https://a/2")),
            ("<https://a/1>; rel=prev , <https://a/2>;rel=NEXT", Some("https://a/2")),
            ("<https://a/2>; rel=\"last next\"", Some("https://a/2")),
            ("<https://a/2>; title=\"a, <b>; rel=x\"; rel=next", Some("https://a/2")),
            ("<https://a/2>; rel=prev; rel=next", None),
            ("<https://a/2>; anchor; rel=\"next\"", Some("https://a/2")),
            ("<https://a/2>; title=\"\\\"\"; rel=next", Some("https://a/2")),
            ("<https://a/2>; rel=\"nextpage\"", None),
            ("<https://a/2", None),
            ("rel=next", None),
            (",,", None),
            ("", None),
            ("<x>; rel=\"", None),
        ] {
            assert_eq!(next_link(header).as_deref(), target, "{header}");
        }
    }
}
