"""When the journal's connections are closed: by whoever has them or as the process ends, never in between."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COLLECTING = """\
import gc, sys
from pathlib import Path
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore

gc.collect()
gc.freeze()  # so that everything else is collected whole, and all the time
gc.set_threshold(1, 1, 1)
for number in range(20):
    store = SqliteStore(Path(sys.argv[1]) / f"{number}.db")
    store.migrate(STEPS[:1])
    store.itself = store
    del store
print("opened")
"""


def test_a_journal_that_is_garbage_holds_up_nobody_who_opens_another(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLLECTING, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("opened\n", "")
