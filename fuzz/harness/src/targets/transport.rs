use scion_domain::proxy::{ProxyProfile, ProxyProfiles};
use scion_domain::tls::{Material, TlsProfiles, Trust};

/// Lines, each material or the address of a proxy, and the whole as a document of profiles: what was read is written and read
/// as the same, and a refusal repeats nothing that might be a key or a password.
pub fn transport_profiles(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines().take(64) {
        match Material::parse(line) {
            Ok(material) => assert_eq!(Material::parse(&material.to_string()).as_ref(), Ok(&material), "{line}"),
            Err(refusal) => assert!(line.len() < 16 || !refusal.to_string().contains(line)),
        }
        match ProxyProfile::parse(line) {
            Ok(proxy) => {
                assert!(!proxy.host().is_empty() && proxy.port() > 0 && !line.contains('@'), "{line}");
                let host =
                    if proxy.host().contains(':') { format!("[{}]", proxy.host()) } else { proxy.host().to_owned() };
                let again = ProxyProfile::parse(&format!("http://{host}:{}", proxy.port()));
                assert_eq!(again.as_ref(), Ok(&proxy), "{line}");
            }
            Err(refusal) => assert!(line.len() < 16 || !refusal.to_string().contains(line)),
        }
    }
    if let Ok(profiles) = serde_json::from_str::<TlsProfiles>(&text) {
        for (name, profile) in profiles.iter() {
            assert_eq!(profiles.select(name), Ok(profile));
            let parts = usize::from(profile.trust != Trust::Platform) + 2 * usize::from(profile.identity.is_some());
            assert_eq!(profile.materials().count(), parts);
        }
    }
    if let Ok(profiles) = serde_json::from_str::<ProxyProfiles>(&text) {
        assert!(profiles.select("").is_err());
    }
}
