//! Next pages that the API names itself. A caller hands back what a previous answer named; it may lead to another page of the same
//! list and nowhere else, whoever wrote it.

use scion_domain::http::Url;
use scion_domain::openapi::PlanRefusal;

/// The longest text that is read.
const MAX_CHARS: usize = 8192;

/// The query of the next page. `given` is a query, or an address with the same origin and path as `list`, the address of the list
/// itself. Parameters named in `secret` are left out: credentials are added by whoever sends the request.
pub fn next_page_query(list: &Url, given: &str, secret: &[String]) -> Result<String, PlanRefusal> {
    let refused = || PlanRefusal::NextPage;
    if given.len() > MAX_CHARS || given.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(refused());
    }
    let address = given.starts_with("http://") || given.starts_with("https://") || given.starts_with('/');
    let mut url = list.clone();
    if address {
        url = list.join(given).map_err(|_| refused())?;
        let same_place = url.origin() == list.origin() && url.path() == list.path();
        if !same_place || !url.username().is_empty() || url.password().is_some() {
            return Err(refused());
        }
    } else {
        url.set_query(Some(given.strip_prefix('?').unwrap_or(given).split('#').next().unwrap_or_default()));
    }
    let query = without(url.query().unwrap_or_default(), secret);
    if query.is_empty() { Err(refused()) } else { Ok(query) }
}

/// The next page that the target of a `Link` leads to, as [`next_page_query`] takes it; `None` when it leads to another place.
pub fn next_page_of(list: &Url, target: &str, secret: &[String]) -> Option<String> {
    let url = list.join(target).ok()?;
    next_page_query(list, url.as_str(), secret).ok()
}

fn without(query: &str, secret: &[String]) -> String {
    let kept = query.split('&').filter(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
        !pair.is_empty() && !secret.iter().any(|secret| *secret == name)
    });
    kept.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_next_page_stays_in_its_list() {
        let list: Url = "https://api.example/v1/notes?page=1".parse().unwrap();
        let secret = vec!["api key".to_owned()];
        for (given, query) in [
            ("page=2&per_page=10", "page=2&per_page=10"),
            ("?page=2", "page=2"),
            ("https://api.example/v1/notes?page=2&api%20key=s3cret#x", "page=2"),
            ("https://api.example:443/v1/notes?cursor=a%2Fb", "cursor=a%2Fb"),
            ("/v1/notes?page=2", "page=2"),
        ] {
            assert_eq!(next_page_query(&list, given, &secret).unwrap(), query, "{given}");
        }
        for given in [
            "",
            "?",
            "https://api.example/v1/notes",
            "https://evil.example/v1/notes?page=2",
            "https://api.example/v1/users?page=2",
            "https://u:p@api.example/v1/notes?page=2",
            "//evil.example/v1/notes?page=2",
            "/v1/notes/../users?page=2",
            "http://api.example/v1/notes?page=2",
            "page=2 ",
        ] {
            assert_eq!(next_page_query(&list, given, &secret), Err(PlanRefusal::NextPage), "{given}");
        }
        assert!(next_page_query(&list, &"a".repeat(9000), &secret).is_err());
        assert_eq!(next_page_of(&list, "?page=3", &secret).as_deref(), Some("page=3"));
        assert_eq!(next_page_of(&list, "https://api.example/other?page=3", &secret), None);
    }
}
