//! Charts as files: SVG as it is, PNG through pixels.
//!
//! The font of pictures comes with the program, so that there is text where no fonts are installed. Letters that it
//! lacks are taken from the fonts of the system.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use flate2::read::GzDecoder;
use jurist_core::chart::{Chart, ChartMedium};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, ID, Source};
use resvg::usvg::{FontResolver, Options, Tree};
use skrifa::outline::OutlineGlyphFormat;
use skrifa::{FontRef, MetadataProvider};

use crate::render;

/// The file of a picture, and its format.
#[derive(Debug, Clone)]
pub struct ChartFile {
    path: PathBuf,
    kind: ImageFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImageFormat {
    Svg,
    Png,
}

/// The ending decides.
pub fn parse_chart_file(path: &str) -> Result<ChartFile, String> {
    let path = PathBuf::from(path);
    let ending = path.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
    let kind = match ending.as_deref() {
        Some("svg") => ImageFormat::Svg,
        Some("png") => ImageFormat::Png,
        _ => return Err("a chart file must end in .svg or .png".to_owned()),
    };
    Ok(ChartFile { path, kind })
}

impl ChartFile {
    pub fn draw(&self, chart: &Chart) -> anyhow::Result<()> {
        let bytes = match self.kind {
            ImageFormat::Svg => chart.svg(ChartMedium::File).into_bytes(),
            ImageFormat::Png => {
                let pixels = pixels(&chart.svg(ChartMedium::Pixels))?;
                warn_missing_letters(&pixels.missing, &self.path);
                pixels.png
            }
        };
        std::fs::write(&self.path, bytes).with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

fn warn_missing_letters(missing: &BTreeSet<char>, path: &Path) {
    if !missing.is_empty() {
        let letters: String = missing.iter().collect();
        let name = path.display();
        render::print_warning(&format!(
            "no embedded font has the characters `{letters}`, so `{name}` shows boxes; write an .svg instead"
        ));
    }
}

struct Pixels {
    png: Vec<u8>,
    /// Letters that no font has, of each text the first.
    missing: BTreeSet<char>,
}

/// For screens with more than one pixel in a point, and for slides.
const SCALE: f32 = 2.0;

/// A picture of hundreds of rows and columns is drawn smaller: four bytes each, this is 128 MB.
const MOST_PIXELS: f32 = 32e6;

fn pixels(svg: &str) -> anyhow::Result<Pixels> {
    let missing = Mutex::new(BTreeSet::new());
    let mut options = Options::default();
    options.fontdb_mut().load_font_source(Source::Binary(Arc::new(unpack_font())));
    options.font_resolver.select_fallback = Box::new(|letter, tried, fonts| {
        let font = other_font(letter, tried, fonts);
        if font.is_none() {
            missing.lock().unwrap_or_else(PoisonError::into_inner).insert(letter);
        }
        font
    });
    let tree = Tree::from_str(svg, &options).context("the chart is not sound SVG")?;
    drop(options);
    let scale = pixel_scale(tree.size().width(), tree.size().height());
    let size = tree.size().to_int_size().scale_by(scale).context("the chart is too large")?;
    let mut pixmap = Pixmap::new(size.width(), size.height()).context("the chart is too large")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    let missing = missing.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Pixels { png: pixmap.encode_png()?, missing })
}

/// The font is packed in the program: 0.4 MB instead of 0.8. Unpacking takes less time than drawing one picture.
fn unpack_font() -> Vec<u8> {
    let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/font.gz"));
    let mut font = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut font).expect("the build packs a font");
    font
}

fn pixel_scale(width: f32, height: f32) -> f32 {
    SCALE.min((MOST_PIXELS / (width * height)).sqrt())
}

/// A font of the system that has a letter, in a form that can be drawn.
fn other_font(letter: char, tried: &[ID], fonts: &mut Arc<Database>) -> Option<ID> {
    // Only when needed: loading fonts takes longer than drawing the picture.
    if fonts.len() == 1 {
        Arc::make_mut(fonts).load_system_fonts();
    }
    let (choose, mut tried) = (FontResolver::default_fallback_selector(), tried.to_vec());
    loop {
        let font = choose(letter, &tried, fonts)?;
        if fonts.with_face_data(font, has_outlines).unwrap_or(false) {
            return Some(font);
        }
        tried.push(font);
    }
}

/// Letters that are little pictures, such as most emoji, would leave a hole.
fn has_outlines(font: &[u8], index: u32) -> bool {
    let format: Option<OutlineGlyphFormat> =
        FontRef::from_index(font, index).ok().and_then(|font_ref| font_ref.outline_glyphs().format());
    format.is_some()
}

#[cfg(test)]
mod tests {
    use jurist_core::chart::{Bar, Bars, MeasuredValue, Tone};

    use super::*;

    fn bars(label: &str) -> Chart {
        let bar =
            |value| Bar { label: label.to_owned(), measure: MeasuredValue::of(value), tone: Tone::Plain };
        Chart::Bars(Bars { title: "Mean".to_owned(), bars: vec![bar(0.4)], mark: None })
    }

    fn draw_label(label: &str) -> (Pixmap, BTreeSet<char>) {
        let picture = pixels(&bars(label).svg(ChartMedium::Pixels)).unwrap();
        (Pixmap::decode_png(&picture.png).unwrap(), picture.missing)
    }

    /// The number of pixels that are about as dark as text, in the part with the labels.
    fn dark(pixmap: &Pixmap) -> usize {
        let is_label = |at: usize| at as u32 % pixmap.width() < 100 && 90 < at as u32 / pixmap.width();
        let is_dark = |(at, pixel): &(usize, &resvg::tiny_skia::PremultipliedColorU8)| {
            is_label(*at) && pixel.red() < 90 && pixel.green() < 90 && pixel.blue() < 90
        };
        pixmap.pixels().iter().enumerate().filter(is_dark).count()
    }

    #[test]
    fn pixels_show_the_card_the_bar_and_the_text() {
        let (pixmap, missing) = draw_label("мне");
        assert_eq!((pixmap.width(), missing.len()), (1280, 0));
        let corner = pixmap.pixel(0, 0).unwrap();
        assert_eq!((corner.red(), corner.green(), corner.blue(), corner.alpha()), (255, 255, 255, 255));
        let blue = pixmap.pixels().iter().filter(|pixel| pixel.red() < 80 && 150 < pixel.blue()).count();
        assert!(2_000 < blue, "{blue} pixels are as blue as the bar");
        assert!(dark(&draw_label("").0) + 50 < dark(&pixmap), "the label is not there");
    }

    #[test]
    fn letters_that_no_font_has_are_reported() {
        // Not a letter, and never to be one.
        let (pixmap, missing) = draw_label("a\u{fdd0}\u{fdd0}");
        assert_eq!(missing, ['\u{fdd0}'].into());
        assert!(dark(&draw_label("a").0) < dark(&pixmap), "there is no box");
    }

    #[test]
    fn a_huge_picture_takes_no_more_memory_than_is_sensible() {
        assert!((pixel_scale(640.0, 400.0) - SCALE).abs() < 1e-6);
        let scale = pixel_scale(8_000.0, 16_000.0);
        assert!((scale - 0.5).abs() < 1e-6, "{scale}");
    }

    #[test]
    fn the_ending_decides() {
        assert_eq!(parse_chart_file("a.svg").unwrap().kind, ImageFormat::Svg);
        assert_eq!(parse_chart_file("b/c.PNG").unwrap().kind, ImageFormat::Png);
        for other in ["a.gif", "png", ".png", "-"] {
            assert_eq!(parse_chart_file(other).unwrap_err(), "a chart file must end in .svg or .png");
        }
    }
}
