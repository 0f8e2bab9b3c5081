use std::io::Write;

use crate::judging::cache;
use crate::outcome::CommandOutcome;

/// Show or clear the cache of judge replies
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist cache stats
  jurist cache clear

Replies are stored in $JURIST_CACHE, or in the user's cache folder, under the
hash of everything that the judge received. Failures are not cached.")]
pub struct CacheArgs {
    #[command(subcommand)]
    what: CacheSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum CacheSubcommand {
    /// Show the number, size and location of cached replies
    #[command(after_help = "\
Examples:
  jurist cache stats")]
    Stats,
    /// Delete all cached replies
    #[command(after_help = "\
Examples:
  jurist cache clear")]
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
            writeln!(out, "deleted {} replies ({:.1} MB)", stats.replies, stats.bytes as f64 / 1e6)?;
        }
    }
    Ok(CommandOutcome::Passed)
}
