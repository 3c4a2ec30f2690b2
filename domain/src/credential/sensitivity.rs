//! Which configuration keys a tool surface must not show the value of (SDK-CONNECTOR-CONTROL-R900).

/// Words that make any key sensitive: credentials, places of this installation, and who works here.
const WORDS: [&str; 58] = [
    "access",
    "addr",
    "address",
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "bundle",
    "ca",
    "cert",
    "certificate",
    "config",
    "conn",
    "connection",
    "cookie",
    "cred",
    "credential",
    "credentials",
    "creds",
    "dir",
    "directory",
    "dsn",
    "email",
    "endpoint",
    "file",
    "folder",
    "home",
    "host",
    "hostname",
    "identity",
    "jwt",
    "key",
    "login",
    "mail",
    "oauth",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "path",
    "pem",
    "phone",
    "principal",
    "private",
    "proxy",
    "pwd",
    "refresh",
    "secret",
    "secrets",
    "session",
    "signature",
    "token",
    "tokens",
    "uri",
    "url",
    "urls",
    "username",
    "workspace",
];

/// Before `key`, words that make it a key of data and not one of a lock.
const DATA_KEYS: [&str; 9] = ["cache", "foreign", "group", "order", "partition", "primary", "row", "sort", "unique"];

/// Before `id` or `name`, words that make it say who works here.
const WHO: [&str; 13] = [
    "account",
    "agent",
    "app",
    "application",
    "client",
    "customer",
    "device",
    "organization",
    "owner",
    "project",
    "subscription",
    "tenant",
    "user",
];

/// Whether the value of a configuration key is redacted. The key is read word by word, whatever its style (`DESK_URL`,
/// `deskUrl`, `desk-url`). `declared` is what the connector's own metadata says; it can make a key sensitive, never harmless.
pub fn is_sensitive_key(key: &str, declared: bool) -> bool {
    let words = words(key);
    let before = |index: usize| index.checked_sub(1).map_or("", |before| words[before].as_str());
    declared
        || words.iter().enumerate().any(|(index, word)| match word.as_str() {
            "key" => !DATA_KEYS.contains(&before(index)),
            "id" | "name" => WHO.contains(&before(index)),
            "keys" => index > 0 && !DATA_KEYS.contains(&before(index)),
            word => WORDS.binary_search(&word).is_ok(),
        })
}

/// The words of a key in lower case: split at anything but letters and digits, and before a capital after a small letter or
/// before a small one.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let characters: Vec<char> = key.chars().collect();
    for (index, c) in characters.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let after_small = index > 0 && (characters[index - 1].is_lowercase() || characters[index - 1].is_numeric());
        let before_small = characters.get(index + 1).is_some_and(|next| next.is_lowercase());
        let after_capital = index > 0 && characters[index - 1].is_uppercase();
        if c.is_uppercase() && (after_small || (after_capital && before_small)) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::test_vectors::{load, section, text};

    /// Proves: SDK-CONNECTOR-CONTROL-R900, SDK-CONNECTOR-CONTROL-R900.5
    #[test]
    fn every_configuration_key_of_the_vectors() {
        let file = load("redaction.json");
        for case in section(&file, "configuration_keys") {
            let declared = case.get("metadata").and_then(|metadata| metadata.get("secret")).and_then(Json::as_bool);
            let sensitive = is_sensitive_key(text(case, "key"), declared == Some(true));
            assert_eq!(Some(sensitive), case.get("sensitive").unwrap().as_bool(), "{}", text(case, "key"));
        }
    }

    #[test]
    fn every_style_of_a_key_is_one() {
        assert!(WORDS.is_sorted());
        for key in
            ["DESK_API_KEY", "deskApiKey", "desk-api-key", "desk.api.key", "APIKey", "KEY", "OAuth2Token", "accessKeys"]
        {
            assert!(is_sensitive_key(key, false), "{key}");
        }
        for key in
            ["", "monkey", "keyboard", "PARTITION_KEYS", "CLIENT_TIMEOUT", "name", "id", "_", "tenancy", "PAGE_SIZE"]
        {
            assert!(!is_sensitive_key(key, false), "{key}");
        }
    }
}
