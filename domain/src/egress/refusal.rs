use crate::refusals;

refusals! {
    /// Why a destination may not be dialled. None holds a URL, a query or user info.
    pub enum EgressRefusal {
        /// Not http or https, or no absolute URL.
        Scheme => "egress_scheme", CallerMistake, Never,
            "the address is no absolute http or https URL", "write it as https://host/path";
        /// A user name or password in the URL.
        UserInfo => "egress_user_info", CallerMistake, Never,
            "the URL holds user info", "declare the credential, never write it into a URL";
        /// Longer than 8192 bytes.
        TooLong => "egress_url_too_long", CallerMistake, Never,
            "the URL is longer than 8192 bytes", "send the data in the body";
        /// Characters that readers of URLs disagree about, or no URL at all.
        Text => "egress_url_text", CallerMistake, Never,
            "the URL holds blanks, controls or backslashes, or cannot be read", "percent-encode it";
        /// A fragment where none belongs.
        Fragment => "egress_fragment", CallerMistake, Never,
            "the URL has a fragment", "leave out the part after #";
        /// Port 0, or no port number.
        Port => "egress_port", CallerMistake, Never,
            "the port is not a number from 1 to 65535", "leave the port out, or write the right one";
        /// No host, or no name and no address.
        Host => "egress_host", CallerMistake, Never,
            "the host is neither a name nor an address", "check the host part of the URL";
        /// An address in another spelling than the usual one: short, decimal, octal, hexadecimal, with a zone.
        Spelling => "egress_address_spelling", Denied, Never,
            "the host is an address in an unusual spelling", "write IPv4 as four decimal numbers, and IPv6 without a zone";
        /// Plain http to a place that is not on this machine and not listed.
        Plaintext => "egress_plaintext", Denied, Never,
            "plain http is only for loopback and listed private hosts", "use https";
        /// This machine.
        Loopback => "egress_loopback", Denied, Never,
            "the host is this machine", "set allow_loopback if that is meant";
        /// An address that is not public; `class` says which kind.
        Private { class: &'static str } => "egress_private_address", Denied, Never,
            "the host has an address that is not public ({class})",
            "name the host in allowed_private_hosts if it is meant";
        /// An address no policy can permit.
        Never { class: &'static str } => "egress_forbidden_address", Denied, Never,
            "the host has an address that is never dialled ({class})", "use another host";
        /// A host named as private that lies elsewhere.
        NotPrivate { class: &'static str } => "egress_listed_not_private", Denied, Never,
            "a host of allowed_private_hosts has an address outside private space ({class})",
            "remove it from the list, or mend its name resolution";
        /// `localhost` that is not this machine, or a plain http host that is not.
        NotLoopback => "egress_not_loopback", Denied, Never,
            "the host may only be this machine and is not", "use https, or list the host";
        /// The name has no address.
        NoAnswers => "egress_no_answers", Unavailable, Later,
            "the name has no address", "check the name";
        /// More addresses than anybody needs.
        TooManyAnswers => "egress_too_many_answers", PeerMisbehaved, Never,
            "the name has more than 64 addresses", "report it to the operator of the name server";
        /// The connection ends somewhere else than it was dialled.
        PeerDiffers => "egress_peer_differs", Denied, Never,
            "the connected peer is not the checked address", "check for a transparent proxy in between";
        /// Only a checked, encrypted target goes through a proxy.
        ProxyTarget => "egress_proxy_target", Denied, Never,
            "a proxy cannot be asked for a private host by name", "reach private hosts without the proxy";
        /// More than 256 entries.
        ListTooLong => "egress_private_hosts_too_many", CallerMistake, Never,
            "allowed_private_hosts has more than 256 entries", "list exact hosts only";
        /// An entry that is no exact host; `entry` counts from 0.
        ListEntry { entry: usize } => "egress_private_hosts_entry", CallerMistake, Never,
            "entry {entry} of allowed_private_hosts is not an exact host name or private address",
            "write a name such as db.internal, or an address without brackets";
        /// A list without the check that reads it.
        ListNeedsPin => "egress_private_hosts_unpinned", CallerMistake, Never,
            "allowed_private_hosts needs pin_egress", "set pin_egress, or drop the list";
        /// More redirects than allowed.
        RedirectCount => "egress_redirect_count", Denied, Never,
            "there are more redirects than allowed", "use the final address";
        /// From https to http.
        RedirectDowngrade => "egress_redirect_downgrade", Denied, Never,
            "a redirect leads from https to http", "use the final address";
        /// A body would go to another origin.
        RedirectBody => "egress_redirect_body", Denied, Never,
            "a redirect would carry the body to another origin", "use the final address";
        /// No address in the redirect.
        RedirectLocation => "egress_redirect_location", PeerMisbehaved, Never,
            "a redirect names no usable address", "use the final address";
    }
}
