//! The register: `specs/<SPEC>/requirements.md`, one `## <ID> <title>` per row.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// All rows of all specs, in the order of the files.
pub(crate) struct Register {
    /// Spec name to its rows.
    pub(crate) specs: BTreeMap<String, Vec<Row>>,
}

/// One requirement.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) title: String,
}

impl Register {
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut specs = BTreeMap::new();
        let folder = root.join("specs");
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path().join("requirements.md");
            if !path.is_file() {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let spec = entry.file_name().to_string_lossy().into_owned();
            let rows = rows(&text, &spec)?;
            specs.insert(spec, rows);
        }
        if specs.is_empty() {
            return Err(format!("{}: no requirements.md found", folder.display()));
        }
        Ok(Self { specs })
    }

    pub(crate) fn knows(&self, id: &str) -> bool {
        self.specs.values().flatten().any(|row| row.id == id)
    }
}

fn rows(text: &str, spec: &str) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        let Some(heading) = line.strip_prefix("## ") else { continue };
        let (id, title) = heading.split_once(' ').ok_or_else(|| format!("{spec}: `{heading}` has no title"))?;
        if !id.starts_with(spec) {
            return Err(format!("{spec}: {id} belongs to another spec"));
        }
        if rows.iter().any(|row| row.id == id) {
            return Err(format!("{spec}: {id} stands twice"));
        }
        rows.push(Row { id: id.to_owned(), title: title.to_owned() });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn rows_are_headings_and_stand_once() {
        let text = "# S\n\n## S-R001 One\n\ntext\n\n## S-R001.1 Two words\n";
        let read = rows(text, "S").unwrap();
        assert_eq!((read[1].id.as_str(), read[1].title.as_str()), ("S-R001.1", "Two words"));
        assert!(rows("## S-R1 a\n## S-R1 b\n", "S").is_err());
        assert!(rows("## T-R1 a\n", "S").is_err());
    }
}
