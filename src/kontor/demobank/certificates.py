"""A certificate authority of the demo bank's own, and a server certificate signed by it."""

import ipaddress
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CA_DAYS = 3650
SERVER_DAYS = 365
RENEW_DAYS = 30


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files: the authority's certificate, which clients must trust, and the server's certificate and key."""

    authority: Path
    certificate: Path
    key: Path


def ensure_certificates(folder: Path, host: str) -> Certificates:
    """Made once and kept; the server's is renewed when it is about to end, or the bank moves to another host."""
    folder.mkdir(parents=True, exist_ok=True)
    files = Certificates(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    authority_key = folder / "ca.key"
    if not (files.authority.exists() and authority_key.exists()):
        key = _write_key(authority_key)
        files.authority.write_bytes(_make_authority(key).public_bytes(serialization.Encoding.PEM))
        files.certificate.unlink(missing_ok=True)
    if not _is_usable(files, host):
        issuer = x509.load_pem_x509_certificate(files.authority.read_bytes())
        issuer_key = serialization.load_pem_private_key(authority_key.read_bytes(), None)
        assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
        certificate = _make_server_certificate(_write_key(files.key), issuer, issuer_key, host)
        files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return files


def _write_key(path: Path) -> ec.EllipticCurvePrivateKey:
    key = ec.generate_private_key(ec.SECP256R1())
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text)
    return key


def _is_usable(files: Certificates, host: str) -> bool:
    if not (files.certificate.exists() and files.key.exists()):
        return False
    certificate = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    wanted = set(_list_names(host))
    is_young = certificate.not_valid_after_utc > datetime.now(UTC) + timedelta(days=RENEW_DAYS)
    return is_young and wanted <= set(names)


def _list_names(host: str) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = [
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        x509.IPAddress(ipaddress.ip_address("::1")),
    ]
    try:
        own: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        own = x509.DNSName(host)
    return names if own in names else [*names, own]


def _name(text: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Kontor Demobank"),
            x509.NameAttribute(NameOID.COMMON_NAME, text),
        ]
    )


def _make_authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    now, name = datetime.now(UTC), _name("Kontor Demobank local CA")
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=CA_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=True,
                crl_sign=True,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _make_server_certificate(
    key: ec.EllipticCurvePrivateKey, issuer: x509.Certificate, issuer_key: ec.EllipticCurvePrivateKey, host: str
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(host))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=SERVER_DAYS))
        .add_extension(x509.SubjectAlternativeName(_list_names(host)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
