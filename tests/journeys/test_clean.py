"""What a person throws away: shown first, with the proof; killed anywhere, it is repeated."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from asbuilt.journal.engine.liveness import holder
from tests.faults.clocks import clock_in
from tests.journeys.shop import SCRIPT
from tests.journeys.test_commands import Office, office, until
from tests.journeys.untouched import Before

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["office"]
pytestmark = pytest.mark.crash
_CHANGES = (
    (r"\b[0-9a-hjkmnp-tv-z]{26}\.", "[RUN]."),
    (r"\b\d+ (bytes|kB|MB)", "[SIZE]"),
    (r"environment \S+/\S+", "environment [ENVIRONMENT]"),
)


def _shown(office: Office, *arguments: str) -> str:
    shown = office.asbuilt("clean", *arguments)
    for pattern, stable in _CHANGES:
        shown = re.sub(pattern, stable, shown)
    return shown


def _things(office: Office, *arguments: str) -> list[dict[str, Any]]:
    said = office.asbuilt("clean", "--json", *arguments)
    things: list[dict[str, Any]] = json.loads(said.split("--- stdout\n")[1])["things"]
    return things


def _ended(office: Office) -> None:
    """A run that landed, and one that failed: its last files are kept, its workspace is there."""
    assert office.run("--auto").splitlines()[0] == "exit 0"
    office.script.write_text(SCRIPT.replace("goodbye", "still wrong"), encoding="utf-8")
    assert office.run("2a", "--auto").splitlines()[0] == "exit 1"


def test_what_can_go_is_shown_with_its_proof_and_goes_only_when_asked(office: Office) -> None:
    assert _shown(office) == snapshot("""\
exit 0
--- stdout
Nothing to delete.
--- stderr
Next: asbuilt status
""")
    _ended(office)
    before = Before(office.shop)
    assert _shown(office) == snapshot("""\
exit 0
--- stdout
Can be deleted: 1 environment and 1 workspace, [SIZE]. 6 things kept.
--- stderr
Next: asbuilt clean --yes
  or  list everything: asbuilt clean -v
""")
    assert _shown(office, "-v") == snapshot("""\
exit 0
--- stdout
Can be deleted
  environment [ENVIRONMENT] [SIZE]: setup creates it again when a run needs it
  workspace greet.2, [SIZE]: its commits are on main, its files are kept at
    refs/asbuilt/attempts/[RUN].2a.2
Kept
  attempt greet.1.1.1: phase 1 landed 0 days ago; deleted after 30 days
  attempt greet.2.2a.3: phase 2a has not landed
  attempt greet.2.2a.2: phase 2a has not landed
  attempt greet.2.2a.1: phase 2a has not landed
  log greet.2, [SIZE]: logs of its agents; it ended 0 days ago; deleted after 30
    days
  log greet.1, [SIZE]: logs of its agents; it ended 0 days ago; deleted after 30
    days
Can be deleted: 1 environment and 1 workspace, [SIZE]. 6 things kept.
--- stderr
Next: asbuilt clean --yes
""")
    assert _shown(office, "greet", "--days", "0") == snapshot("""\
exit 0
--- stdout
Can be deleted: 1 attempt, 2 logs and 1 workspace, [SIZE]. 3 things kept.
--- stderr
Next: asbuilt clean greet --days 0 --yes
  or  list everything: asbuilt clean greet --days 0 -v
""")
    assert len(list(office.state.glob("workspaces/*/*/*"))) > 0
    assert _shown(office, "greet", "--days", "0", "-v") == snapshot("""\
exit 0
--- stdout
Can be deleted
  attempt greet.1.1.1: phase 1 landed 0 days ago
  log greet.2, [SIZE]: logs of its agents; it ended 0 days ago
  log greet.1, [SIZE]: logs of its agents; it ended 0 days ago
  workspace greet.2, [SIZE]: its commits are on main, its files are kept at
    refs/asbuilt/attempts/[RUN].2a.2
Kept
  attempt greet.2.2a.3: phase 2a has not landed
  attempt greet.2.2a.2: phase 2a has not landed
  attempt greet.2.2a.1: phase 2a has not landed
Can be deleted: 1 attempt, 2 logs and 1 workspace, [SIZE]. 3 things kept.
--- stderr
Next: asbuilt clean greet --days 0 --yes
""")
    assert _shown(office, "greet", "--days", "0", "--yes") == snapshot("""\
exit 0
--- stdout
Deleted: 1 attempt, 2 logs and 1 workspace, [SIZE]. 3 things kept.
--- stderr
Next: asbuilt status
""")
    assert list(office.state.glob("workspaces/*/*/*")) == []
    assert _shown(office, "greet", "--days", "0", "--yes") == snapshot("""\
exit 0
--- stdout
Nothing to delete. 3 things kept.
--- stderr
Next: asbuilt status
""")
    before.same_except(set())
    assert "deleted" in office.asbuilt("log", "greet")
    assert office.asbuilt("log", "--attempts", "greet.2.2a.3").splitlines()[0] == "exit 0"
    office.script.write_text(SCRIPT, encoding="utf-8")
    assert office.asbuilt("run", "greet", "--script", str(office.script)).splitlines()[0] == "exit 0"


def test_what_is_not_kept_elsewhere_stays_and_says_so(office: Office) -> None:
    _ended(office)
    (workspace,) = office.state.glob("workspaces/*/*/greet.2")
    (workspace / "mine.txt").write_text("a person wrote here", encoding="utf-8")
    stays = [
        one for one in _things(office, "--yes") if one["name"] == "greet.2" and one["kind"] == "workspace"
    ]
    assert [(one["can_go"], one["removed"], one["why"]) for one in stays] == snapshot(
        [(False, False, "it has files that exist nowhere else")]
    )
    assert (workspace / "mine.txt").read_text(encoding="utf-8") == "a person wrote here"


def test_merges_of_phases_that_were_built_side_by_side_go_with_their_attempts(office: Office) -> None:
    office.environ["ASBUILT_RUN_LANES"] = "2"
    assert office.run("--finish", "--auto").splitlines()[0] == "exit 0"
    by_agents = ["1.1", "2a.1", "2a.2", "2b.1", "3.1"]
    assert len(office.git("for-each-ref", "refs/asbuilt/attempts").splitlines()) > len(by_agents)
    office.asbuilt("clean", "--days", "0", "--yes")
    assert office.git("for-each-ref", "refs/asbuilt/attempts") == ""


def test_outputs_that_nobody_names_go_and_those_of_a_run_stay(office: Office) -> None:
    _ended(office)
    kept = list(office.state.glob("blobs/??/*"))
    old = office.state / "blobs" / "aa" / ("a" * 64)
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(b"nobody's")
    for file in [old, *kept]:
        os.utime(file, (1, 1))
    gone = [one["name"] for one in _things(office, "--yes") if one["kind"] == "output" and one["removed"]]
    assert gone == ["a" * 12]
    assert all(file.exists() for file in kept)


def test_a_cleaning_that_is_killed_is_repeated(office: Office) -> None:
    _ended(office)
    before = Before(office.shop)
    for tenth in range(4, 16):
        cleaning = office.typed("clean", "--days", "0", "--yes")
        time.sleep(tenth / 10)
        cleaning.send_signal(signal.SIGKILL)
        cleaning.communicate()
    assert office.asbuilt("clean", "--days", "0", "--yes").splitlines()[0] == "exit 0"
    assert [one for one in _things(office, "--days", "0") if one["can_go"]] == []
    before.same_except(set())
    assert "phase 2a is not proven" in office.asbuilt("log", "greet")


def test_a_worker_deletes_by_itself_what_is_old_enough_and_the_engine_forgets_it(
    office: Office, tmp_path: Path
) -> None:
    clock = clock_in(tmp_path)
    office.environ |= {**clock.environment, "TZ": "UTC"}
    worker = office.typed("worker", "--foreground")
    until(lambda: holder(office.state / "worker.lock"))
    try:
        assert office.run("--finish", "--auto").splitlines()[0] == "exit 0"
        until((office.state / "cleaned").exists)
        assert "refs/asbuilt/attempts/" in office.git("for-each-ref")
        assert list(office.state.glob("runs/*")) != []
        clock.set(31 * 24 * 3_600)
        until(lambda: "refs/asbuilt/attempts/" not in office.git("for-each-ref"))
        until(lambda: not _engine_rows(office))
        assert list(office.state.glob("runs/*")) == []
        assert "landed" in office.asbuilt("status", "greet")
    finally:
        worker.kill()
        worker.communicate()


def _engine_rows(office: Office) -> int:
    with closing(sqlite3.connect(office.state / "journal.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM workflow_status").fetchone()[0])
