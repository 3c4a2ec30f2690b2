//! The static delivery page.

use std::fmt::Write as _;

use crate::status::{SpecStatus, State, counts};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Scion: delivery of requirements</title>\n<style>\n\
body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}\n\
table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}\n\
td,th{border-bottom:1px solid #d8dde3;padding:.3rem .5rem;text-align:left;vertical-align:top}\n\
td:first-child{white-space:nowrap;font-family:ui-monospace,monospace;font-size:13px}\n\
.verified{color:#116329}.landed{color:#7d4e00}.specified{color:#59636e}\n\
summary{cursor:pointer}\ncode{font-size:12px}\n\
@media (prefers-color-scheme:dark){body{background:#15191e;color:#dde3ea}td,th{border-color:#343c46}\
.verified{color:#57c06f}.landed{color:#e0a33e}.specified{color:#98a3af}}\n</style>\n<h1>Delivery of requirements</h1>\n\
<p>Computed from commit trailers and bound tests; see <code>specs/README.md</code>.</p>\n";

/// The page.
pub(crate) fn render(specs: &[SpecStatus]) -> String {
    let mut out = HEAD.to_owned();
    for status in specs {
        let (specified, landed, verified) = counts(status);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<h2>{}</h2>\n<p>{verified} verified, {landed} landed, {specified} specified</p>\n<table>",
            status.spec
        );
        let _ = writeln!(out, "<tr><th>Requirement<th>Title<th>State<th>Tests</tr>");
        for row in &status.requirements {
            let (class, word) = match row.state {
                State::Specified => ("specified", "specified"),
                State::Landed => ("landed", "landed"),
                State::Verified => ("verified", "verified"),
            };
            let _ = write!(out, "<tr><td>{}<td>{}<td class=\"{class}\">{word}<td>", row.id, escape(&row.title));
            if !row.tests.is_empty() {
                let _ = write!(out, "<details><summary>{}</summary>", row.tests.len());
                for test in &row.tests {
                    let _ = write!(out, "<code>{}</code><br>", escape(test));
                }
                out.push_str("</details>");
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</table>\n");
    }
    out.push_str("</html>\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
