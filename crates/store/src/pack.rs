//! Stored form of bytes: compressed with deflate if that helps; the first byte says which.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::de::DeserializeOwned;

use crate::blocking::{block_if_long, block_in_place};

const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

/// Smaller contents are not compressed, because the gain is smaller than the cost.
const WORTH_IT: usize = 256;

/// Limit of the uncompressed size, so that damaged or hostile content cannot fill the memory.
const MAX: u64 = 1 << 30;

/// Contents from this size on are packed and unpacked where they keep no other task waiting: it takes about a
/// millisecond.
const LONG: usize = 64 << 10;

pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() < LONG { pack_bytes(bytes) } else { block_in_place(|| pack_bytes(bytes)) }
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

pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    match packed {
        [PLAIN, bytes @ ..] => Ok(bytes.to_vec()),
        [DEFLATED, bytes @ ..] => {
            let mut out = Vec::new();
            let mut decoder = DeflateDecoder::new(bytes).take(MAX + 1);
            // A content may be a thousand times as long as its packed form, so how long it is shows only here.
            let read = match decoder.by_ref().take(LONG as u64).read_to_end(&mut out) {
                Ok(n) if n == LONG => block_in_place(|| decoder.read_to_end(&mut out)),
                read => read,
            };
            match read {
                Ok(_) if out.len() as u64 <= MAX => Ok(out),
                Ok(_) => Err("it is larger than a gibibyte".to_owned()),
                Err(error) => Err(format!("it does not decompress: {error}")),
            }
        }
        _ => Err("it is packed in a way that this version does not know".to_owned()),
    }
}

/// Unpacks JSON and parses it.
pub(crate) fn unpack_json<T: DeserializeOwned>(packed: &[u8]) -> Result<T, String> {
    let text = unpack(packed)?;
    block_if_long(text.len(), || serde_json::from_slice(&text)).map_err(|error| error.to_string())
}

/// Hash of the uncompressed bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::count_long_work;

    #[test]
    fn what_is_packed_comes_back() {
        for bytes in [b"".to_vec(), b"short".to_vec(), b"long ".repeat(1000), random::<1000>()] {
            assert_eq!(unpack(&pack(&bytes)).unwrap(), bytes);
        }
        assert!(pack(&b"long ".repeat(1000)).len() < 100);
        assert!(unpack(&[1, 255, 255]).is_err() && unpack(&[9]).is_err() && unpack(&[]).is_err());
    }

    #[test]
    fn a_content_is_long_by_its_own_length_and_not_by_that_of_its_packed_form() {
        let long = pack(&serde_json::to_vec(&vec!["a"; 100_000]).unwrap());
        assert!(long.len() < 4 << 10, "{}", long.len());
        assert_eq!(count_long_work(|| assert_eq!(unpack(&long).unwrap().len(), 400_001)), 1);
        let read = || assert_eq!(unpack_json::<Vec<String>>(&long).unwrap().len(), 100_000);
        assert_eq!(count_long_work(read), 2, "it is unpacked and parsed");

        let short = pack(&serde_json::to_vec(&vec!["a"; 1_000]).unwrap());
        let read = || assert_eq!(unpack_json::<Vec<String>>(&short).unwrap().len(), 1_000);
        assert_eq!(count_long_work(read), 0);
        for n_bytes in [LONG - 1, LONG, LONG + 1] {
            let bytes = b"a".repeat(n_bytes);
            assert_eq!(unpack(&pack(&bytes)).unwrap(), bytes);
        }
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
