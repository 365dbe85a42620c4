"""What a process in a sandbox reaches whose network is a list: its model, by no other way than the list."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import uuid
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from asbuilt.agents.sandbox.launch import launch, probe, settle
from asbuilt.agents.sandbox.proxy import Egress, served
from asbuilt.policy.agent_kinds import KINDS, hosts_of
from asbuilt.policy.sandbox.hosts import hosts_named
from asbuilt.policy.sandbox.rules import for_agent

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")
LEAST = 40
INSIDE = Path(__file__).parent / "inside.py"


class Outside(NamedTuple):
    """Servers of this machine that nothing in the sandbox may reach, but for the model's."""

    spec: dict[str, Any]
    hits: list[str]


def _answering(text: bytes, hits: list[str], elsewhere: str = "") -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(302 if elsewhere and self.path == "/elsewhere" else 200)
            if elsewhere:
                self.send_header("Location", elsewhere)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    """Have a model on loopback, and other servers of every kind around it."""
    hits: list[str] = []
    with ExitStack() as stack:
        everywhere = ("", 0)
        server = stack.enter_context(ThreadingHTTPServer(everywhere, _answering(b"OUT", hits)))
        port = server.server_port
        model_type = _answering(b"model", [], f"http://127.0.0.1:{port}/redirected")
        model = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), model_type))
        for one in (server, model):
            threading.Thread(target=one.serve_forever, daemon=True).start()
            stack.callback(one.shutdown)
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(everywhere)
        udp.settimeout(0.5)
        stack.callback(_hear, udp, hits)
        names = f"\0out-{uuid.uuid4()}", str(folder / "out.sock")
        for name in names:
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(name)
            listener.listen()
        yield Outside(
            {
                "port": port,
                "udp": udp.getsockname()[1],
                "model": model.server_port,
                "address": _address(),
                "abstract": names[0][1:],
                "path": names[1],
            },
            hits,
        )


def _hear(udp: socket.socket, hits: list[str]) -> None:
    try:
        udp.recv(512)
    except TimeoutError:
        return
    hits.append("udp")


def _address() -> str:
    """Find an address of this machine that is not its loopback; without one its loopback has to do."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.2"
        return str(one.getsockname()[0])


class Tried(NamedTuple):
    """What came of all ways."""

    tried: int
    found: list[str]
    reached: bool
    hits: list[str]
    refused: list[str]


def _try_all(kind: str, tmp_path: Path, *, network: bool = False) -> Tried:
    hosts = hosts_of(KINDS[kind], {})
    listed = next((one for one in hosts if not one.startswith("*")), "models.example.com")
    work, home, tmp, out = (tmp_path / name for name in ("work", "home", "tmp", "out"))
    for folder in (work, home, tmp, out):
        folder.mkdir()
    refused: list[str] = []
    with outside(tmp_path) as there:
        named = (*hosts, listed, f"127.0.0.1:{there.spec['model']}")
        allowed = hosts_named(named)
        egress = None if network else Egress(allowed, lambda host, why: refused.append(f"{host}: {why}"))
        led = egress.environment if egress else {"HTTPS_PROXY": "http://127.0.0.1:9"}
        (work / "inside.py").write_bytes(INSIDE.read_bytes())
        (work / "spec.json").write_text(json.dumps({**there.spec, "listed": listed}))
        request = settle(
            for_agent(
                workspace=str(work),
                writable=True,
                out=str(out),
                home=str(home),
                tmp=str(tmp),
                network=network,
                environment={"PATH": os.environ["PATH"], **led},
            ),
            homes=(home,),
        )
        argv = (sys.executable, "-I", "-S", str(work / "inside.py"), str(work / "spec.json"))
        with launch("bwrap", request, argv, egress=egress) as process, served(egress):
            output, _ = process.communicate(timeout=120)
    line = next((one for one in output.decode().splitlines() if one.startswith("WAYS ")), None)
    assert line is not None, output.decode()
    return Tried(**json.loads(line.removeprefix("WAYS ")), hits=there.hits, refused=refused)


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini", "opencode"])
def test_no_way_leads_out_of_the_sandbox_of_an_agent_but_that_to_its_model(kind: str, tmp_path: Path) -> None:
    told = _try_all(kind, tmp_path)
    assert (told.found, told.hits, told.reached) == ([], [], True)
    assert told.tried >= LEAST
    assert len(told.refused) >= LEAST // 2


def test_with_the_machines_own_network_many_do(tmp_path: Path) -> None:
    """Shows that the test above can fail."""
    told = _try_all("claude", tmp_path, network=True)
    assert {"tcp 127.0.0.1", "tcp ::1", "abstract", "redirect", "no proxy"} & {*told.found} != set()
    assert told.hits
