//! The network and the disk: answers what `core` asks of the world.
//!
//! Knows no database and no HTTP server, and never prints.

pub mod load;
