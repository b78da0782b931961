//! TLS as this program speaks it: the system's authorities and those that the user names. There is
//! no way to do without verification.
//!
//! A certificate that signs itself and says that it is an authority's is none for a server by the
//! rules; many test servers have one all the same. Where the user names that very certificate, it is
//! taken for the server that shows it: its name and its dates still have to fit.

use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, ProtocolVersion, SignatureScheme,
};
use rustls_platform_verifier::Verifier;
use time::{Date, Month, OffsetDateTime, Time};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::failure;

/// Time for agreeing on TLS.
const AGREE: Duration = Duration::from_secs(5);

/// How TLS is spoken where certificates are named. `Err` says what is wrong with them.
pub(super) fn config(ca_pem: Option<&[u8]>) -> Result<ClientConfig, String> {
    let named: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(ca_pem.unwrap_or_default())
            .collect::<Result<_, _>>()
            .map_err(|error| format!("The extra CA file cannot be read: {error}."))?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let set_up = |error: Error| format!("TLS cannot be set up: {error}.");
    let inner =
        Verifier::new_with_extra_roots(named.clone(), Arc::clone(&provider)).map_err(set_up)?;
    let verifier = Named { inner, certificates: named, provider: Arc::clone(&provider) };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(set_up)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Agrees on TLS over an open connection, as a check does: the version, or what is wrong and what to
/// do about it.
pub async fn handshake(
    ca_pem: Option<&[u8]>,
    host: &str,
    stream: TcpStream,
) -> Result<&'static str, String> {
    let config = config(ca_pem)?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_invalid| format!("{host} is no name that a certificate could have."))?;
    let connector = TlsConnector::from(Arc::new(config));
    let agreed = match timeout(AGREE, connector.connect(name, stream)).await {
        Ok(Ok(agreed)) => agreed,
        Ok(Err(error)) => return Err(failure::tls_told(&failure::last_cause(&error))),
        Err(_elapsed) => {
            return Err(format!("no agreement on TLS within {} s", AGREE.as_secs()));
        }
    };
    let (_, connection) = agreed.get_ref();
    Ok(match connection.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
        Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
        _ => "TLS",
    })
}

/// The usual verification, and certificates that the user names.
#[derive(Debug)]
struct Named {
    inner: Verifier,
    certificates: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usual = self.inner.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match usual {
            Err(error) if self.certificates.contains(end_entity) && is_of_an_authority(&error) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                in_time(end_entity, now)?;
                Ok(ServerCertVerified::assertion())
            }
            usual => usual,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Whether all that is wrong with a certificate is that it says it is an authority's. The library
/// has no other name for it.
fn is_of_an_authority(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(_)))
        && error.to_string().contains("CaUsedAsEndEntity")
}

/// Whether a certificate is valid now. One whose dates cannot be read is not.
fn in_time(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let fault = |fault: CertificateError| Err(Error::InvalidCertificate(fault));
    let Some((from, until)) = validity(certificate.as_ref()) else {
        return fault(CertificateError::BadEncoding);
    };
    let Ok(now) = i64::try_from(now.as_secs()) else { return fault(CertificateError::Expired) };
    if now < from {
        return fault(CertificateError::NotValidYet);
    }
    if now > until {
        return fault(CertificateError::Expired);
    }
    Ok(())
}

/// From when until when a certificate (RFC 5280 §4.1) is valid, in seconds since 1970.
fn validity(certificate: &[u8]) -> Option<(i64, i64)> {
    const SEQUENCE: u8 = 0x30;
    const VERSION: u8 = 0xA0;
    let (_, certificate, _) = element(certificate)?;
    let (_, signed, _) = element(certificate)?;
    let (tag, _, rest) = element(signed)?;
    // A version may stand first; then serial number, algorithm and issuer.
    let mut rest = if tag == VERSION { rest } else { signed };
    for _ in 0..3 {
        (_, _, rest) = element(rest)?;
    }
    let (tag, validity, _) = element(rest)?;
    let (from_tag, from, rest) = element(validity)?;
    let (until_tag, until, _) = element(rest)?;
    (tag == SEQUENCE).then_some(())?;
    Some((moment(from_tag, from)?, moment(until_tag, until)?))
}

/// The first DER element: its tag, what it holds, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (length, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
        if length.len() > 4 {
            return None;
        }
        (length.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)), rest)
    };
    let (held, rest) = rest.split_at_checked(length)?;
    Some((*tag, held, rest))
}

/// A point in time in either of its two forms, in seconds since 1970.
fn moment(tag: u8, text: &[u8]) -> Option<i64> {
    const SHORT: u8 = 0x17;
    const LONG: u8 = 0x18;
    let digits = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        SHORT => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year: i32 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        LONG => {
            let (year, rest) = digits.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let part = |at: usize| rest.get(at..at + 2)?.parse::<u8>().ok();
    let date = Date::from_calendar_date(year, Month::try_from(part(0)?).ok()?, part(2)?).ok()?;
    let time = Time::from_hms(part(4)?, part(6)?, part(8)?).ok()?;
    Some(OffsetDateTime::new_utc(date, time).unix_timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time_are_read_in_both_forms() {
        assert_eq!(moment(0x17, b"700101000010Z"), Some(10));
        assert_eq!(moment(0x17, b"491231235959Z"), Some(2_524_607_999));
        assert_eq!(moment(0x18, b"19700101000010Z"), Some(10));
        for odd in [&b"700101000010"[..], b"Z", b"7001Z", b"709901000010Z", b"\xff0101000010Z"] {
            assert_eq!(moment(0x17, odd), None, "{odd:?}");
        }
        assert_eq!(moment(0x19, b"700101000010Z"), None);
    }

    #[test]
    fn a_certificate_says_how_long_it_is_valid_and_its_pieces_say_nothing() {
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 1, 2);
        params.not_after = rcgen::date_time_ymd(2060, 3, 4);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let der = certificate.der();
        assert_eq!(validity(der), Some((1_577_923_200, 2_845_584_000)));
        for end in 0..der.len() {
            validity(&der[..end]);
        }
        assert_eq!(validity(b""), None);
        let at = |seconds| in_time(der, UnixTime::since_unix_epoch(Duration::from_secs(seconds)));
        assert!(at(1_600_000_000).is_ok());
        assert!(at(1_500_000_000).is_err() && at(2_900_000_000).is_err());
    }
}
