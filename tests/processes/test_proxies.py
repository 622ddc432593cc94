"""nginx and Caddy with the configurations of `deploy`, in front of a server that says what reaches it."""

import datetime
import json
import re
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from process_tree import wait_until
from processes import free_port

pytestmark = pytest.mark.peers

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME, CONSOLE = "kontor.example.com", "console.kontor.example.com"
BODY_BYTES = 16 * 1024 * 1024


class Echo(BaseHTTPRequestHandler):
    """Answers with the request as it arrived."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        facts = {"path": self.path, "headers": dict(self.headers), "bytes": len(body)}
        content = json.dumps(facts).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Strict-Transport-Security", "max-age=31536000")
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 (the library's names)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def upstream() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME), x509.DNSName(CONSOLE)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "privkey.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return folder


def start_nginx(
    folder: Path, port: int, plain_port: int, upstream: int, certificate: Path, name: str = "kontor.conf"
) -> list[str]:
    site = (DEPLOY / "nginx" / name).read_text()
    site = re.sub(r"\n *listen \[::\].*", "", site).replace("listen 443", f"listen 127.0.0.1:{port}")
    site = site.replace("listen 80;", f"listen 127.0.0.1:{plain_port};").replace("/etc/ssl/kontor", str(certificate))
    (folder / "site.conf").write_text(site.replace("127.0.0.1:8080", f"127.0.0.1:{upstream}"))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off;\nuser root;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}include {folder}/site.conf;\n}}\n"
    )
    return [find_program("nginx"), "-c", str(folder / "nginx.conf")]


def start_caddy(
    folder: Path, port: int, plain_port: int, upstream: int, certificate: Path, name: str = "Caddyfile"
) -> list[str]:
    site = (DEPLOY / "caddy" / name).read_text().replace("127.0.0.1:8080", f"127.0.0.1:{upstream}")
    tls = f"\ttls {certificate}/fullchain.pem {certificate}/privkey.pem\n"
    for host in (NAME, CONSOLE):
        site = site.replace(f"\n{host} {{\n", f"\n{host} {{\n{tls}")
    options = f"{{\n\tadmin off\n\thttp_port {plain_port}\n\thttps_port {port}\n}}\n"
    (folder / "Caddyfile").write_text(options + site)
    return [find_program("caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def find_program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    assert found is not None, f"install {name}: ./dev test peers does"
    return found


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


Start = Callable[[Path, int, int, int, Path], list[str]]
Proxy = tuple[httpx.Client, int]


@contextmanager
def running_proxy(start: Start, folder: Path, upstream: int, certificate: Path) -> Iterator[Proxy]:
    port, plain_port = free_port(), free_port()
    command = start(folder, port, plain_port, upstream, certificate)
    environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        wait_until(lambda: is_listening(port), "the proxy listens", 60)
        trusted = ssl.create_default_context(cafile=str(certificate / "fullchain.pem"))
        with httpx.Client(verify=trusted, base_url=f"https://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
            yield client, plain_port
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module", params=[start_nginx, start_caddy], ids=["nginx", "caddy"])
def proxy(request, upstream, certificate, tmp_path_factory) -> Iterator[Proxy]:
    with running_proxy(request.param, tmp_path_factory.mktemp("proxy"), upstream, certificate) as running:
        yield running


TWO_HOSTS = [
    partial(start_nginx, name="kontor-two-hosts.conf"),
    partial(start_caddy, name="Caddyfile.two-hosts"),
]


@pytest.fixture(scope="module", params=TWO_HOSTS, ids=["nginx", "caddy"])
def two_hosts(request, upstream, certificate, tmp_path_factory) -> Iterator[Proxy]:
    with running_proxy(request.param, tmp_path_factory.mktemp("proxy"), upstream, certificate) as running:
        yield running


def ask(proxy, method: str, path: str, host: str = NAME, **facts) -> httpx.Response:
    client, _ = proxy
    headers = {"Host": host} | facts.pop("headers", {})
    return client.request(method, path, headers=headers, extensions={"sni_hostname": host}, **facts)


def test_a_caller_cannot_forge_its_address(proxy):
    answer = ask(proxy, "GET", "/health/ready", headers={"X-Forwarded-For": "203.0.113.9"})
    assert answer.status_code == 200, answer.text
    headers = {name.lower(): value for name, value in answer.json()["headers"].items()}
    assert headers["x-forwarded-for"] == "127.0.0.1"
    assert (headers["x-forwarded-proto"], headers["host"]) == ("https", NAME)
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_the_largest_body_passes_and_a_larger_one_does_not(proxy):
    answer = ask(proxy, "POST", "/import", content=b"x" * BODY_BYTES)
    assert answer.json()["bytes"] == BODY_BYTES
    assert ask(proxy, "POST", "/import", content=b"x" * (BODY_BYTES + 2 * 1024 * 1024)).status_code in (413, 502)


def test_metrics_are_not_served_and_plain_http_is_redirected(proxy):
    assert ask(proxy, "GET", "/metrics").status_code == 403
    _, plain_port = proxy
    answer = httpx.get(f"http://127.0.0.1:{plain_port}/health", headers={"Host": NAME}, trust_env=False)
    assert answer.status_code == 308
    assert answer.headers["location"].startswith(f"https://{NAME}")


def test_with_two_hosts_the_console_serves_its_pages_alone(two_hosts):
    for path in ("/console", "/console/accounts", "/console/assets/page.css"):
        answer = ask(two_hosts, "GET", path, CONSOLE, headers={"X-Forwarded-For": "203.0.113.9"})
        assert answer.status_code == 200, path
        headers = {name.lower(): value for name, value in answer.json()["headers"].items()}
        assert (answer.json()["path"], headers["host"], headers["x-forwarded-for"]) == (path, CONSOLE, "127.0.0.1")
    for path in ("/customer/v2", "/customer/v2/webform", "/auth/oauth2/token", "/metrics", "/docs", "/consoles"):
        assert ask(two_hosts, "GET", path, CONSOLE).status_code == 404, path
    answer = ask(two_hosts, "GET", "/", CONSOLE)
    assert (answer.status_code, answer.headers["location"]) == (308, f"https://{CONSOLE}/console")


def test_with_two_hosts_the_api_serves_all_but_the_console(two_hosts):
    assert ask(two_hosts, "GET", "/customer/v2/webform?session=x").json()["path"] == "/customer/v2/webform?session=x"
    assert ask(two_hosts, "GET", "/metrics").status_code == 403
    for path in ("/console", "/console/accounts?a=b"):
        answer = ask(two_hosts, "GET", path)
        assert (answer.status_code, answer.headers["location"]) == (308, f"https://{CONSOLE}{path}")
    assert ask(two_hosts, "POST", "/import", content=b"x" * BODY_BYTES).json()["bytes"] == BODY_BYTES
