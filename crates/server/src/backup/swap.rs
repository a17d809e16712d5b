//! Puts restored files in the place of others. The moves are written down before the first one, so that a restore that
//! was cut off is completed by the next one; until then every other command refuses to use the data folder.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::{parent, sync_folder};

const NAME: &str = "restore.json";

/// One file in use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Move {
    /// What takes its place. `None`: it belongs to the file that is replaced.
    pub(super) staged: Option<PathBuf>,
    pub(super) place: PathBuf,
    /// Where it is kept.
    pub(super) kept_at: PathBuf,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) backup: String,
    /// In order: what belongs to a replaced file goes before it.
    pub(super) moves: Vec<Move>,
    /// Removed at the end.
    pub(super) staging: Vec<PathBuf>,
}

/// Fails if a restore into this data folder was cut off.
pub(crate) fn check_not_interrupted(data: &Path) -> Result<()> {
    if data.join(NAME).exists() {
        bail!(
            "a restore into the data folder {} was interrupted: run the same `portico restore` again, which completes it",
            data.display()
        );
    }
    Ok(())
}

/// Completes an interrupted restore; returns the id of its backup.
pub(super) fn complete_interrupted(data: &Path) -> Result<Option<String>> {
    let path = data.join(NAME);
    let text = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    let plan: Plan =
        serde_json::from_slice(&text).with_context(|| format!("{} cannot be read", path.display()))?;
    plan.finish(data)?;
    Ok(Some(plan.backup))
}

impl Plan {
    /// Writes the moves down, then makes them.
    pub(super) fn run(&self, data: &Path) -> Result<()> {
        for staging in &self.staging {
            sync_folder(staging)?;
        }
        self.write(data)?;
        self.finish(data)
    }

    fn write(&self, data: &Path) -> Result<()> {
        let (path, new) = (data.join(NAME), data.join(format!("{NAME}.new")));
        let cannot = || format!("{} cannot be written", path.display());
        let created = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new);
        let mut file = created.with_context(cannot)?;
        file.write_all(&serde_json::to_vec_pretty(self)?).with_context(cannot)?;
        file.sync_all().with_context(cannot)?;
        std::fs::rename(&new, &path).with_context(cannot)?;
        sync_folder(data)
    }

    fn finish(&self, data: &Path) -> Result<()> {
        for one in &self.moves {
            one.run()?;
        }
        for folder in self.moves.iter().flat_map(|one| [parent(&one.kept_at), parent(&one.place)]) {
            if folder.exists() {
                sync_folder(folder)?;
            }
        }
        std::fs::remove_file(data.join(NAME)).context("the restore cannot be completed")?;
        sync_folder(data)?;
        for staging in &self.staging {
            // The restore is complete; what is left here is of no use.
            let _ = std::fs::remove_dir_all(staging);
        }
        Ok(())
    }
}

impl Move {
    /// May have been cut off anywhere before.
    fn run(&self) -> Result<()> {
        if let Some(staged) = &self.staged
            && !staged.exists()
        {
            if !self.place.exists() {
                bail!("{} is gone, and {} with it", staged.display(), self.place.display());
            }
            // It is the restored one already.
            return Ok(());
        }
        if self.place.exists() {
            let folder = parent(&self.kept_at);
            if !folder.exists() {
                super::make_private_folder(folder)?;
            }
            rename(&self.place, &self.kept_at)?;
        }
        match &self.staged {
            Some(staged) => rename(staged, &self.place),
            None => Ok(()),
        }
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to)
        .with_context(|| format!("{} cannot be renamed to {}", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(contents(&path));
            } else {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
        found.sort();
        found
    }

    fn plan(data: &Path) -> Plan {
        let moved = |name: &str, is_staged: bool| Move {
            staged: is_staged.then(|| data.join("staging").join(name)),
            place: data.join(name),
            kept_at: data.join("replaced").join(name),
        };
        Plan {
            backup: "b".into(),
            moves: vec![moved("a.db-wal", false), moved("a.db", true), moved("c.db", true)],
            staging: vec![data.join("staging")],
        }
    }

    /// The moves are single renames: stopping before each of them covers every crash.
    #[test]
    fn restore_that_is_cut_off_anywhere_is_completed() {
        for steps in 0..6 {
            let folder = tempfile::tempdir().unwrap();
            let data = folder.path();
            std::fs::create_dir(data.join("staging")).unwrap();
            for (name, text) in
                [("a.db", "old"), ("a.db-wal", "old wal"), ("staging/a.db", "new"), ("staging/c.db", "new c")]
            {
                std::fs::write(data.join(name), text).unwrap();
            }
            let plan = plan(data);
            plan.write(data).unwrap();
            assert!(check_not_interrupted(data).is_err());
            let renames = [
                ("a.db-wal", "replaced/a.db-wal"),
                ("a.db", "replaced/a.db"),
                ("staging/a.db", "a.db"),
                ("staging/c.db", "c.db"),
            ];
            if steps > 0 {
                std::fs::create_dir(data.join("replaced")).unwrap();
            }
            for (from, to) in renames.iter().take(steps) {
                std::fs::rename(data.join(from), data.join(to)).unwrap();
            }
            assert_eq!(complete_interrupted(data).unwrap().as_deref(), Some("b"));
            check_not_interrupted(data).unwrap();
            let expected = [("a.db", "new"), ("a.db", "old"), ("a.db-wal", "old wal"), ("c.db", "new c")];
            assert_eq!(contents(data), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
            assert_eq!(std::fs::read_to_string(data.join("a.db")).unwrap(), "new");
            assert_eq!(complete_interrupted(data).unwrap(), None);
        }
    }
}
