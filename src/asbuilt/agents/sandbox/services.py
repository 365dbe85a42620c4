"""Start services inside a sandbox, run a command beside them, and exit with its exit code.

    services.py JSON -- ARGV

JSON lists the services. Standard library only, run by its path. The services end with the sandbox's PID
namespace, which ends with this process.

Rule: the command starts only when every service answers. Else the exit code is 125, and the output starts
with the service that did not answer, and why.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any, Final, NoReturn

_LIMIT_S: Final = 60.0
_LOOK_S: Final = 0.01
_ANSWER_S: Final = 2.0
_LINES: Final = 30
_LOGS: Final = "/tmp"  # noqa: S108  the sandbox's own


def main() -> int:
    """Start the services, wait for each, run the command."""
    services, argv = json.loads(sys.argv[1]), sys.argv[3:]
    running = [(service, _started(service)) for service in services]
    end = time.monotonic() + _LIMIT_S
    for service, process in running:
        if process is None:
            _refuse(service, f"{service['argv'][0]} cannot be started")
        while not _answers(service):
            if process.poll() is not None:
                _refuse(service, f"it ended with exit code {process.returncode}")
            if time.monotonic() > end:
                _refuse(service, f"no answer on port {service['port']} within {_LIMIT_S:.0f} s")
            time.sleep(_LOOK_S)
    command = subprocess.Popen(argv)  # noqa: S603  running the command is what this is for
    signal.signal(signal.SIGTERM, lambda *_: command.terminate())
    code = command.wait()
    return 128 - code if code < 0 else code


def _started(service: dict[str, Any]) -> subprocess.Popen[bytes] | None:
    with open(_log_of(service), "wb") as log:  # noqa: PTH123  no pathlib: this starts in every check
        try:
            return subprocess.Popen(  # noqa: S603  the same
                service["argv"], cwd=service["cwd"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        except OSError as error:
            log.write(f"{service['argv'][0]}: {error.strerror}\n".encode())
            return None


def _answers(service: dict[str, Any]) -> bool:
    """Return whether a service answers as expected; a closed connection means not ready."""
    try:
        with socket.create_connection(("127.0.0.1", service["port"]), _ANSWER_S) as connection:
            if service["sends"]:
                connection.sendall(service["sends"].encode("latin-1"))
            expected = service["expects"].encode("latin-1")
            return not expected or connection.recv(len(expected)) == expected
    except OSError:
        return False


def _refuse(service: dict[str, Any], why: str) -> NoReturn:
    with open(_log_of(service), "rb") as log:  # noqa: PTH123  the same
        last = log.read().decode("utf-8", "replace").splitlines()[-_LINES:]
    sys.stdout.write("\n".join([service["refusal"].replace("{why}", why), *last, ""]))
    sys.stdout.flush()
    os._exit(service["code"])


def _log_of(service: dict[str, Any]) -> str:
    return f"{_LOGS}/service-{service['name']}.log"


if __name__ == "__main__":
    sys.exit(main())
