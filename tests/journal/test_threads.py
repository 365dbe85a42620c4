"""Two threads read a journal's first rows at once, as two segments of a worker do."""

from __future__ import annotations

import subprocess
import sys

_FIRST_READS = """\
import sys, threading
sys.setswitchinterval(1e-6)
from asbuilt.events.options_json import read_options
from asbuilt.journal.encoding.codec import event_of
ready = threading.Barrier(8)
def read():
    ready.wait()
    read_options({"team": {}, "caps": {}, "pull": {}})
    event_of("run.started", 1, {"base": "b", "phases": {}})
threads = [threading.Thread(target=read) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_the_first_rows_can_be_read_by_many_threads_at_once() -> None:
    ended = [subprocess.run([sys.executable, "-c", _FIRST_READS], check=False) for _ in range(10)]
    assert [one.returncode for one in ended] == [0] * 10
