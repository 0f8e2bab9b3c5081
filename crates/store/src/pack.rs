//! Stored form of bytes: compressed with deflate if that helps; the first byte says which.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::blocking::block_in_place;

const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

/// Smaller contents are not compressed, because the gain is smaller than the cost.
const WORTH_IT: usize = 256;

/// Limit of the uncompressed size, so that damaged or hostile content cannot fill the memory.
const MAX: u64 = 1 << 30;

/// Contents from this size on are packed where they keep no other task waiting: it takes about a millisecond.
const LONG: usize = 64 << 10;

pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() < LONG { pack_bytes(bytes) } else { block_in_place(|| pack_bytes(bytes)) }
}

pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    // What is packed may be a thousand times as long.
    if packed.len() < LONG / 16 { unpack_bytes(packed) } else { block_in_place(|| unpack_bytes(packed)) }
}

fn pack_bytes(bytes: &[u8]) -> Vec<u8> {
    if WORTH_IT <= bytes.len() {
        let mut encoder = DeflateEncoder::new(vec![DEFLATED], Compression::fast());
        let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
        let packed = packed.expect("memory takes what is written to it");
        if packed.len() <= bytes.len() {
            return packed;
        }
    }
    let mut packed = Vec::with_capacity(bytes.len() + 1);
    packed.push(PLAIN);
    packed.extend_from_slice(bytes);
    packed
}

fn unpack_bytes(packed: &[u8]) -> Result<Vec<u8>, String> {
    match packed {
        [PLAIN, bytes @ ..] => Ok(bytes.to_vec()),
        [DEFLATED, bytes @ ..] => {
            let mut out = Vec::new();
            let read = DeflateDecoder::new(bytes).take(MAX + 1).read_to_end(&mut out);
            match read {
                Ok(n) if n as u64 <= MAX => Ok(out),
                Ok(_) => Err("it is larger than a gibibyte".to_owned()),
                Err(error) => Err(format!("it does not decompress: {error}")),
            }
        }
        _ => Err("it is packed in a way that this version does not know".to_owned()),
    }
}

/// Hash of the uncompressed bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        for bytes in [b"".to_vec(), b"short".to_vec(), b"long ".repeat(1000), random::<1000>()] {
            assert_eq!(unpack(&pack(&bytes)).unwrap(), bytes);
        }
        assert!(pack(&b"long ".repeat(1000)).len() < 100);
        assert!(unpack(&[1, 255, 255]).is_err() && unpack(&[9]).is_err() && unpack(&[]).is_err());
    }

    fn random<const N: usize>() -> Vec<u8> {
        blake3::Hasher::new().finalize_xof().take_bytes(N)
    }

    trait TakeBytes {
        fn take_bytes(self, n: usize) -> Vec<u8>;
    }

    impl TakeBytes for blake3::OutputReader {
        fn take_bytes(mut self, n: usize) -> Vec<u8> {
            let mut bytes = vec![0; n];
            self.fill(&mut bytes);
            bytes
        }
    }
}
