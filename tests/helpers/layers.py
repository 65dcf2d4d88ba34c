"""The layers of a connection: TCP alone, or TLS with every step controlled by the test."""

from __future__ import annotations

import contextlib
import datetime as dt
import socket
import ssl
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Context: TypeAlias = ssl.SSLContext
PIECE = 65536


class Layer(Protocol):
    def open(self) -> None: ...
    def receive(self) -> bytes: ...
    def send(self, data: bytes) -> None: ...
    def finish(self) -> None: ...


class Plain:
    """TCP."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.bytes = bytearray()
        """All that ever came, encrypted or not."""

    def open(self) -> None:
        pass

    def receive(self) -> bytes:
        data = self._socket.recv(PIECE)
        self.bytes += data
        return data

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def finish(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)


class Tls:
    """TLS over another layer, so that either can be ended without the other."""

    def __init__(self, below: Layer, context: Context) -> None:
        self._below = below
        self._come, self._go = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._come, self._go, server_side=True)

    def _flush(self) -> None:
        if data := self._go.read():
            self._below.send(data)

    def _feed(self) -> None:
        if data := self._below.receive():
            self._come.write(data)
        else:
            self._come.write_eof()

    def open(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._feed()
            except ssl.SSLError:
                # The alert that says why is part of what the client is to see.
                self._flush()
                raise
            else:
                self._flush()
                return

    def receive(self) -> bytes:
        while True:
            try:
                return self._tls.read(PIECE)
            except ssl.SSLWantReadError:
                self._flush()
                self._feed()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    def send(self, data: bytes) -> None:
        self._tls.write(data)
        self._flush()

    def finish(self) -> None:
        # The other side may be gone already; OpenSSL also wants to hear its farewell.
        with contextlib.suppress(OSError):
            self._tls.unwrap()
        with contextlib.suppress(OSError):
            self._flush()
        self._below.finish()


@dataclass(frozen=True)
class Authority:
    """An authority of the test's own, and where its certificate stands as a file."""

    ca: trustme.CA
    pem: Path

    @classmethod
    def make(cls, directory: Path, name: str = "authority") -> Authority:
        ca, path = trustme.CA(organization_name=name), directory / f"{name}.pem"
        ca.cert_pem.write_to_path(str(path))
        return cls(ca, path)

    def context(
        self,
        *names: str,
        not_before: dt.datetime | None = None,
        not_after: dt.datetime | None = None,
    ) -> Context:
        """A server that shows a certificate of this authority for these names and addresses."""
        return server_context(self.ca.issue_cert(*names, not_before=not_before, not_after=not_after))


def server_context(certificate: trustme.LeafCert) -> Context:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    # A client that offered HTTP/2 would get it, and be found out.
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


def old_context(certificate: trustme.LeafCert) -> Context:
    """An old server: TLS 1.1 at most."""
    context = server_context(certificate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


def self_signed_context(directory: Path, name: str, *, authority: bool) -> Context:
    """A server with a self-signed certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "self-signed for a test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return _loaded(directory, private, certificate.public_bytes(serialization.Encoding.PEM))


def lone_leaf_context(authority: Authority, directory: Path, name: str) -> Context:
    """A server that forgets to send the certificate between its own and the authority's."""
    leaf = authority.ca.create_child_ca().issue_cert(name)
    return _loaded(directory, leaf.private_key_pem.bytes(), leaf.cert_chain_pems[0].bytes())


def _loaded(directory: Path, private: bytes, certificate: bytes) -> Context:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    path = directory / "server.pem"
    path.write_bytes(private + certificate)
    context.load_cert_chain(path)
    return context
