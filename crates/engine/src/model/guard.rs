//! Addresses that strangers name must not lead into the machine or its network.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// A DNS resolver that returns public addresses only. The client connects to the addresses that were checked, so a
/// second lookup cannot lead elsewhere (DNS rebinding).
#[derive(Debug, Clone, Copy)]
pub struct PublicOnly;

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is a private or local address; allow it with --allow-private-network")]
pub struct Private(pub String);

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> =
                addresses.filter(|socket_addr| is_public(socket_addr.ip())).collect();
            if public.is_empty() {
                return Err(Private(name.as_str().to_owned()).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Refuses an address that is written as a number and not public; names are looked at when they are looked up.
pub fn refuse_private(address: &str) -> Result<(), Private> {
    let private = || Private(address.to_owned());
    let url = reqwest::Url::parse(address).map_err(|_| private())?;
    let host = url.host_str().ok_or_else(private)?;
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let is_here = host.eq_ignore_ascii_case("localhost") || host.to_lowercase().ends_with(".localhost");
    if is_here || number.is_ok_and(|ip_addr| !is_public(ip_addr)) { Err(private()) } else { Ok(()) }
}

/// Whether an address is one of the open network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let [a, b, c, _] = it.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            let is_special =
                a == 0 || 240 <= a || (a, b, c) == (192, 0, 0) || (a == 198 && (18..20).contains(&b));
            !(it.is_private()
                || it.is_loopback()
                || it.is_link_local()
                || it.is_multicast()
                || it.is_documentation()
                || is_shared
                || is_special)
        }
        IpAddr::V6(it) => {
            // Addresses that embed an IPv4 address are treated as that address.
            let inner = it.to_ipv4_mapped().or_else(|| of_translation(it));
            match inner {
                Some(inner) => is_public(IpAddr::V4(inner)),
                None => is_global_unicast(it),
            }
        }
    }
}

/// Whether an address is of the block that networks get theirs from, and not of a part with another purpose: protocols
/// (such as Teredo, which carries an older address) and documentation.
fn is_global_unicast(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let is_special =
        matches!(segments, [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..]);
    segments[0] & 0xe000 == 0x2000 && !is_special
}

/// NAT64 and 6to4.
fn of_translation(address: Ipv6Addr) -> Option<std::net::Ipv4Addr> {
    let at = address.octets();
    let four = |index: usize| std::net::Ipv4Addr::new(at[index], at[index + 1], at[index + 2], at[index + 3]);
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(four(12)),
        [0x2002, ..] => Some(four(2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_are_told_from_those_outside() {
        let check = |address: &str, public: bool| {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        };
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::127.0.0.1",
            "64:ff9b:1::7f00:1",
            "2001:0:a00:1::80ff:fffe",
            "2001:db8::1",
            "3fff::1",
            "fec0::1",
            "5f00::1",
            "ff02::1",
        ] {
            check(inside, false);
        }
        for outside in [
            "1.1.1.1",
            "93.184.216.34",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "64:ff9b::808:808",
            "::ffff:8.8.8.8",
        ] {
            check(outside, true);
        }
    }

    #[test]
    fn numbers_are_looked_at_however_they_are_written() {
        for inside in [
            "http://127.0.0.1/",
            "http://[::1]:80/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://localhost:8000/v1",
            "http://169.254.169.254/latest",
            "not an address",
        ] {
            assert!(refuse_private(inside).is_err(), "{inside}");
        }
        assert!(refuse_private("https://api.example.org/v1").is_ok());
    }
}
