//! Tables on a terminal.

use comfy_table::{CellAlignment, Table, presets};

use crate::output::printable;

/// A table under a header. Columns listed in `right` are aligned to the right, as numbers are.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let mut table = Table::new();
    let mut style = presets::NOTHING;
    style = style.header_separator(comfy_table::LineStyle::none().fill('-').junction(' '));
    table.load_style(style);
    table.set_header(header.iter().map(|name| printable(name)).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)).collect::<Vec<_>>());
    }
    let columns = header.len();
    for (index, column) in table.column_iter_mut().enumerate() {
        let last = index + 1 == columns;
        column.set_padding((0, u16::from(!last)));
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up_and_no_line_ends_in_blanks() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["länger".to_owned(), "1000".to_owned()]];
        let text = super::render(&["name", "count"], &rows, &[1]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines.iter().all(|line| line.trim_end() == *line), "{text:?}");
        assert!(lines[2].ends_with("    1") && lines[3].ends_with(" 1000"), "{text}");
        assert!(super::render(&["only"], &[], &[]).starts_with("only\n"));
    }
}
