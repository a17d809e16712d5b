//! Rotation: a new master key wraps the key of every person.

use portico_domain::Timestamp;
use portico_store::keystore::{Rotation, Wrapped};

use super::person_keys::Keystore;
use super::sealing::{Root, Sealer};
use crate::error::{Error, Result};

/// Keys that are wrapped anew in one transaction.
const REWRAP_BATCH: i64 = 256;
/// Passes that find no key to wrap although some are left, before a rotation gives up.
const MAX_FRUITLESS_PASSES: u32 = 3;
/// Another rotation began later.
const SUPERSEDED: Error = Error::RotationSuperseded;

impl Keystore {
    /// Wraps every key by a new master key, and removes the old ones. If another root secret is given, it opens
    /// the new master key as well, so that the next start may use it.
    ///
    /// Of several rotations at the same time the one that began last wins; the others end with a conflict.
    pub async fn rotate(
        &self,
        at: Timestamp,
        also: Option<&Root>,
        mut progress: impl FnMut(u64),
    ) -> Result<u64> {
        let (id, master) = self.new_master(at, also).await?;
        let (mut rotated, mut fruitless) = (0, 0);
        loop {
            let before = rotated;
            self.rewrap_older(&id, &master, &mut rotated, &mut progress).await?;
            match self.store.finish_rotation(&id).await? {
                Rotation::Done => return Ok(rotated),
                Rotation::Superseded => return Err(SUPERSEDED),
                // A key may have been made meanwhile, by a server that did not know the new master key yet.
                Rotation::KeysLeft if rotated > before => fruitless = 0,
                Rotation::KeysLeft if fruitless < MAX_FRUITLESS_PASSES => fruitless += 1,
                Rotation::KeysLeft => {
                    return Err(Error::Bug("some keys are wrapped by a master key that is gone".into()));
                }
            }
        }
    }

    /// Wraps the keys of all older master keys by this one.
    async fn rewrap_older(
        &self,
        id: &[u8],
        master: &Sealer,
        rotated: &mut u64,
        progress: &mut impl FnMut(u64),
    ) -> Result<()> {
        let mut after = String::new();
        loop {
            let keys = self.store.keys_under_older(id, &after, REWRAP_BATCH).await?;
            let Some(last) = keys.last() else { return Ok(()) };
            after.clone_from(&last.name);
            let mut changes = Vec::with_capacity(keys.len());
            for before in keys {
                // If it cannot be opened, another rotation may have taken its master key away: the next pass
                // finds it where it is then.
                let Ok(key) = self.unwrap(&before).await else { continue };
                let wrapped = master.seal(&[b"key", before.name.as_bytes(), id], &key)?;
                let after =
                    Wrapped { id: before.id, name: before.name.clone(), master: id.to_vec(), wrapped };
                changes.push((before, after));
            }
            *rotated += changes.len() as u64;
            if !self.store.rewrap(id, changes).await? {
                return Err(SUPERSEDED);
            }
            progress(*rotated);
        }
    }
}

#[cfg(test)]
mod tests {
    use portico_domain::UserId;

    use super::super::person_keys::tests::{AT, keystore};
    use super::*;

    #[tokio::test]
    async fn rotation_keeps_values_readable_for_open_keystores() {
        let folder = tempfile::tempdir().unwrap();
        let (server, tool) = (keystore(&folder, 1).await, keystore(&folder, 1).await);
        let users: Vec<UserId> = (0..600).map(|n| UserId::stored(format!("user-{n}"))).collect();
        let mut sealed = Vec::new();
        for user in &users {
            sealed.push(server.person_or_new(user, AT).await.unwrap().seal(&[], b"secret").unwrap());
        }
        let before = server.store.masters().await.unwrap();
        assert_eq!(tool.rotate(Timestamp::from_micros(2), None, |_| ()).await.unwrap(), 600);
        let after = server.store.masters().await.unwrap();
        assert_eq!((before.len(), after.len()), (1, 1));
        assert_ne!(before, after);
        for (user, sealed) in users.iter().zip(&sealed) {
            let key = server.person(user).await.unwrap().unwrap();
            assert_eq!(**key.open(&[], sealed).unwrap(), *b"secret");
        }
    }

    #[tokio::test]
    async fn new_root_secret_opens_only_after_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (keystore(&folder, 1).await, keystore(&folder, 2).await);
        let ada = UserId::stored("ada");
        old.person_or_new(&ada, AT).await.unwrap();
        assert!(!new.verify_root_key().await.unwrap());
        assert!(new.person(&ada).await.is_err());
        let root = Root::new(&vec![2; 32].into()).unwrap();
        old.rotate(Timestamp::from_micros(2), Some(&root), |_| ()).await.unwrap();
        assert!(new.verify_root_key().await.unwrap() && old.verify_root_key().await.unwrap());
        assert!(new.person(&ada).await.unwrap().is_some());
    }
}
