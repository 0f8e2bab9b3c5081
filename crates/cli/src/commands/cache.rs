use std::io::Write;

use super::CommandOutcome;
use super::judging::cache;

/// Look at the judges' replies that are kept, or throw them away
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Replies are kept in $JURIST_CACHE, or in the user's cache folder, each under the hash of all that the judge saw.
Failures are never kept.")]
pub struct CacheArgs {
    #[command(subcommand)]
    what: CacheSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum CacheSubcommand {
    /// How many replies there are, and where
    Stats,
    /// Throw every reply away
    Clear,
}

pub fn run_cache_command(args: &CacheArgs) -> anyhow::Result<CommandOutcome> {
    let cache =
        cache().ok_or_else(|| anyhow::anyhow!("there is no cache folder; set JURIST_CACHE or HOME"))?;
    let mut out = crate::render::stdout();
    match args.what {
        CacheSubcommand::Stats => {
            let stats = cache.stats();
            writeln!(out, "{:<10}{}", "folder", cache.folder().display())?;
            writeln!(out, "{:<10}{}", "replies", stats.replies)?;
            writeln!(out, "{:<10}{:.1} MB", "size", stats.bytes as f64 / 1e6)?;
        }
        CacheSubcommand::Clear => {
            let stats = cache.clear();
            writeln!(out, "{} replies thrown away ({:.1} MB)", stats.replies, stats.bytes as f64 / 1e6)?;
        }
    }
    Ok(CommandOutcome::Passed)
}
