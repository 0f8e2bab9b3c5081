//! Untrusted texts as HTML, with their quotes marked.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use crate::chart::escape_xml;
use crate::grade::{Evidence, Grade};

/// A case shows no more quotes than this, and says how many there are.
pub(super) const MOST_QUOTES: usize = 200;

/// Bytes of a text that are shown around a quote beyond the part that is shown.
const AROUND: usize = 200;

/// How much of one quote is shown there.
const LONGEST: usize = 1000;

/// Colours for criteria; after the last comes the first again.
pub(super) const HUES: usize = 6;

/// At most so many bytes of a text, with an ellipsis if there was more.
pub(super) fn clip_to_bytes(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most { text.into() } else { format!("{}…", &text[..floor(text, most)]).into() }
}

/// The next place at which a character begins, at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&n| text.is_char_boundary(n)).unwrap_or(0)
}

/// A quote of a case, with the number that its row and its mark carry.
#[derive(Debug)]
struct NumberedQuote<'a> {
    number: usize,
    hue: usize,
    /// Which of the case's grades it is evidence for, and which point of it.
    grade: usize,
    point: Option<usize>,
    evidence: &'a Evidence,
    criterion: &'a str,
}

/// The quotes of one case, and which of them have been marked in the candidate.
#[derive(Debug)]
pub(super) struct Quotes<'a> {
    /// The number of the case, for links inside the page.
    case: usize,
    all: Vec<NumberedQuote<'a>>,
    marked: BTreeSet<usize>,
}

impl<'a> Quotes<'a> {
    /// All of them in the order of the grades, each criterion with its colour.
    pub fn new(case: usize, grades: &'a [Grade], hue: impl Fn(&str) -> usize) -> Self {
        let mut all = Vec::new();
        for (at, grade) in grades.iter().enumerate() {
            let own = grade.evidence.iter().map(|evidence| (None, evidence));
            let points = grade.points.iter().enumerate();
            let of_points = points.flat_map(|(at, graded_point)| {
                graded_point.evidence.iter().map(move |evidence| (Some(at), evidence))
            });
            all.extend(own.chain(of_points).map(|(point, evidence)| NumberedQuote {
                number: 0,
                hue: hue(&grade.criterion) % HUES,
                grade: at,
                point,
                evidence,
                criterion: &grade.criterion,
            }));
        }
        all.truncate(MOST_QUOTES);
        all.iter_mut().zip(1..).for_each(|(numbered_quote, number)| numbered_quote.number = number);
        Self { case, all, marked: BTreeSet::new() }
    }

    /// For texts that nothing can be quoted from.
    pub fn none() -> Self {
        Self { case: 0, all: Vec::new(), marked: BTreeSet::new() }
    }

    /// The quotes behind a grade or one of its points, each with a link to its mark if it has one.
    ///
    /// To be asked for when the candidate has been rendered.
    pub fn render_citations(&self, grade: usize, point: Option<usize>) -> String {
        let own = self
            .all
            .iter()
            .filter(|numbered_quote| numbered_quote.grade == grade && numbered_quote.point == point);
        own.map(|numbered_quote| self.citation(numbered_quote)).collect()
    }

    fn citation(&self, quote: &NumberedQuote<'_>) -> String {
        let (case, NumberedQuote { number, hue, .. }) = (self.case, quote);
        let quoted = escape_xml(&clip_to_bytes(&quote.evidence.quote, LONGEST));
        let head = format!("<blockquote id=\"q{case}-{number}\" dir=\"auto\" class=\"h{hue}");
        if self.marked.contains(number) {
            let link = format!(
                "<a class=\"badge\" href=\"#m{case}-{number}\" title=\"show the quote in the candidate\">{number}</a>"
            );
            return format!("{head}\">{link} {quoted}</blockquote>");
        }
        let place = match &quote.evidence.found {
            None => "not found in the candidate".to_owned(),
            Some(it) => {
                let part = escape_xml(&clip_to_bytes(&it.part, 80));
                format!("{part}, {} to {}: no such place in the candidate", it.start, it.end)
            }
        };
        format!(
            "{head} lost\"><span class=\"badge\">{number}</span> {quoted} <small>{place}</small></blockquote>"
        )
    }

    pub fn n_of(&self, grade: usize) -> usize {
        self.all.iter().filter(|numbered_quote| numbered_quote.grade == grade).count()
    }

    /// Whether anything is quoted from a part.
    pub fn any_in(&self, part: &str) -> bool {
        self.parts().any(|text| text == part)
    }

    /// Whether there is a quote from any text below a part.
    pub fn any_under(&self, part: &str) -> bool {
        self.parts().any(|text| text.strip_prefix(part).is_some_and(|rest| rest.starts_with('.')))
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.all
            .iter()
            .filter_map(|numbered_quote| Some(numbered_quote.evidence.found.as_ref()?.part.as_str()))
    }

    /// A part of the candidate as HTML: its first `most` bytes, and what is quoted from the rest.
    pub fn text(&mut self, part: &str, text: &str, most: usize) -> String {
        let places = self.places(part, text);
        render_visible_ranges(text, &places, most, |range| self.render_marked_range(text, range, &places))
    }

    /// The same for one of several texts under one name: only what is quoted to the letter is its own.
    pub fn one_of(&mut self, part: &str, text: &str, most: usize) -> String {
        let mut places = self.places(part, text);
        places.retain(|quote_range| {
            text[quote_range.start..quote_range.end] == self.all[quote_range.index].evidence.quote
        });
        render_visible_ranges(text, &places, most, |range| self.render_marked_range(text, range, &places))
    }

    /// The same for a unified diff, line by line.
    pub fn diff(&mut self, part: &str, text: &str, most: usize) -> String {
        let places = self.places(part, text);
        render_visible_ranges(text, &places, most, |range| {
            let mut out = String::new();
            let mut at = range.start;
            while at < range.end {
                let end = text[at..range.end].find('\n').map_or(range.end, |n| at + n + 1);
                let line = &text[text[..at].rfind('\n').map_or(0, |n| n + 1)..];
                let marked = self.render_marked_range(text, at..end, &places);
                let _ = write!(out, "<span class=\"{}\">{marked}</span>", line_kind(line));
                at = end;
            }
            out
        })
    }

    /// Ranges of the quotes from this part that fit the text.
    fn places(&self, part: &str, text: &str) -> Vec<QuoteRange> {
        let place = |(index, quote): (usize, &NumberedQuote<'_>)| {
            let quoted = quote.evidence.found.as_ref().filter(|location| location.part == part)?;
            let (start, end) = (usize::try_from(quoted.start).ok()?, usize::try_from(quoted.end).ok()?);
            // The program that wrote the run may have seen another text.
            text.get(start..end).filter(|text| !text.is_empty())?;
            Some(QuoteRange { start, end, index })
        };
        self.all.iter().enumerate().filter_map(place).collect()
    }

    /// A stretch of a text, cut wherever a quote begins or ends so that marks never cross.
    fn render_marked_range(&mut self, text: &str, range: Range<usize>, places: &[QuoteRange]) -> String {
        let edges = places
            .iter()
            .flat_map(|quote_range| [quote_range.start, quote_range.end])
            .filter(|n| range.contains(n));
        let edges: BTreeSet<usize> = edges.chain([range.start, range.end]).collect();
        let edges: Vec<usize> = edges.into_iter().collect();
        let mut out = String::new();
        for pair in edges.windows(2) {
            let piece = escape_xml(&text[pair[0]..pair[1]]);
            let here: Vec<&QuoteRange> = places
                .iter()
                .filter(|quote_range| quote_range.start <= pair[0] && pair[1] <= quote_range.end)
                .collect();
            let Some(last) = here.last() else {
                out.push_str(&piece);
                continue;
            };
            let names: BTreeSet<&str> =
                here.iter().map(|quote_range| self.all[quote_range.index].criterion).collect();
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let hue = self.all[last.index].hue;
            let many = if 1 < here.len() { " many" } else { "" };
            let _ = write!(
                out,
                "<mark class=\"h{hue}{many}\" title=\"{}\">",
                escape_xml(&clip_to_bytes(&names, 200))
            );
            for place in here.iter().filter(|quote_range| quote_range.start == pair[0]) {
                let (case, number) = (self.case, self.all[place.index].number);
                let name = escape_xml(&clip_to_bytes(self.all[place.index].criterion, 80));
                let _ = write!(
                    out,
                    "<a class=\"badge\" id=\"m{case}-{number}\" href=\"#q{case}-{number}\" \
                     aria-label=\"quote {number}, {name}\">{number}</a>"
                );
                self.marked.insert(number);
            }
            let _ = write!(out, "{piece}</mark>");
        }
        out
    }
}

/// A quote's stretch of a text.
#[derive(Debug, Clone, Copy)]
struct QuoteRange {
    start: usize,
    end: usize,
    index: usize,
}

/// The stretches of a text that are shown, and how much is left out between them.
fn render_visible_ranges(
    text: &str,
    places: &[QuoteRange],
    most: usize,
    mut draw: impl FnMut(Range<usize>) -> String,
) -> String {
    let mut out = String::new();
    let mut at = 0;
    for range in find_visible_ranges(text, places, most) {
        out.push_str(&render_omitted_bytes(range.start - at));
        at = range.end;
        out.push_str(&draw(range));
    }
    out + &render_omitted_bytes(text.len() - at)
}

fn find_visible_ranges(text: &str, places: &[QuoteRange], most: usize) -> Vec<Range<usize>> {
    // To leave out less than the note about it takes would be silly.
    let most = if text.len() <= most + AROUND { text.len() } else { most };
    let around = |quote_range: &QuoteRange| {
        let end = quote_range.end.min(quote_range.start + LONGEST);
        floor(text, quote_range.start.saturating_sub(AROUND))..floor(text, end + AROUND)
    };
    let mut ranges: Vec<Range<usize>> = places.iter().map(around).collect();
    ranges.push(0..floor(text, most));
    ranges.sort_by_key(|range| range.start);
    let mut visible: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match visible.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => visible.push(range),
        }
    }
    visible
}

fn render_omitted_bytes(n_bytes: usize) -> String {
    match n_bytes {
        0 => String::new(),
        it if it < 1000 => format!("<span class=\"cut\">{it} bytes left out</span>"),
        it => format!("<span class=\"cut\">{:.1} kB left out</span>", it as f64 / 1000.0),
    }
}

fn line_kind(line: &str) -> &'static str {
    match line {
        it if ["diff ", "index ", "+++", "---"].iter().any(|head| it.starts_with(head)) => "file",
        it if it.starts_with("@@") => "hunk",
        it if it.starts_with('+') => "add",
        it if it.starts_with('-') => "del",
        _ => "same",
    }
}
