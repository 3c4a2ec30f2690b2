//! One call of a tool: arguments, request, answer.

use std::sync::Arc;

use scion_client::{GovernedClient, Request};
use scion_domain::http::{Method, ResponseRefusal, Url, header};
use scion_domain::json::{Json, JsonObject};
use scion_domain::openapi::PlanRefusal;
use scion_domain::pagination::http::next_link;
use scion_openapi::{
    CuratedOperation, NextPage, RequestPlan, check_arguments, next_page_of, next_page_query, request_plan, with_fixed,
};
use scion_serve::ToolRefusal;

use super::answer;

/// An operation and the client it is called with.
pub(super) struct Bound {
    pub(super) operation: CuratedOperation,
    pub(super) client: GovernedClient,
    pub(super) base: Url,
    /// Names of query parameters that carry credentials.
    pub(super) secret: Arc<[String]>,
}

impl Bound {
    pub(super) async fn call(&self, given: JsonObject) -> Result<Json, ToolRefusal> {
        self.operation.check(&given)?;
        let (arguments, next) = self.operation.complete(given);
        check_arguments(&self.operation.operation, &arguments)?;
        let plan = request_plan(&self.operation.operation, &arguments)?;
        if let Some((name, _)) = plan.cookies.first() {
            return Err(PlanRefusal::Cookie { argument: name.clone() }.into());
        }
        let list = self.address(&plan)?;
        let query = match next {
            None => plan.query_string(),
            Some(Json::String(next)) => {
                let given = next_page_query(&list, &next, &self.secret)?;
                // Whoever calls may choose the page, never what an operator fixed.
                with_fixed(&self.operation.operation, &self.operation.fixed, &given)
            }
            Some(_) => return Err(PlanRefusal::NextPage.into()),
        };
        let response = self.request(&plan, &query).send().await?;
        let host = response.url().host_str().unwrap_or_default().to_owned();
        let status = response.status();
        if status.is_redirection() {
            return Err(ResponseRefusal::Redirected { host, status: status.as_u16() }.into());
        }
        let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = answer::Kind::of(content_type);
        let links: Vec<&str> =
            response.headers().get_all(header::LINK).iter().filter_map(|value| value.to_str().ok()).collect();
        let target = if self.operation.next_page == Some(NextPage::Link) { next_link(&links.join(", ")) } else { None };
        let body = response.bytes().await?;
        let value = answer::read(&self.operation, kind, &body, &host, status.as_u16())?;
        let next = match target {
            None => None,
            Some(target) => {
                let page = next_page_of(&list, &target, &self.secret);
                // A list must not end in silence because its next page cannot be had.
                Some(page.ok_or_else(|| answer::next_elsewhere(&host))?)
            }
        };
        Ok(self.operation.answer(value, next.as_deref()))
    }

    /// The address of the operation, without its query.
    fn address(&self, plan: &RequestPlan) -> Result<Url, ToolRefusal> {
        let text = format!("{}{}", self.base.as_str().trim_end_matches('/'), plan.path);
        text.parse().map_err(|_| PlanRefusal::TooLarge { limit: scion_openapi::MAX_REQUEST_BYTES }.into())
    }

    fn request(&self, plan: &RequestPlan, query: &str) -> Request {
        let target = if query.is_empty() { plan.path.clone() } else { format!("{}?{query}", plan.path) };
        let mut request = self.client.request(plan.method.clone(), &target);
        for (name, value) in &plan.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &plan.body {
            request = request.body(plan.content_type.as_deref().unwrap_or("application/octet-stream"), body.clone());
        }
        let hints = self.operation.tool.hints;
        if hints.destructive == Some(true) {
            request = request.destructive();
        }
        // An operator says of this POST that it only reads.
        if plan.method == Method::POST && hints.is_read_only() {
            request = request.safe();
        }
        request
    }
}
