//! What a guard did to a record.

/// The kinds of findings, in the order in which patterns run; field rules and deny terms follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Finding {
    Ssn,
    TaxId,
    CreditCard,
    Email,
    ApiToken,
    BearerToken,
    Phone,
    WindowsUserPath,
    WindowsAbsolutePath,
    PosixUserPath,
    PosixLocalPath,
    FileUri,
    Ipv4,
    MacAddress,
    Iban,
    SecretField,
    LocationField,
    PersonalField,
    IdentityTerm,
}

impl Finding {
    /// Whether this identifies a person wherever it stands, outside any field's rule.
    pub(super) const fn is_pii(self) -> bool {
        matches!(self, Self::Ssn | Self::TaxId | Self::CreditCard | Self::Email)
    }

    /// All kinds, by discriminant.
    pub(super) const ALL: [Self; 19] = [
        Self::Ssn,
        Self::TaxId,
        Self::CreditCard,
        Self::Email,
        Self::ApiToken,
        Self::BearerToken,
        Self::Phone,
        Self::WindowsUserPath,
        Self::WindowsAbsolutePath,
        Self::PosixUserPath,
        Self::PosixLocalPath,
        Self::FileUri,
        Self::Ipv4,
        Self::MacAddress,
        Self::Iban,
        Self::SecretField,
        Self::LocationField,
        Self::PersonalField,
        Self::IdentityTerm,
    ];

    /// The word in reports.
    pub(super) const fn label(self) -> &'static str {
        self.texts().0
    }

    /// What stands in place of the value.
    pub(super) const fn marker(self) -> &'static str {
        self.texts().1
    }

    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Ssn => ("ssn", "[REDACTED_SSN]"),
            Self::TaxId => ("tax_id", "[REDACTED_TAX_ID]"),
            Self::CreditCard => ("credit_card", "[REDACTED_CREDIT_CARD]"),
            Self::Email => ("email", "[REDACTED_EMAIL]"),
            Self::ApiToken => ("api_token", "[REDACTED_API_TOKEN]"),
            Self::BearerToken => ("bearer_token", "[REDACTED_BEARER_TOKEN]"),
            Self::Phone => ("phone", "[REDACTED_PHONE]"),
            Self::WindowsUserPath => ("windows_user_path", "[REDACTED_WINDOWS_USER_PATH]"),
            Self::WindowsAbsolutePath => ("windows_absolute_path", "[REDACTED_WINDOWS_ABSOLUTE_PATH]"),
            Self::PosixUserPath => ("posix_user_path", "[REDACTED_POSIX_USER_PATH]"),
            Self::PosixLocalPath => ("posix_local_path", "[REDACTED_POSIX_LOCAL_PATH]"),
            Self::FileUri => ("file_uri", "[REDACTED_FILE_URI]"),
            Self::Ipv4 => ("ipv4", "[REDACTED_IPV4]"),
            Self::MacAddress => ("mac_address", "[REDACTED_MAC_ADDRESS]"),
            Self::Iban => ("iban", "[REDACTED_IBAN]"),
            Self::SecretField => ("secret_field", "[REDACTED_SECRET]"),
            Self::LocationField => ("location_field", "[REDACTED_LOCATION]"),
            Self::PersonalField => ("personal_field", "[REDACTED_PERSON]"),
            Self::IdentityTerm => ("identity_term", "[REDACTED_IDENTITY_TERM]"),
        }
    }
}

/// How much a guard replaced, and of which kinds. It holds no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardReport {
    redactions: usize,
    kinds: u32,
}

impl GuardReport {
    pub(super) fn note(&mut self, finding: Finding, count: usize) {
        self.redactions += count;
        self.kinds |= 1 << finding as u8;
    }

    /// How many values or parts of texts were replaced.
    pub const fn redactions(&self) -> usize {
        self.redactions
    }

    /// The kinds that were found, in alphabetical order.
    pub fn detected_types(&self) -> Vec<&'static str> {
        let found = Finding::ALL.into_iter().filter(|finding| self.kinds & (1 << *finding as u8) != 0);
        let mut labels: Vec<&'static str> = found.map(Finding::label).collect();
        labels.sort_unstable();
        labels
    }
}
