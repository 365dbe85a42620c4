"""The first process in a sandbox that has a list of hosts."""

from __future__ import annotations

import socket
import subprocess
import sys

from asbuilt.agents.sandbox import entry


def test_a_port_that_cannot_be_listened_on_is_an_error_in_words() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        channel = theirs.fileno()
        done = subprocess.run(
            [sys.executable, entry.__file__, str(channel), str(port), "--", "true"],
            pass_fds=[channel], capture_output=True, text=True, check=False,
        )  # fmt: skip
    said = f"this sandbox cannot listen on 127.0.0.1:{port}: Address already in use.\n"
    assert (done.returncode, done.stderr) == (1, said)
