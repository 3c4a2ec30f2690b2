//! The declaration: four tools, and on each the source a sync runner may copy.

use std::sync::Arc;

use scion::domain::json::{Json, JsonObject};
use scion::serve::{Args, Connector, ConnectorBuilder, Edge, Mapping, Param, Source, Tool, ToolBuilder, ToolRefusal};

use crate::history::{History, Page};
use crate::records;
use crate::refusal::GitRefusal;

/// The connector for one repository. Its name and version are those of this package, declared once in `Cargo.toml`.
pub fn git_history(history: History) -> ConnectorBuilder {
    let history = Arc::new(history);
    Connector::builder(scion::identity!())
        .title("Git history")
        .instructions("Read-only access to the history of one git repository: commits, authors, files and tags.")
        .tool(list_authors(&history))
        .tool(list_commits(&history))
        .tool(list_commit_files(&history))
        .tool(list_tags(&history))
}

fn list_authors(history: &Arc<History>) -> Tool {
    let authors = Source::new("authors", "Author", "id")
        .description("Everyone who wrote a commit that HEAD reaches")
        .title_field("name")
        .page("page", Some("page_size"), 500)
        .mapping(Mapping::class("Author").same_names(&["name"]));
    let tool = Tool::read("git_list_authors")
        .title("List authors")
        .description("Authors of the history. An author's id is a digest; no e-mail address is given out.")
        .output_schema(list_of(&[("id", "string"), ("name", "string")]))
        .source(authors);
    paged(tool, history, |history, _args, page| Ok(history.authors(page)?.iter().map(records::author).collect()))
}

fn list_commits(history: &Arc<History>) -> Tool {
    let commits = Source::new("commits", "Commit", "id")
        .description("Every commit that HEAD reaches, oldest first")
        .title_field("summary")
        .text_field("message")
        .page("page", Some("page_size"), 200)
        // The bound of a sweep that only feeds a fan-out; the silent one would stop `files` after 20,000 commits.
        .preset("max_pages", 100_000_u64)
        .edge(Edge::new("author", "author_id", "Author").to_source("authors"))
        .edge(Edge::new("parent", "parents", "Commit").to_source("commits"))
        .edge(Edge::new("touches", "files", "File").to_source("files"))
        .mapping(Mapping::class("Commit").same_names(&[
            "short",
            "summary",
            "message",
            "committed_at",
            "authored_at",
            "files_count",
        ]));
    let tool = Tool::read("git_list_commits")
        .title("List commits")
        .description("Commits that HEAD reaches, oldest first, with their author, parents and changed files.")
        .output_schema(list_of(&[
            ("id", "string"),
            ("short", "string"),
            ("summary", "string"),
            ("message", "string"),
            ("committed_at", "string?"),
            ("authored_at", "string?"),
            ("author_id", "string"),
            ("parents", "strings"),
            ("files", "strings"),
            ("files_count", "integer"),
        ]))
        .source(commits);
    paged(tool, history, |history, _args, page| Ok(history.commits(page)?.iter().map(records::commit).collect()))
}

fn list_commit_files(history: &Arc<History>) -> Tool {
    let files = Source::new("files", "File", "id")
        .description("Every file that a commit of the history touched")
        .title_field("name")
        .for_each("commits", "commit", "id")
        // The largest fan-out there is; the silent one would stop after 200 commits.
        .preset("max_fan_out", 100_000_u64)
        // Asking for the size as a fixed argument tells the runner that a shorter page is the last one. That spares one
        // call per commit; where the size is a paging parameter, a server might cut pages, so only an empty page ends.
        .page("page", None, 1_000)
        .argument("page_size", 1_000)
        .mapping(Mapping::class("File").same_names(&["name", "extension", "directory"]));
    let tool = Tool::read("git_list_commit_files")
        .title("List the files of a commit")
        .description("Files that a commit changed against its first parent; a first commit is compared with nothing.")
        .param(Param::text("commit", "The full id of the commit").up_to(64))
        .output_schema(list_of(&[
            ("id", "string"),
            ("name", "string"),
            ("extension", "string"),
            ("directory", "string"),
        ]))
        .source(files);
    paged(tool, history, |history, args, page| {
        let files = history.changed_files(args.text("commit")?, page)?;
        Ok(files.iter().map(|path| records::file(path)).collect())
    })
}

fn list_tags(history: &Arc<History>) -> Tool {
    let tags = Source::new("tags", "Tag", "id")
        .description("Every tag that leads to a commit")
        .title_field("name")
        .page("page", Some("page_size"), 500)
        .edge(Edge::new("tag_of", "commit", "Commit").to_source("commits"))
        .mapping(Mapping::class("Tag").same_names(&["name", "tagged_at"]));
    let tool = Tool::read("git_list_tags")
        .title("List tags")
        .description("Tags by name, each with the commit it leads to and its date.")
        .output_schema(list_of(&[("id", "string"), ("name", "string"), ("commit", "string"), ("tagged_at", "string?")]))
        .source(tags);
    paged(tool, history, |history, _args, page| Ok(history.tags(page)?.iter().map(records::tag).collect()))
}

/// All four tools page alike, and all of them read the disk, which belongs on a blocking thread.
fn paged<F>(tool: ToolBuilder, history: &Arc<History>, read: F) -> Tool
where
    F: Fn(&History, &Args, Page) -> Result<Vec<Json>, ToolRefusal> + Clone + Send + Sync + 'static,
{
    let history = Arc::clone(history);
    tool.param(Param::integer("page", "Page number, from 1").between(1, 1_000_000_000).or(1_i64))
        .param(Param::integer("page_size", "Records a page").between(1, 1_000).or(200_i64))
        .handle(move |_context, args| {
            let (history, read) = (Arc::clone(&history), read.clone());
            async move {
                let page = Page { number: args.count("page")?, size: args.count("page_size")? };
                let records = tokio::task::spawn_blocking(move || read(&history, &args, page))
                    .await
                    .map_err(|_| GitRefusal::Unreadable { what: "history" })??;
                Ok(records.into())
            }
        })
}

/// The output schema of a list of flat records. A `?` after the type means that the value may be null.
fn list_of(fields: &[(&str, &str)]) -> Json {
    let property = |kind: &str| match kind.strip_suffix('?') {
        Some(base) => Json::from([("type", Json::from(vec![base.into(), "null".into()]))]),
        None if kind == "strings" => {
            Json::from([("type", "array".into()), ("items", Json::from([("type", "string".into())]))])
        }
        None => Json::from([("type", kind.into())]),
    };
    let properties: JsonObject = fields.iter().map(|(name, kind)| ((*name).to_owned(), property(kind))).collect();
    let required: Vec<Json> = fields.iter().map(|(name, _)| (*name).into()).collect();
    Json::from([
        ("type", "array".into()),
        (
            "items",
            Json::from([("type", "object".into()), ("properties", properties.into()), ("required", required.into())]),
        ),
    ])
}
