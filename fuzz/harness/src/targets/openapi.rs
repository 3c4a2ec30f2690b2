//! Descriptions of APIs, and what operators say about them.

use scion_domain::api_curation::ApiCuration;
use scion_domain::client_profile::ClientProfile;
use scion_domain::http::Url;
use scion_domain::json::{Json, JsonObject};
use scion_openapi::{
    ConvertOptions, Operation, check_arguments, choose_auth, convert, curate, next_page_query, request_plan,
};

/// Every operation is converted or refused, every tool passes the client profile, and a call without arguments never panics. A
/// silent curation fits every document, and every secret that authentication wants has a name.
pub fn openapi(data: &[u8]) {
    if data.len() > 1 << 16 {
        return;
    }
    let Ok(model) = convert(data, &ConvertOptions::default()) else { return };
    assert_eq!(model.report.operations, model.operations.len() + model.report.refused.len());
    let tools: Vec<_> = model.operations.iter().map(Operation::tool).collect();
    assert_eq!(ClientProfile::COMMON.check_listing(&tools), []);
    for operation in &model.operations {
        let _ = request_plan(operation, &JsonObject::new());
        let _ = check_arguments(operation, &JsonObject::from([("body".to_owned(), Json::from("{}"))]));
    }
    let api = curate(model, &ApiCuration::default());
    assert!(api.is_ok(), "{:?}", api.err());
    let Ok(api) = api else { return };
    let mut ids: Vec<&str> =
        api.operations.iter().filter_map(|one| one.source.as_ref()).map(|plan| plan.id.as_str()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "source ids are unique");
    let _ = choose_auth(&api, &[], "fuzz", None);
    for scheme in api.security_schemes.keys() {
        let _ = choose_auth(&api, std::slice::from_ref(scheme), "fuzz", Some("id"));
    }
}

/// A curation is read or refused with a place, whatever it holds; one that was read can be laid over an API.
pub fn curation(data: &[u8]) {
    const API: &str = "openapi: 3.0.0\npaths:\n  /a: {get: {operationId: listA, tags: [t], parameters: [{name: page, in: query, schema: {type: integer}}], responses: {'200': {content: {application/json: {schema: {type: array, items: {type: object, properties: {id: {type: string}, n: {type: object, properties: {m: {type: string}}}}}}}}}}}}\n  /b: {post: {operationId: b, requestBody: {content: {application/json: {schema: {type: object, properties: {c: {type: string}}}}}}}}\n";
    let Ok(text) = std::str::from_utf8(data) else { return };
    let curation = match scion_config::curation(text, "c.yaml") {
        Ok(curation) => curation,
        Err(problems) => {
            assert!(!problems.problems.is_empty());
            return;
        }
    };
    let Ok(model) = convert(API.as_bytes(), &ConvertOptions::default()) else { return };
    match curate(model, &curation) {
        Err(problems) => assert!(problems.problems.iter().all(|problem| problem.line > 0)),
        Ok(api) => {
            for operation in &api.operations {
                assert_eq!(ClientProfile::COMMON.check(&operation.operation.tool()).len(), 0);
                let (arguments, _) = operation.complete(JsonObject::new());
                let _ = request_plan(&operation.operation, &arguments);
                let _ = operation.answer(Json::from(vec![Json::Null]), Some("page=2"));
            }
        }
    }
}

/// A next page stays on the path of its list, whatever names it.
pub fn next_page(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(list) = "https://api.example/v1/notes".parse::<Url>() else { return };
    let Ok(query) = next_page_query(&list, text, &["key".to_owned()]) else { return };
    let mut url = list.clone();
    url.set_query(Some(&query));
    assert_eq!((url.origin(), url.path()), (list.origin(), list.path()));
    assert!(url.fragment().is_none() && url.query_pairs().all(|(name, _)| name != "key"), "{query}");
}
