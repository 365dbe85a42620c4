"""What a repository's memory keeps of runs and sessions, and how much of it an author gets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asbuilt.agents.attempt_folder import Folder
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.memory import KEPT, remember
from asbuilt.lifecycle.memory import BUDGET, OF_ONE, Kind, lesson
from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY
from tests.journeys.shop import PLAN
from tests.journeys.test_commands import Office, office

__all__ = ["office"]
pytestmark = pytest.mark.crash


def memories(office: Office, kind: str) -> list[dict[str, Any]]:
    shown = office.asbuilt("memory", "list", "--kind", kind, "--json").partition("--- stdout\n")[2]
    found: list[dict[str, Any]] = json.loads(shown)["memories"]
    return found


def test_a_run_leaves_ten_lessons_the_oldest_memories_are_deleted_and_recall_is_bounded(
    office: Office,
) -> None:
    checks = "".join(f"- `grep -q number-{number:02} greet.py`\n" for number in range(OF_ONE + 2))
    text = PLAN.replace("- `grep -q hello greet.py`\n", checks)
    (office.shop / "plans" / "greet.md").write_text(text, encoding="utf-8")
    office.git("commit", "-qam", "many checks")
    # An event names four failures; each fix mends these, and the next four are found.
    fixes = [
        f'[[turn]]\nphase = "1"\nrole = "fix"\nattempt = {attempt}\nacts = [{{ append = "greet.py", text = "'
        + "".join(f"# number-{number:02}\\n" for number in range(4 * attempt - 8, 4 * attempt - 4))
        + '" }]\n'
        for attempt in (2, 3)
    ]
    office.script.write_text("".join(fixes) + office.script.read_text(encoding="utf-8"), encoding="utf-8")
    assert office.run("--auto").startswith("exit 1")
    assert len(memories(office, "lesson")) == OF_ONE
    assert office.asbuilt("memory", "add", "no threads", "--file", "src/worker.py").startswith("exit 0")
    _note(office, [f"{number} {'x' * 90}" for number in range(KEPT)])
    assert office.asbuilt("memory", "add", "the newest note", "--kind", "session-note").startswith("exit 0")
    notes = memories(office, "session-note")
    assert (len(notes), notes[0]["text"], notes[-1]["text"][:2]) == (KEPT, "the newest note", "1 ")
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    wish = "call out in src/worker.py"
    office.asbuilt("author", wish, "--light", "--script", str(office.script))
    (folder,) = office.state.glob("runs/*/attempts/*.draft.1")
    ask = "\n".join(text for _, text in Folder(folder).brief()[0].told)
    recalled = [one for one in ask.splitlines() if one.startswith("- ") and one.endswith("x" * 90)]
    # What is about a file that the request names comes before what is newer.
    assert ("- no threads" in ask, "- the newest note" in ask) == (True, True)
    assert KEPT // 4 < len(recalled) <= BUDGET // 90


def _note(office: Office, texts: list[str]) -> None:
    """Fill memory up with notes, without a hundred commands."""
    store = SqliteStore(office.state / "journal.db")
    with store.write() as session:
        (row, *_) = session.rows("SELECT org, repo FROM memories")
        notes = [lesson(Kind.NOTE, text) for text in texts]
        remember(session, row["org"], row["repo"], notes, actor="ann")
    store.close()
