//! A data folder and a database for consecutive servers.

use std::path::PathBuf;

use tempfile::TempDir;

use super::{App, Engine, Options};

pub(crate) struct Installation {
    engine: Engine,
    folder: TempDir,
    database: Option<String>,
}

impl Installation {
    pub(crate) async fn new(engine: Engine) -> Self {
        Self { engine, folder: tempfile::tempdir().unwrap(), database: engine.database().await }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn options(&self) -> Options {
        let options = Options::new(self.engine).data(&self.data());
        match &self.database {
            Some(url) => options.database(url),
            None => options,
        }
    }

    pub(crate) async fn start(&self) -> App {
        self.options().start().await
    }

    /// Stops a server as an operator does, and starts the next one.
    pub(crate) async fn restart(&self, mut app: App) -> App {
        app.signal("TERM");
        assert!(app.ended().await);
        drop(app);
        self.start().await
    }
}
