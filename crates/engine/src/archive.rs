//! Members of ZIP archives, such as the logs of Inspect (`.eval`), within limits.
//!
//! Only what such logs need: stored and deflated members, and sizes up to 4 GiB. An archive comes from others, so that
//! no length in it is taken for granted.

use std::io::Read;

use flate2::read::DeflateDecoder;

/// Largest size of all members together, unpacked.
pub const MAX_UNPACKED_BYTES: u64 = 1 << 30;

/// More members than this are refused.
const MAX_MEMBERS: usize = 100_000;

/// The end of the archive is looked for in so many bytes, which is as long as its comment may be.
const MAX_END_BYTES: usize = 22 + 65_535;

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveMember {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Why an archive cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    #[error("it is no ZIP archive, or it is cut off")]
    NotAnArchive,
    #[error(
        "`{0}` is compressed in a way that is not understood; save the log as JSON (`inspect log convert --to json`)"
    )]
    Compression(String),
    #[error("`{0}` is damaged")]
    Damaged(String),
    #[error("it holds more than {MAX_MEMBERS} files, or {MAX_UNPACKED_BYTES} bytes")]
    TooLarge,
}

/// Whether bytes begin as an archive does.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// The members whose names `wants` accepts, in the order of the archive.
pub fn read_archive(bytes: &[u8], wants: impl Fn(&str) -> bool) -> Result<Vec<ArchiveMember>, ArchiveError> {
    let start = bytes.len().saturating_sub(MAX_END_BYTES);
    let end = bytes[start..].windows(4).rposition(|window| window == b"PK\x05\x06");
    let end = start + end.ok_or(ArchiveError::NotAnArchive)?;
    let n_members = usize::from(read_u16(bytes, end + 10)?);
    let mut at = read_u32(bytes, end + 16)? as usize;
    if MAX_MEMBERS < n_members {
        return Err(ArchiveError::TooLarge);
    }
    let (mut members, mut left) = (Vec::new(), MAX_UNPACKED_BYTES);
    for _ in 0..n_members {
        if slice(bytes, at, 4)? != b"PK\x01\x02" {
            return Err(ArchiveError::NotAnArchive);
        }
        let lengths = [28, 30, 32].map(|offset| read_u16(bytes, at + offset).map(usize::from));
        let [name_length, extra_length, comment_length] = lengths;
        let (name_length, extra_length, comment_length) = (name_length?, extra_length?, comment_length?);
        let name = String::from_utf8_lossy(slice(bytes, at + 46, name_length)?).into_owned();
        if wants(&name) {
            let header = MemberHeader {
                method: read_u16(bytes, at + 10)?,
                packed: read_u32(bytes, at + 20)? as usize,
                offset: read_u32(bytes, at + 42)? as usize,
            };
            let unpacked = header.unpack(bytes, &name, left)?;
            left -= unpacked.len() as u64;
            members.push(ArchiveMember { name, bytes: unpacked });
        }
        at += 46 + name_length + extra_length + comment_length;
    }
    Ok(members)
}

struct MemberHeader {
    method: u16,
    packed: usize,
    offset: usize,
}

impl MemberHeader {
    fn unpack(&self, bytes: &[u8], name: &str, left: u64) -> Result<Vec<u8>, ArchiveError> {
        if slice(bytes, self.offset, 4)? != b"PK\x03\x04" {
            return Err(ArchiveError::NotAnArchive);
        }
        let name_length = usize::from(read_u16(bytes, self.offset + 26)?);
        let extra_length = usize::from(read_u16(bytes, self.offset + 28)?);
        let packed = slice(bytes, self.offset + 30 + name_length + extra_length, self.packed)?;
        let mut unpacked = Vec::new();
        // One byte more than allowed shows that there is more.
        let read = match self.method {
            0 => packed.take(left + 1).read_to_end(&mut unpacked),
            8 => DeflateDecoder::new(packed).take(left + 1).read_to_end(&mut unpacked),
            _ => return Err(ArchiveError::Compression(name.to_owned())),
        };
        read.map_err(|_| ArchiveError::Damaged(name.to_owned()))?;
        if left < unpacked.len() as u64 { Err(ArchiveError::TooLarge) } else { Ok(unpacked) }
    }
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], ArchiveError> {
    let end = at.checked_add(length).ok_or(ArchiveError::NotAnArchive)?;
    bytes.get(at..end).ok_or(ArchiveError::NotAnArchive)
}

fn read_u16(bytes: &[u8], at: usize) -> Result<u16, ArchiveError> {
    let part = slice(bytes, at, 2)?;
    Ok(u16::from_le_bytes([part[0], part[1]]))
}

fn read_u32(bytes: &[u8], at: usize) -> Result<u32, ArchiveError> {
    let part = slice(bytes, at, 4)?;
    Ok(u32::from_le_bytes([part[0], part[1], part[2], part[3]]))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// An archive of members, deflated or stored; checksums are left out, since no test reads them.
    fn build_archive(members: &[(&str, &str, u16)]) -> Vec<u8> {
        let (mut out, mut central) = (Vec::new(), Vec::new());
        for (name, text, method) in members {
            let packed = match method {
                8 => {
                    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                    encoder.write_all(text.as_bytes()).unwrap();
                    encoder.finish().unwrap()
                }
                _ => text.as_bytes().to_vec(),
            };
            let offset = out.len() as u32;
            let sizes = [packed.len() as u32, text.len() as u32].map(u32::to_le_bytes).concat();
            let common = [&20u16.to_le_bytes()[..], &[0; 2], &method.to_le_bytes(), &[0; 8], &sizes].concat();
            let name_length = (name.len() as u16).to_le_bytes();
            out.extend(
                [&b"PK\x03\x04"[..], &common, &name_length, &[0; 2], name.as_bytes(), &packed].concat(),
            );
            central.extend(
                [
                    &b"PK\x01\x02"[..],
                    &[0; 2],
                    &common,
                    &name_length,
                    &[0; 12],
                    &offset.to_le_bytes(),
                    name.as_bytes(),
                ]
                .concat(),
            );
        }
        let (start, count) = (out.len() as u32, (members.len() as u16).to_le_bytes());
        out.extend(&central);
        let size = (central.len() as u32).to_le_bytes();
        out.extend(
            [&b"PK\x05\x06"[..], &[0; 4], &count, &count, &size, &start.to_le_bytes(), &[0; 2]].concat(),
        );
        out
    }

    #[test]
    fn stored_and_deflated_members_are_read() {
        let long = "sample ".repeat(500);
        let archive = build_archive(&[("header.json", "{}", 0), ("samples/1.json", &long, 8)]);
        assert!(is_archive(&archive));
        let members = read_archive(&archive, |name| name.starts_with("samples/")).unwrap();
        assert_eq!(members.len(), 1);
        assert_eq!(
            (members[0].name.as_str(), members[0].bytes.as_slice()),
            ("samples/1.json", long.as_bytes())
        );
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_an_error_and_never_a_panic() {
        let archive = build_archive(&[("a.json", "{\"a\": 1}", 8), ("b.json", "{}", 0)]);
        for end in 0..archive.len() {
            let _ = read_archive(&archive[..end], |_| true);
        }
        for at in 0..archive.len() {
            let mut broken = archive.clone();
            broken[at] ^= 0xff;
            let _ = read_archive(&broken, |_| true);
        }
        assert_eq!(read_archive(b"text", |_| true), Err(ArchiveError::NotAnArchive));
        let zstd = build_archive(&[("a.json", "{}", 93)]);
        assert_eq!(read_archive(&zstd, |_| true), Err(ArchiveError::Compression("a.json".to_owned())));
    }
}
