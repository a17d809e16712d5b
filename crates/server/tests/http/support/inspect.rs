//! Direct access to the server's use cases and chain.

use portico_app::Portico;
use portico_chain::contracts::Contracts;
use portico_chain::remote::Remote;
use portico_server::config::{Config, Settings};
use portico_store::Role;

use super::{Anvil, App};

impl App {
    /// The use cases on the server's data, as for a command.
    pub(crate) async fn tool(&self) -> Portico {
        let settings = Settings {
            data: self.data.clone(),
            database: self.database.clone().map(Into::into),
            ..Settings::sandbox()
        };
        portico_server::admin(&Config::new(settings, Role::Tool).unwrap()).await.unwrap().0
    }

    /// The server's chain and contracts.
    pub(crate) async fn chain(&self) -> (Remote, Contracts) {
        let status = self.get("/v1/chain/status").await.json(200);
        let url = match status["node"].as_str() {
            Some("embedded") => format!("{}/rpc", self.url),
            _ => Anvil::shared().url.clone(),
        };
        let contracts = ["listingRegistry", "identityToken", "applicationChecks", "auditAnchor"]
            .map(|name| status["contracts"][name].as_str().unwrap().parse().unwrap());
        (Remote::new(vec![url], 1).unwrap(), Contracts(contracts))
    }
}
