//! The monthly cap of judge costs, projected spend, and pacing.
//!
//! Amounts are kept in dollars; a currency is how people name them. Months are those of UTC, so that no clock
//! change makes one longer or shorter.

mod cap;
mod month;
mod pacing;

pub use cap::{BadCap, Cap, Currency, Rates};
pub use month::Month;
pub use pacing::{SpendPace, pacing_factor};
