"""Certificates and keys for connections to banks: readable, in time, and belonging together."""

import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from kontor.cli.checks.findings import Finding, ok, problem, warning
from kontor.config import Settings

EXPIRY_NOTICE = timedelta(days=30)


def check_certificates(settings: Settings, now: datetime) -> Iterator[Finding]:
    connection = (settings.xs2a_certificate, settings.xs2a_key)
    seal = (settings.xs2a_seal_certificate, settings.xs2a_seal_key)
    yield from _check_pair("KONTOR_XS2A_CERTIFICATE", "KONTOR_XS2A_KEY", *connection, now)
    yield from _check_pair("KONTOR_XS2A_SEAL_CERTIFICATE", "KONTOR_XS2A_SEAL_KEY", *seal, now, needs_rsa=True)
    if settings.bank_authorities is not None:
        yield _check_authorities(settings.bank_authorities)


def _check_pair(
    certificate_name: str,
    key_name: str,
    certificate_file: Path | None,
    key_file: Path | None,
    now: datetime,
    *,
    needs_rsa: bool = False,
) -> Iterator[Finding]:
    if certificate_file is None and key_file is None:
        return
    if certificate_file is None or key_file is None:
        missing, given = (certificate_name, key_name) if certificate_file is None else (key_name, certificate_name)
        yield problem(missing, f"is not set, but {given} is. A certificate and its key are set together.")
        return
    certificate = _load_certificate(certificate_name, certificate_file)
    key = _load_key(key_name, key_file)
    yield from (found for found in (certificate, key) if isinstance(found, Finding))
    if isinstance(certificate, Finding) or isinstance(key, Finding):
        return
    if needs_rsa and not isinstance(key, RSAPrivateKey):
        yield problem(key_name, f"{key_file} is not an RSA key, which message signatures need.")
    elif _write_public(certificate.public_key()) != _write_public(key.public_key()):
        yield problem(key_name, f"{key_file} is not the key of the certificate {certificate_file}.")
    else:
        yield _check_validity(certificate_name, certificate, now)


def _load_certificate(name: str, file: Path) -> x509.Certificate | Finding:
    try:
        return x509.load_pem_x509_certificate(file.read_bytes())
    except OSError as error:
        return problem(name, f"{file} cannot be read: {error.strerror}.")
    except ValueError:
        return problem(name, f"{file} is not a certificate in PEM form.")


def _load_key(name: str, file: Path) -> PrivateKeyTypes | Finding:
    try:
        return load_pem_private_key(file.read_bytes(), None)
    except OSError as error:
        return problem(name, f"{file} cannot be read: {error.strerror}.")
    except TypeError:
        return problem(name, f"{file} is encrypted with a password. Kontor reads keys without one.")
    except (ValueError, UnsupportedAlgorithm):
        return problem(name, f"{file} is not a private key in PEM form.")


def _write_public(key: object) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined, no-any-return]


def _check_validity(name: str, certificate: x509.Certificate, now: datetime) -> Finding:
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now < start:
        return problem(name, f"is valid from {start:%Y-%m-%d} on. Check the clock, or use the former certificate.")
    if now > end:
        return problem(name, f"has expired on {end:%Y-%m-%d}. Renew it.")
    if now > end - EXPIRY_NOTICE:
        return warning(name, f"expires on {end:%Y-%m-%d}. Renew it in time.")
    return ok(name, f"is valid until {end:%Y-%m-%d}, and the key belongs to it.")


def _check_authorities(file: Path) -> Finding:
    name = "KONTOR_BANK_AUTHORITIES"
    try:
        count = len(ssl.create_default_context(cafile=file).get_ca_certs())
    except (OSError, ssl.SSLError) as error:
        return problem(name, f"{file} is not a readable PEM file of certificates: {error.strerror or error}.")
    return warning(name, f"{count} authorities of {file} are trusted instead of the system's. Only for test banks.")
