//! A limit in the currency of those who pay.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::quantity::Usd;

/// What a month may cost, with the rate that was agreed on when it was set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    amount: f64,
    currency: Currency,
    /// Exchange rate: US dollars for one unit of the currency.
    rate: f64,
}

/// Three capital letters, as ISO 4217 has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadCap {
    #[error("`{0}` is not a currency code of three capital letters, such as GBP")]
    Currency(String),
    #[error(
        "the exchange rate of {0} to USD is unknown; send `rate`, or add it to `rates` in settings that are trusted \
         (`jurist trust`)"
    )]
    NoRate(Currency),
    #[error("a rate is how many dollars one {currency} is, such as 1.25; `{rate}` is not")]
    Rate { currency: Currency, rate: f64 },
    #[error("a cap is an amount from 0 to eight million dollars; `{0}` is not")]
    Amount(f64),
}

/// Exchange rates of currencies to dollars, as configured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rates(BTreeMap<Currency, f64>);

/// Round figures for those who configure none; a cap holds to the cent at the rate that is shown with it.
const KNOWN: [(Currency, f64); 3] =
    [(Currency::USD, 1.0), (Currency(*b"GBP"), 1.25), (Currency(*b"EUR"), 1.1)];

impl Cap {
    pub fn new(amount: f64, currency: Currency, rate: f64) -> Result<Self, BadCap> {
        if !rate.is_finite() || rate <= 0.0 || (currency == Currency::USD && (rate - 1.0).abs() > 1e-9) {
            return Err(BadCap::Rate { currency, rate });
        }
        if !amount.is_finite() || amount < 0.0 || 8e6 < amount * rate {
            return Err(BadCap::Amount(amount));
        }
        Ok(Self { amount, currency, rate })
    }

    /// £50: what a project may cost in a month unless it says otherwise.
    pub fn usual(rates: &Rates) -> Self {
        let currency = Currency(*b"GBP");
        Self { amount: 50.0, currency, rate: rates.of(currency).unwrap_or(1.25) }
    }

    pub fn amount(&self) -> f64 {
        self.amount
    }

    pub fn currency(&self) -> Currency {
        self.currency
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }

    pub fn usd(&self) -> Usd {
        Usd::from_nanos((self.amount * self.rate * 1e9).round() as i64)
    }

    /// An amount as those who set the cap would say it.
    pub fn format_amount(&self, amount: Usd) -> String {
        let value = amount.nanos() as f64 / 1e9 / self.rate;
        // What is not nothing does not look like nothing.
        let digits = match value.abs() {
            _ if amount.nanos() == 0 => 2,
            small if small < 0.0001 => 7,
            small if small < 0.1 => 4,
            _ => 2,
        };
        self.with_currency(&format!("{value:.digits$}"))
    }

    /// The cap as its author wrote it, with at least two digits: a rounded one would be another cap.
    pub fn format_limit(&self) -> String {
        let written = self.amount.to_string();
        let digits = written.split_once('.').map_or(0, |(_, digits)| digits.len()).max(2);
        self.with_currency(&format!("{:.digits$}", self.amount))
    }

    fn with_currency(&self, value: &str) -> String {
        match &self.currency.0 {
            b"GBP" => format!("£{value}"),
            b"EUR" => format!("€{value}"),
            b"USD" => format!("${value}"),
            _ => format!("{value} {}", self.currency),
        }
    }
}

impl Rates {
    pub fn new(rates: impl IntoIterator<Item = (Currency, f64)>) -> Self {
        Self(rates.into_iter().collect())
    }

    pub fn of(&self, currency: Currency) -> Option<f64> {
        let known = || KNOWN.iter().find(|(known, _)| *known == currency).map(|(_, rate)| *rate);
        self.0.get(&currency).copied().or_else(known)
    }

    /// These rates as far as they make no cap larger: a built-in rate is only lowered, and there are no others.
    #[must_use]
    pub fn only_lowered(&self) -> Self {
        let Self(own) = self;
        let lowered = own
            .iter()
            .filter_map(|(currency, rate)| Some((*currency, rate.min(Self::default().of(*currency)?))));
        Self::new(lowered)
    }

    /// A cap in a currency, at the given exchange rate or else the configured one.
    pub fn cap(&self, amount: f64, currency: Currency, rate: Option<f64>) -> Result<Cap, BadCap> {
        let rate = rate.or_else(|| self.of(currency)).ok_or(BadCap::NoRate(currency))?;
        Cap::new(amount, currency, rate)
    }
}

impl Currency {
    pub const USD: Self = Self(*b"USD");
}

impl FromStr for Currency {
    type Err = BadCap;

    fn from_str(text: &str) -> Result<Self, BadCap> {
        let letters: Option<[u8; 3]> = text.as_bytes().try_into().ok();
        let letters = letters.filter(|letter| letter.iter().all(u8::is_ascii_uppercase));
        letters.map(Self).ok_or_else(|| BadCap::Currency(text.to_owned()))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.0).unwrap_or("?"))
    }
}

impl Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_dollars_at_their_rate() {
        let usual = Cap::usual(&Rates::default());
        assert_eq!(
            (usual.usd(), usual.format_amount(usual.usd())),
            (Usd::from_nanos(62_500_000_000), "£50.00".into())
        );
        let rates = Rates::new([("JPY".parse().unwrap(), 0.0065), ("GBP".parse().unwrap(), 1.31)]);
        assert!((Cap::usual(&rates).rate() - 1.31).abs() < 1e-12);
        let yen = rates.cap(10_000.0, "JPY".parse().unwrap(), None).unwrap();
        assert_eq!(
            (yen.usd(), yen.format_amount(yen.usd())),
            (Usd::from_nanos(65_000_000_000), "10000.00 JPY".into())
        );
        assert_eq!(yen.format_amount(Usd::from_nanos(65_000)), "0.0100 JPY");
        assert_eq!(usual.format_amount(Usd::from_nanos(27_600)), "£0.0000221");
        assert!((yen.amount() - 10_000.0).abs() < 1e-12);
        for (currency, expected) in [("EUR", "€2.50"), ("USD", "$2.50")] {
            let cap = rates.cap(2.5, currency.parse().unwrap(), None).unwrap();
            assert_eq!(cap.format_amount(cap.usd()), expected);
        }
        let dollars = rates.cap(1.0, "USD".parse().unwrap(), None).unwrap();
        assert_eq!(dollars.format_amount(Usd::from_nanos(100_000_000)), "$0.10");
        assert_eq!(dollars.format_amount(Usd::default()), "$0.00");
        let francs = rates.cap(10.0, "CHF".parse().unwrap(), Some(1.2)).unwrap();
        assert_eq!(francs.usd(), Usd::from_nanos(12_000_000_000));
    }

    #[test]
    fn rates_that_may_only_lower_make_no_cap_larger() {
        let of = |code: &str| code.parse::<Currency>().unwrap();
        let stated = Rates::new([(of("GBP"), 1.2), (of("EUR"), 900.0), (of("JPY"), 0.0066)]);
        let lowered = stated.only_lowered();
        assert_eq!(lowered, Rates::new([(of("GBP"), 1.2), (of("EUR"), 1.1)]));
        assert_eq!(lowered.of(of("JPY")), None);
        assert_eq!(lowered.only_lowered(), lowered);
    }

    #[test]
    fn a_cap_is_shown_as_it_was_written() {
        let rates = Rates::default();
        for (amount, expected) in [
            (50.0, "£50.00"),
            (0.5, "£0.50"),
            (0.08, "£0.08"),
            (0.135, "£0.135"),
            (0.155, "£0.155"),
            (0.00001, "£0.00001"),
        ] {
            let cap = rates.cap(amount, "GBP".parse().unwrap(), None).unwrap();
            assert_eq!(cap.format_limit(), expected);
        }
    }

    #[test]
    fn what_is_no_cap_is_refused_with_the_reason() {
        let rates = Rates::default();
        let check = |amount: f64, currency: &str, rate: Option<f64>, expected: &str| {
            let refused =
                currency.parse().and_then(|currency| rates.cap(amount, currency, rate)).unwrap_err();
            assert!(refused.to_string().contains(expected), "{refused}");
        };
        check(5.0, "pounds", None, "three capital letters");
        check(5.0, "CHF", None, "`rates`");
        check(5.0, "GBP", Some(0.0), "such as 1.25");
        check(5.0, "USD", Some(2.0), "such as 1.25");
        check(-5.0, "GBP", None, "from 0");
        check(f64::NAN, "GBP", None, "from 0");
        check(1e9, "GBP", None, "eight million");
    }
}
