//! `portico chain`.

use anyhow::Result;
use clap::Subcommand;
use portico_app::Role;

use super::args::Global;
use crate::chain;
use crate::config::ChainFlags;

#[derive(Debug, Subcommand)]
pub(super) enum ChainCommand {
    /// Deploys the contracts and prints where they are; once for a database
    #[command(
        after_help = "Example:\n  PORTICO_CHAIN_KEY=… portico chain deploy --chain https://rpc.example --database postgres://…"
    )]
    Deploy(ChainFlags),
    /// Shows the state of chain and queue
    Status(ChainFlags),
    /// Compares every item in the database with the chain
    #[command(after_help = "Examples:\n  portico chain reconcile\n  portico chain reconcile --repair")]
    Reconcile {
        #[command(flatten)]
        chain: ChainFlags,
        /// Record what differs again
        #[arg(long)]
        repair: bool,
    },
}

pub(super) async fn run(global: &Global, command: ChainCommand) -> Result<String> {
    let config = |args: &ChainFlags| global.config(args, Role::Tool);
    match command {
        ChainCommand::Deploy(args) => chain::deploy(&config(&args)?).await,
        ChainCommand::Status(args) => chain::status(&config(&args)?).await,
        ChainCommand::Reconcile { chain: args, repair } => chain::reconcile(&config(&args)?, repair).await,
    }
}
