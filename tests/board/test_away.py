"""The board from another computer, as docs/how-to/board.md has it; that computer is a network namespace."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, NamedTuple

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from tests.board.browsing import PROGRAMS
from tests.journeys.test_commands import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.board.conftest import Served
    from tests.journeys.test_commands import Office

pytestmark = pytest.mark.crash
HERE, THERE = "10.203.7.1", "10.203.7.2"
SBIN = f"{os.environ['PATH']}:/usr/sbin:/sbin"


class Laptop(NamedTuple):
    """A computer beside this one, with a network of its own."""

    name: str

    def typed(self, *command: str) -> list[str]:
        """Return the command line that starts a program on it."""
        return [str(which("ip", path=SBIN)), "netns", "exec", self.name, *command]

    @contextmanager
    def browser(self, folder: Path) -> Iterator[Browser]:
        """Start Chromium on it."""
        program = next((found for name in PROGRAMS if (found := which(name))), None)
        if program is None:
            pytest.skip(f"NOT RUN: none of {', '.join(PROGRAMS)} is installed")
        starter = folder / "chromium-there"
        starter.write_text(f'#!/bin/sh\nexec {" ".join(self.typed(program))} "$@"\n', encoding="utf-8")
        starter.chmod(0o755)
        with sync_playwright() as played:
            opened = played.chromium.launch(executable_path=starter, args=["--no-sandbox"])
            yield opened
            opened.close()


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _remove_left(ip: str) -> None:
    """Delete the namespaces of killed tests, whose cables have the same addresses."""
    for name in subprocess.run(
        [ip, "netns", "list"], capture_output=True, text=True, check=False
    ).stdout.split():
        owner = re.fullmatch(r"asbuilt-(\d+)", name)
        if owner is not None and not Path(f"/proc/{owner[1]}").exists():
            said(ip, "netns", "delete", name)


@pytest.fixture
def laptop() -> Iterator[Laptop]:
    """Join another network namespace to this one by a cable."""
    ip = which("ip", path=SBIN)
    if os.geteuid() != 0 or ip is None:
        pytest.skip("NOT RUN: a network namespace takes root and `ip`")
    _remove_left(ip)
    name, ours = f"asbuilt-{os.getpid()}", f"asb{os.getpid()}"
    made = subprocess.run([ip, "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"NOT RUN: no network namespaces here: {made.stderr.strip()}")
    try:
        said(ip, "link", "add", ours, "type", "veth", "peer", "name", "eth0", "netns", name)
        said(ip, "address", "add", f"{HERE}/30", "dev", ours)
        said(ip, "link", "set", ours, "up")
        made_there = Laptop(name)
        for words in (f"address add {THERE}/30 dev eth0", "link set eth0 up", "link set lo up"):
            said(*made_there.typed(ip, *words.split()))
        yield made_there
    finally:
        said(ip, "netns", "delete", name)


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def is_open(host: str, port: int, *through: str) -> bool:
    """Return whether a program connects; `through` is the command line that starts it elsewhere."""
    script = f"import socket; socket.create_connection(({host!r}, {port}), timeout=2)"
    done = subprocess.run([*through, sys.executable, "-c", script], capture_output=True, check=False)
    return done.returncode == 0


@contextmanager
def ssh_server(folder: Path) -> Iterator[int]:
    """Serve SSH on this side of the cable, for a key of its own; give the port."""
    sshd = which("sshd", path=SBIN)
    if sshd is None or which("ssh") is None:
        pytest.skip("NOT RUN: Debian's packages openssh-server and openssh-client are not installed")
    # Where no init has started it, Debian's sshd lacks the empty folder that it changes into.
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("host", "mine"):
        said("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    with socket.socket() as asked:
        asked.bind((HERE, 0))
        port = int(asked.getsockname()[1])
    settings = {
        "ListenAddress": HERE, "Port": port, "HostKey": folder / "host", "PidFile": "none", "UsePAM": "no",
        "AuthorizedKeysFile": folder / "mine.pub", "StrictModes": "no", "PasswordAuthentication": "no",
    }  # fmt: skip
    written = "".join(f"{name} {value}\n" for name, value in settings.items())
    (folder / "sshd_config").write_text(written, encoding="utf-8")
    with running(sshd, "-D", "-e", "-f", str(folder / "sshd_config")):
        until(lambda: is_open(HERE, port), within_s=20)
        yield port


def test_through_an_ssh_tunnel_a_question_is_answered_and_without_it_nothing_listens(
    board: Served, laptop: Laptop, tmp_path: Path
) -> None:
    port = board.port
    assert not is_open(HERE, port, *laptop.typed())
    with ExitStack() as stack:
        ssh_port = stack.enter_context(ssh_server(tmp_path))
        options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ExitOnForwardFailure=yes")
        tunnel = (
            "ssh", "-F", "none", "-N", "-i", str(tmp_path / "mine"), "-p", str(ssh_port),
            *(word for option in options for word in ("-o", option)),
            "-L", f"{port}:127.0.0.1:{port}", f"root@{HERE}",
        )  # fmt: skip
        stack.enter_context(running(*laptop.typed(*tunnel)))
        until(lambda: is_open("127.0.0.1", port, *laptop.typed()), within_s=30)
        page = stack.enter_context(laptop.browser(tmp_path)).new_page()
        page.goto(board.link())
        page.click("text=a1")
        page.click("button:has-text('No')")
        expect(page.locator("main")).to_contain_text("no, by ann", timeout=30_000)
    assert "answered no by ann" in board.office.asbuilt("approve", "show", "a1")


def test_on_a_private_network_the_board_answers_with_tls_and_under_its_one_name(
    asking: Office, laptop: Laptop, tmp_path: Path
) -> None:
    refused = asking.asbuilt("board", "--no-open", "--port", "18642", "--bind", HERE)
    assert "does not listen on 10.203.7.1 without TLS" in refused
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    said(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HERE}",
        "-addext", f"subjectAltName=IP:{HERE}", "-keyout", key, "-out", certificate,
    )  # fmt: skip
    options = (
        "board",
        "--no-open",
        "--port",
        "18642",
        "--bind",
        HERE,
        "--certificate",
        certificate,
        "--key",
        key,
    )
    served = asking.typed(*options)
    try:
        until(lambda: is_open(HERE, 18642, *laptop.typed()), within_s=60)
        link = asking.typed(*options, "--print-link").communicate(timeout=60)[0].strip()
        assert link.startswith(f"https://{HERE}:18642/enter/")
        with laptop.browser(tmp_path) as browser:
            # The certificate is its own authority; a browser that does not trust it shows no page.
            with pytest.raises(Error, match="ERR_CERT_AUTHORITY_INVALID"):
                browser.new_page().goto(link)
            page = browser.new_context(ignore_https_errors=True).new_page()
            page.goto(link)
            page.click("text=a1")
            page.click("button:has-text('No')")
            expect(page.locator("main")).to_contain_text("no, by ann", timeout=30_000)
            expect(page.locator("#live")).to_contain_text("updated", timeout=10_000)
    finally:
        served.kill()
        served.communicate()
