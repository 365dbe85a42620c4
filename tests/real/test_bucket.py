"""Large outputs in a bucket of a server that others wrote, from a registry: moto, on loopback."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final

import pytest

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.journal.shared_blobs import open_large
from tests.journal.bucket import login

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.real
_SERVER: Final = "moto[server]==5.2.5"
_UP_WITHIN_S: Final = 300.0


@contextmanager
def _served() -> Iterator[str]:
    """Run the server; lends its address. The first start downloads it."""
    uv = which("uv") or str(Path(__file__).parents[2] / ".tools" / "bin" / "uv")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [uv, "tool", "run", "--quiet", "--from", _SERVER, "moto_server", "-H", "127.0.0.1", "-p", port]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + _UP_WITHIN_S
    try:
        while True:
            try:
                _put(f"http://127.0.0.1:{port}/team")
                break
            except (urllib.error.URLError, OSError):
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < until
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _put(url: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(url, method="PUT")):  # noqa: S310 - loopback
        pass


def test_outputs_are_put_into_a_bucket_and_read_from_it() -> None:
    with _served() as address:
        large = open_large("s3://team/outputs", login(address))
        large.check()
        data = bytes(range(256)) * 20_000
        digest = large.put(data)
        assert large.put(data) == digest
        assert large.get(digest) == data
        with pytest.raises(NotFound):
            large.get(f"sha256:{'0' * 64}")
        with pytest.raises(StoreFailed, match="s3://none, cannot be used"):
            open_large("s3://none", login(address)).put(data)
