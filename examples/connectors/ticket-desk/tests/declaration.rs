//! The shortest declaration that serves, as the guide for authors shows it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use scion::domain::surface::CallScope;
use scion::ports::ToolSurface as _;

#[expect(unreachable_pub, reason = "the guide's text, word for word: there it is the module of a crate")]
mod github {
    use scion::prelude::*;

    #[scion::model]
    pub struct Repo {
        id: u64,
        full_name: String,
        updated_at: Timestamp,
    }

    pub struct GitHub {
        client: GovernedClient,
    }

    impl Api for GitHub {
        fn new(client: GovernedClient) -> Self {
            Self { client }
        }
    }

    #[scion::operations(prefix = "github")]
    impl GitHub {
        /// List a user's repositories.
        #[operation(get = "/user/repos", source(record = "Repository", id = "id", cursor = "updated_at"))]
        async fn list_repos(&self, page: Option<u32>, since: Option<Timestamp>) -> Result<Page<Repo>, ApiError> {
            let mut request = self.client.get("/user/repos").query("page", page.unwrap_or(1));
            if let Some(since) = since {
                request = request.query("since", since);
            }
            let repos: Vec<Repo> = request.json().await?;
            let more = !repos.is_empty();
            Ok(Page::counted(repos, more))
        }
    }

    scion::connector! { name: "github-mcp", api: GitHub, auth: Bearer::env("GITHUB_TOKEN"), content: "tests/github-content/" }
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.1
#[tokio::test]
async fn the_shortest_declaration_is_a_connector() {
    let settings = BTreeMap::from([("GITHUB_BASE_URL".to_owned(), "https://api.github.com".to_owned())]);
    let surface = github::connector().surface_with(&settings, scion::http::system_ports().unwrap()).await.unwrap();
    let tools = surface.list_tools(&CallScope::default()).await.unwrap();
    let [tool] = tools.as_slice() else { panic!("{tools:?}") };
    assert_eq!(tool.name, "github_list_repos");
    assert_eq!(tool.description.as_deref(), Some("List a user's repositories."));
    assert!(tool.hints.is_read_only());
    assert!(tool.meta.contains_key("connector_sources"), "{:?}", tool.meta);
}
