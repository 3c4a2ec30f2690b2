//! What becomes of operations: names, parameters, servers, security, paging, links, refusals.

mod common;

use std::collections::BTreeMap;

use common::{model, only};
use scion_domain::json::{Json, to_compact};
use scion_domain::pagination::http::WalkMode;
use scion_domain::refusal::Refusal as _;
use scion_openapi::{BodyKind, ConvertOptions, ParameterForm, Place, SchemeKind, Style, convert};

const DESK: &str = r"
openapi: 3.1.0
info: {title: Desk, version: 2.0.1}
servers:
  - url: https://{region}.desk.example/{base}
    variables: {region: {default: eu, enum: [eu, us]}, base: {default: v2}}
security: [{key: []}]
paths:
  /tickets:
    parameters:
      - {name: X-Trace, in: header, schema: {type: string}}
    get:
      operationId: listTickets
      summary: List tickets
      description: Newest first.
      tags: [tickets]
      parameters:
        - {name: page, in: query, schema: {type: integer, default: 1}}
        - {name: per_page, in: query, schema: {type: integer, maximum: 100}}
        - {name: 'filter[state]', in: query, schema: {type: string, enum: [open, closed]}}
        - {name: Authorization, in: header, schema: {type: string}}
      responses:
        '200':
          description: ok
          headers: {Link: {schema: {type: string}}}
          content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Ticket'}}}}
          links: {one: {operationId: getTicket, parameters: {id: '$response.body#/0/id'}}}
    post:
      operationId: createTicket
      security: [{login: [write]}, {}]
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Ticket'}}}}
      responses: {'201': {description: made}}
  /tickets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: getTicket, responses: {}}
    delete: {responses: {}}
    options: {responses: {}}
components:
  schemas: {Ticket: {type: object, required: [title], properties: {id: {type: string, readOnly: true}, title: {type: string}}}}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    login: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://id.example/token', scopes: {write: w}}}}
    cert: {type: mutualTLS}
";

#[test]
fn a_whole_document() {
    let model = model(DESK);
    let names: Vec<_> = model.operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names, ["create_ticket", "delete_tickets_by_id", "get_ticket", "list_tickets"]);
    let list = &model.operations[3];
    assert_eq!(list.description, "List tickets Newest first.");
    assert_eq!((list.hints.read_only, list.hints.destructive), (Some(true), Some(false)));
    let arguments: Vec<_> = list.parameters.iter().map(|p| (p.argument.as_str(), p.name.as_str(), p.place)).collect();
    assert_eq!(
        arguments,
        [
            ("filter_state", "filter[state]", Place::Query),
            ("page", "page", Place::Query),
            ("per_page", "per_page", Place::Query),
            ("x_trace", "X-Trace", Place::Header),
        ]
    );
    let paging = list.paging.as_ref().unwrap();
    assert_eq!((paging.mode, paging.items_path.as_str()), (WalkMode::Link, ""));
    assert_eq!((list.links[0].name.as_str(), list.links[0].target.as_str()), ("one", "getTicket"));
    let create = &model.operations[0];
    assert_eq!(create.body.as_ref().map(|body| (body.kind, body.required)), Some((BodyKind::Json, true)));
    assert_eq!(
        to_compact(&create.input_schema),
        r#"{"additionalProperties":false,"properties":{"body":{"additionalProperties":false,"properties":{"title":{"type":"string"}},"required":["title"],"type":"object"},"x_trace":{"type":"string"}},"required":["body"],"type":"object"}"#
    );
    assert_eq!(create.security.len(), 2);
    assert_eq!(create.security[0].schemes, [("login".to_owned(), vec!["write".to_owned()])]);
    assert_eq!(model.report.operations, 5);
    assert_eq!(model.report.refused_by_code(), BTreeMap::from([("openapi_method", 1)]));
    let notes: Vec<_> =
        model.report.notes.iter().map(|note| (note.operation.as_str(), note.subject.as_str())).collect();
    assert_eq!(notes, [("list_tickets", "Authorization"), ("delete_tickets_by_id", "")]);
}

#[test]
fn servers_have_variables() {
    let server = &model(DESK).servers[0];
    let fill = |pairs: &[(&str, &str)]| {
        server.fill(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    };
    assert_eq!(fill(&[]).unwrap(), "https://eu.desk.example/v2");
    assert_eq!(fill(&[("region", "us"), ("base", "v3")]).unwrap(), "https://us.desk.example/v3");
    for bad in [("region", "xx"), ("base", "a@b"), ("base", "a?b"), ("base", "//evil"), ("base", "a{region}")] {
        assert_eq!(fill(&[bad]).unwrap_err().code(), "openapi_server_variable", "{bad:?}");
    }
}

#[test]
fn schemes_become_declarations_that_name_their_secrets() {
    let model = model(DESK);
    let scheme = |name: &str| &model.security_schemes[name];
    assert_eq!(scheme("key").secrets("desk"), ["DESK_KEY_KEY"]);
    assert_eq!(scheme("key").declare("desk", None).unwrap().kind(), "api_key");
    assert_eq!(scheme("login").declare("desk", Some("me")).unwrap().kind(), "client_credentials");
    assert_eq!(
        scheme("login").declare("desk", None).unwrap_err().to_string(),
        "the security scheme `login` needs a client id"
    );
    assert!(matches!(scheme("cert").kind, SchemeKind::Unsupported { .. }));
    let text = r"
swagger: '2.0'
host: api.example
basePath: /v1
schemes: [http, https]
paths: {}
securityDefinitions:
  basic: {type: basic}
  token: {type: oauth2, flow: implicit, authorizationUrl: 'https://x.example'}
  code: {type: oauth2, flow: accessCode, tokenUrl: 'https://x.example/t'}
  key: {type: apiKey, in: query, name: k}
";
    let model = common::model(text);
    let kinds: Vec<_> =
        model.security_schemes.values().map(|scheme| scheme.declare("x", Some("c")).unwrap().kind()).collect();
    assert_eq!(kinds, ["basic", "refresh_token", "api_key", "bearer"]);
    let urls: Vec<_> = model.servers.iter().map(|server| server.url.as_str()).collect();
    assert_eq!(urls, ["https://api.example/v1", "http://api.example/v1"]);
    let oidc = "openapi: 3.0.0\npaths: {}\ncomponents: {securitySchemes: {o: {type: openIdConnect, openIdConnectUrl: 'https://id.example/.well-known/openid-configuration'}, b: {type: http, scheme: Bearer}, d: {type: http, scheme: digest}, c: {type: apiKey, in: cookie, name: s}}}";
    let model = common::model(oidc);
    assert_eq!(model.security_schemes["o"].declare("x", Some("c")).unwrap().kind(), "pkce");
    assert_eq!(model.security_schemes["b"].declare("x", None).unwrap().kind(), "bearer");
    for name in ["d", "c"] {
        let refusal = model.security_schemes[name].declare("x", None).unwrap_err();
        assert_eq!(refusal.code(), "openapi_security_scheme", "{name}");
    }
}

#[test]
fn paging_is_told_by_names_that_stand_at_both_ends() {
    let detect = |parameters: &str, schema: &str| {
        let operation = only(&format!(
            "  /a:\n    get:\n      operationId: list\n      parameters: [{parameters}]\n      \
             responses: {{'200': {{content: {{application/json: {{schema: {schema}}}}}}}}}\n"
        ));
        operation.paging
    };
    let list = "{type: array, items: {type: object}}";
    let string = "schema: {type: string}";
    let cursor = detect(
        &format!("{{name: pageToken, in: query, {string}}}, {{name: pageSize, in: query, {string}}}"),
        &format!("{{type: object, properties: {{items: {list}, nextPageToken: {{type: string}}}}}}"),
    )
    .unwrap();
    assert_eq!(
        (cursor.mode, cursor.cursor_param.as_str(), cursor.cursor_path.as_str(), cursor.items_path.as_str()),
        (WalkMode::Cursor, "pageToken", "nextPageToken", "items")
    );
    assert_eq!(cursor.page_size_param, "pageSize");
    let nested = detect(
        &format!("{{name: after, in: query, {string}}}"),
        &format!("{{type: object, properties: {{data: {list}, paging: {{type: object, properties: {{after: {{type: string}}}}}}}}}}"),
    )
    .unwrap();
    assert_eq!(nested.cursor_path, "paging.after");
    let page = detect(&format!("{{name: page, in: query, {string}}}"), list).unwrap();
    assert_eq!((page.mode, page.items_path.as_str()), (WalkMode::Page, ""));
    let offset = detect(
        &format!("{{name: offset, in: query, {string}}}, {{name: limit, in: query, {string}}}"),
        &format!("{{type: object, properties: {{rows: {list}}}}}"),
    )
    .unwrap();
    assert_eq!((offset.mode, offset.items_path.as_str()), (WalkMode::Offset, "rows"));
    let next =
        detect("", &format!("{{type: object, properties: {{results: {list}, next: {{type: string, format: uri}}}}}}"))
            .unwrap();
    assert_eq!((next.mode, next.next_path.as_str()), (WalkMode::NextUrl, "next"));
    // One end only, or no list.
    assert_eq!(detect(&format!("{{name: cursor, in: query, {string}}}"), list), None);
    assert_eq!(
        detect(&format!("{{name: page, in: query, {string}}}"), "{type: object, properties: {a: {type: string}}}"),
        None
    );
    assert_eq!(detect(&format!("{{name: offset, in: query, {string}}}"), list), None);
}

#[test]
fn swagger_2_has_its_own_ways() {
    let text = r"
swagger: '2.0'
consumes: [application/json]
paths:
  /f:
    post:
      operationId: upload
      consumes: [multipart/form-data]
      parameters:
        - {name: file, in: formData, type: file, required: true}
        - {name: tags, in: formData, type: array, items: {type: string}, collectionFormat: pipes}
        - {name: ids, in: query, type: array, items: {type: integer}, collectionFormat: ssv}
        - {name: more, in: query, type: array, items: {type: string}, collectionFormat: multi}
      responses: {}
  /b:
    put:
      operationId: replace
      parameters: [{name: b, in: body, required: true, schema: {type: object, properties: {a: {type: string, x-nullable: true}}}}]
      responses: {'200': {schema: {type: object, properties: {a: {type: string}}}}}
";
    let model = model(text);
    let replace = &model.operations[0];
    assert_eq!(
        to_compact(&replace.input_schema),
        r#"{"additionalProperties":false,"properties":{"body":{"additionalProperties":false,"properties":{"a":{"type":["string","null"]}},"type":"object"}},"required":["body"],"type":"object"}"#
    );
    assert!(replace.output_schema.is_some());
    let upload = &model.operations[1];
    let body = upload.body.as_ref().unwrap();
    assert_eq!((body.kind, body.required), (BodyKind::Multipart, true));
    let styles: Vec<_> = upload.parameters.iter().map(|parameter| parameter.form).collect();
    let styled = |style, explode| ParameterForm::Styled { style, explode, allow_reserved: false };
    assert_eq!(styles, [styled(Style::SpaceDelimited, false), styled(Style::Form, true)]);
}

#[test]
fn each_refused_operation_is_counted_and_explained() {
    let text = r"
openapi: 3.0.0
paths:
  /external: {get: {operationId: a, parameters: [{$ref: 'other.yaml#/p'}]}}
  /lost: {get: {operationId: b, parameters: [{$ref: '#/components/parameters/none'}]}}
  /loop: {get: {operationId: c, parameters: [{$ref: '#/components/parameters/x'}]}}
  /hole/{id}: {get: {operationId: d}}
  no-slash: {get: {operationId: e}}
  /brace/{: {get: {operationId: f}}
  /..: {get: {operationId: f2}}
  /shape: {get: 7, post: {parameters: [3]}, put: {parameters: [{name: a, in: nowhere}]}}
  /body: {post: {requestBody: {content: {application/json: {schema: {$ref: 'https://x.example/s?key=secret'}}}}}}
  /item: {$ref: './item.yaml'}
  /good: {get: {operationId: good, responses: {'200': {content: {application/json: {schema: {$ref: 'a.json'}}}}}}}
components: {parameters: {x: {$ref: '#/components/parameters/y'}, y: {$ref: '#/components/parameters/x'}}}
";
    let model = model(text);
    assert_eq!(model.operations.len(), 1);
    assert_eq!(model.operations[0].output_schema, None);
    assert_eq!(
        model.report.refused_by_code(),
        BTreeMap::from([
            ("openapi_external_reference", 3),
            ("openapi_unresolved_reference", 1),
            ("openapi_reference_loop", 1),
            ("openapi_path_parameter", 1),
            ("openapi_path", 3),
            ("openapi_shape", 3),
        ])
    );
    let texts: String = model.report.refused.iter().map(|refused| refused.refusal.to_string()).collect();
    assert!(!texts.contains("secret") && texts.contains("`other.yaml#/p` is outside the document"), "{texts}");
    assert!(texts.contains("the path has {id} and no parameter of that name"), "{texts}");
}

#[test]
fn paths_with_a_query_or_a_fragment_are_understood() {
    let text = r"
openapi: 3.0.0
paths:
  '/#Action=List': {get: {operationId: list_things}}
  '/a?op=x&lat={lat}': {get: {operationId: a, parameters: [{name: lat, in: path, required: true, schema: {type: number}}]}}
";
    let model = model(text);
    assert_eq!(model.report.refused, []);
    assert_eq!((model.operations[1].path.as_str(), model.operations[0].path.as_str()), ("/", "/a"));
    let call = scion_domain::json::parse(r#"{"lat":1.5}"#).unwrap();
    let plan = scion_openapi::request_plan(&model.operations[0], call.as_object().unwrap()).unwrap();
    assert_eq!((plan.path.as_str(), plan.query_string().as_str()), ("/a", "op=x&lat=1.5"));
}

#[test]
fn the_same_bytes_give_the_same_model_in_json_and_yaml() {
    let first = format!("{:?}", model(DESK));
    assert_eq!(first, format!("{:?}", model(DESK)));
    let json = r#"{"openapi":"3.0.0","paths":{"/a":{"get":{"operationId":"a","parameters":[{"name":"q","in":"query","schema":{"type":"string"}}]}}}}"#;
    let yaml = "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      operationId: a\n      parameters:\n      - name: q\n        in: query\n        schema: {type: string}\n";
    assert_eq!(format!("{:?}", model(json)), format!("{:?}", model(yaml)));
}

#[test]
fn a_prefix_stands_before_each_name() {
    let options = ConvertOptions { prefix: "desk".to_owned(), ..ConvertOptions::default() };
    let model = convert(DESK.as_bytes(), &options).unwrap();
    assert!(model.operations.iter().all(|operation| operation.name.starts_with("desk_")));
    assert!(
        model
            .operations
            .iter()
            .all(|operation| operation.input_schema.get("type").and_then(Json::as_str) == Some("object"))
    );
}
