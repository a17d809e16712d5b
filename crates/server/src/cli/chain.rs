//! `portico chain`.

use anyhow::Result;
use clap::Subcommand;
use portico_store::Role;

use super::args::{ChainArgs, Global};
use crate::chain;

#[derive(Debug, Subcommand)]
pub(super) enum ChainCommand {
    /// Deploys the contracts and prints where they are; once for a database
    #[command(
        after_help = "Example:\n  PORTICO_CHAIN_KEY=… portico chain deploy --chain https://rpc.example --database postgres://…"
    )]
    Deploy(ChainArgs),
    /// Shows the state of chain and queue
    Status(ChainArgs),
    /// Compares every item in the database with the chain
    #[command(after_help = "Examples:\n  portico chain reconcile\n  portico chain reconcile --mend")]
    Reconcile {
        #[command(flatten)]
        chain: ChainArgs,
        /// Record what differs again
        #[arg(long)]
        mend: bool,
    },
}

pub(super) async fn run(global: &Global, command: ChainCommand) -> Result<String> {
    let config = |args: &ChainArgs| global.config(args, Role::Tool);
    match command {
        ChainCommand::Deploy(args) => chain::deploy(&config(&args)?).await,
        ChainCommand::Status(args) => chain::status(&config(&args)?).await,
        ChainCommand::Reconcile { chain: args, mend: repair } => {
            chain::reconcile(&config(&args)?, repair).await
        }
    }
}
