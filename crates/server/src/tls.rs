//! HTTPS, by rustls: TLS 1.2 and 1.3.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::options::TlsFiles;

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("{} cannot be read: {e}", path.display()))
}

/// Reads the certificate and its key.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, String> {
    let path = files.certificate.display();
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&read(&files.certificate)?)
            .collect::<Result<_, _>>()
            .map_err(|e| format!("{path}: no certificates in PEM: {e}"))?;
    if chain.is_empty() {
        return Err(format!("{path}: no certificates in PEM"));
    }
    let path = files.key.display();
    let pem = read(&files.key)?;
    let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|e| {
        match pem.windows(9).any(|word| word == b"ENCRYPTED") {
            true => format!("{path}: the key has a password; write it without one with `openssl pkey -in {path} -out key.pem`"),
            false => format!("{path}: no private key in PEM: {e}"),
        }
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS: {e}"))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| format!("{path}: the key does not fit the certificate: {e}"))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
