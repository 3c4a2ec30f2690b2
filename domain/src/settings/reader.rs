//! Typed reads of an environment that note every problem.

use std::collections::BTreeMap;
use std::time::Duration;

use super::SettingRefusal;
use crate::credential::SecretRef;
use crate::values::{to_boolean, to_csv};

pub(super) struct Reader<'e> {
    environment: &'e BTreeMap<String, String>,
    pub(super) problems: Vec<SettingRefusal>,
}

impl<'e> Reader<'e> {
    pub(super) fn new(environment: &'e BTreeMap<String, String>) -> Self {
        Self { environment, problems: Vec::new() }
    }

    /// The trimmed text of the first variable that is set and not blank.
    pub(super) fn raw(&self, variables: &[&str]) -> Option<&'e str> {
        variables.iter().filter_map(|name| self.environment.get(*name)).map(|text| text.trim()).find(|t| !t.is_empty())
    }

    pub(super) fn text(&self, variables: &[&str]) -> Option<String> {
        self.raw(variables).map(str::to_owned)
    }

    pub(super) fn list(&self, variables: &[&str]) -> Vec<String> {
        self.raw(variables).map(to_csv).unwrap_or_default()
    }

    pub(super) fn flag(&mut self, variable: &'static str) -> bool {
        match self.raw(&[variable]).map(|text| to_boolean(&text.into())) {
            None => false,
            Some(Ok(flag)) => flag,
            Some(Err(_)) => {
                self.problems.push(SettingRefusal::NotBoolean { variable });
                false
            }
        }
    }

    pub(super) fn number(&mut self, variable: &'static str, silent: u32, low: u32, high: u32) -> u32 {
        let Some(text) = self.raw(&[variable]) else { return silent };
        text.parse().ok().filter(|number| (low..=high).contains(number)).unwrap_or_else(|| {
            let (low, high) = (u64::from(low), u64::from(high));
            self.problems.push(SettingRefusal::OutOfRange { variable, low, high });
            silent
        })
    }

    pub(super) fn seconds(&mut self, variable: &'static str, silent: u32, low: u32, high: u32) -> Duration {
        Duration::from_secs(u64::from(self.number(variable, silent, low, high)))
    }

    pub(super) fn word<T: Copy>(&mut self, variable: &'static str, known: &'static str, words: &[(&str, T)]) -> T {
        let silent = words[0].1;
        let Some(text) = self.raw(&[variable]) else { return silent };
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.problems.push(SettingRefusal::UnknownWord { variable, known });
        }
        found.map_or(silent, |(_, value)| *value)
    }

    pub(super) fn reference(&mut self, variable: &'static str) -> Option<SecretRef> {
        let reference = SecretRef::parse(self.raw(&[variable])?).ok();
        if reference.is_none() {
            self.problems.push(SettingRefusal::NotAReference { variable });
        }
        reference
    }
}
