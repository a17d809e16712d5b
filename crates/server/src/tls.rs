//! TLS: the certificate and its key, which are read again on SIGHUP.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Context as _, Result, bail};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::{ExposeSecret as _, SecretSlice};
use tokio::signal::unix::Signal;
use tokio_rustls::TlsAcceptor;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// The certificate of this server, and those between it and the authority's.
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    pub(crate) fn open(files: TlsFiles) -> Result<Self> {
        let current = RwLock::new(read(&files)?);
        Ok(Self { files, current })
    }

    /// For one connection, which keeps its certificate.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone().into()
    }

    /// Reads the files again on every signal. If they cannot be used, the certificate stays as it is.
    pub(crate) async fn reload_on(self: Arc<Self>, mut signal: Signal) {
        while signal.recv().await.is_some() {
            match read(&self.files) {
                Ok(config) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = config;
                    tracing::info!("the TLS certificate was read again");
                }
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(error, "the new TLS certificate cannot be used: the old one stays");
                }
            }
        }
    }
}

fn read(files: &TlsFiles) -> Result<Arc<ServerConfig>> {
    let certificate = read_file(&files.certificate)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate).collect();
    let chain = chain.with_context(|| format!("{} is no certificate", files.certificate.display()))?;
    if chain.is_empty() {
        bail!("{} holds no certificate", files.certificate.display());
    }
    let key: SecretSlice<u8> = read_file(&files.key)?.into();
    let key = PrivateKeyDer::from_pem_slice(key.expose_secret())
        .with_context(|| format!("{} holds no private key", files.key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(|| format!("{} and {} do not fit", files.certificate.display(), files.key.display()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}
