//! A result in a fraction of its memory.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::CaseResult;

/// One result, compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed(Box<[u8]>);

impl Packed {
    pub fn new(result: &CaseResult) -> Self {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        let text = serde_json::to_vec(result).expect("a result is plain data");
        packed.write_all(&text).expect("memory is writable");
        Self(packed.finish().expect("memory is writable").into())
    }

    pub fn open(&self) -> CaseResult {
        let mut text = Vec::new();
        DeflateDecoder::new(&*self.0).read_to_end(&mut text).expect("it was packed here");
        serde_json::from_slice(&text).expect("it was written here")
    }
}
