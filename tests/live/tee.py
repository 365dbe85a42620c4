"""Stand between a host and its agent and write down every line of theirs: `tee.py PROGRAM ARGUMENTS`.

Standard modules only, run inside the ring, where only the agent's own HOME is sure to be writable.

The one rule: every byte goes on as it came.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import BinaryIO

WIRE = "wire.jsonl"
_LOCK = threading.Lock()


def _copy(who: str, source: BinaryIO, target: BinaryIO, log: BinaryIO) -> None:
    for line in source:
        with _LOCK:
            log.write(json.dumps([who, line.decode("utf-8", "replace")]).encode() + b"\n")
            log.flush()
        try:
            target.write(line)
            target.flush()
        except BrokenPipeError:
            break
    target.close()


def main() -> int:
    """Start the agent and carry its lines until it has ended."""
    with (
        open(os.path.join(os.environ["HOME"], WIRE), "ab") as log,  # noqa: PTH118, PTH123  no pathlib in a ring
        subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent,
    ):
        assert agent.stdin is not None
        assert agent.stdout is not None
        carried = (("host", sys.stdin.buffer, agent.stdin), ("agent", agent.stdout, sys.stdout.buffer))
        threads = [
            threading.Thread(target=_copy, args=(who, source, target, log), daemon=True)
            for who, source, target in carried
        ]
        for thread in threads:
            thread.start()
        threads[1].join()
        return agent.wait()


if __name__ == "__main__":
    # Not sys.exit: the thread that reads our own stdin still holds it.
    os._exit(main())
