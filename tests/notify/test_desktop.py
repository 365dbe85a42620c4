"""The adapter, with a program of our own in the place of the system's."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import read_options
from asbuilt.events.runs import AttentionCalled
from asbuilt.flows.notify import Calling, Reach
from asbuilt.journal import approvals, runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.lifecycle.notify import Message, Notice
from asbuilt.notify.desktop import desktop
from tests.support.happened import plain

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.runs import Run

PLAN = Address(LOCAL, "6f9c", "plans/greet.md")


def _message(title: str, text: str) -> Message:
    return Message("m1", "2026-11-15T01:10:00.000Z", (Notice(title, text),))


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with programs that write down their arguments, one a line."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("notify-send", "osascript"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{tmp_path}/said"\n', encoding="utf-8")
        program.chmod(0o755)
    return folder


def test_a_notification_is_two_arguments_of_the_systems_program(programs: Path, tmp_path: Path) -> None:
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    for platform in ("linux", "darwin"):
        way = desktop(environ, platform=platform)
        assert way is not None
        assert way.call(_message("asbuilt: $(id) `id` landed", '" & quoted')) is None
    assert (tmp_path / "said").read_text(encoding="utf-8") == snapshot("""\
--app-name=asbuilt
--
asbuilt: $(id) `id` landed
" & quoted
-e
on run argv
-e
display notification (item 2 of argv) with title (item 1 of argv)
-e
end run
asbuilt: $(id) `id` landed
" & quoted
""")


def test_without_a_desktop_or_its_program_there_is_no_way(programs: Path, tmp_path: Path) -> None:
    assert desktop({"PATH": str(programs)}, platform="linux") is None
    assert desktop({"PATH": str(tmp_path), "DBUS_SESSION_BUS_ADDRESS": "x"}, platform="linux") is None
    (tmp_path / "bus").touch()
    found = desktop({"PATH": str(programs), "XDG_RUNTIME_DIR": str(tmp_path)}, platform="linux")
    assert found is not None


def test_a_program_that_fails_or_is_gone_harms_nothing(programs: Path) -> None:
    way = desktop({"PATH": str(programs), "DBUS_SESSION_BUS_ADDRESS": "x"}, platform="linux")
    assert way is not None
    (programs / "notify-send").write_text(f"#!{sys.executable}\nraise SystemExit(3)\n", encoding="utf-8")
    program = programs / "notify-send"
    assert way.call(_message("a", "b")) == f"{program} ended with 3"
    program.unlink()
    assert way.call(_message("a", "b")) == f"{program}: No such file or directory"


class Heard:
    """A way to somebody who keeps what was said."""

    way = "desktop"

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def call(self, message: Message) -> str | None:
        self.notices += message.notices
        return None


def _asked(store: SqliteStore, **options: object) -> Run:
    options = {"slug": "greet", "mode": "phase", **options}
    with store.write() as session:
        asked = runs.request(
            session, PLAN, run="r1", slug="greet", options=read_options(options), actor="ann"
        )
        wish = approvals.Wish("r1", "continue", "go on?", "2")
        approvals.ask(session, PLAN, key="r1/between/2", wish=wish, actor="asbuilt")
    return asked


def _called(store: SqliteStore) -> list[dict[str, object]]:
    with store.read() as session:
        return [plain(one)[1] for one in history(session, PLAN) if isinstance(one.event, AttentionCalled)]


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    made = SqliteStore(tmp_path / "journal.db")
    made.migrate(STEPS)
    return made


def test_an_event_calls_once_however_often_its_step_is_repeated(store: SqliteStore) -> None:
    run = _asked(store)
    first, second = Heard(), Heard()
    for heard in (first, first, second):
        Calling(store, Reach(heard)).call(run, "r1/between/2/asked")
    assert (first.notices, second.notices) == snapshot(
        ([Notice(title="asbuilt: greet.1 needs you", text="Question a1 waits: asbuilt approve")], [])
    )
    assert _called(store) == snapshot([{"about": "approval.asked", "run": "r1", "way": "desktop"}])


def test_an_event_that_was_never_written_or_calls_nobody_is_passed_over(store: SqliteStore) -> None:
    run, heard = _asked(store), Heard()
    for key in ("r1/ended", "r1/requested"):
        Calling(store, Reach(heard)).call(run, key)
    assert (heard.notices, _called(store)) == ([], [])


def test_switched_off_nobody_is_called_and_nothing_is_written(store: SqliteStore) -> None:
    run, heard = _asked(store, desktop=False), Heard()
    Calling(store, Reach(heard)).call(run, "r1/between/2/asked")
    Calling(store, Reach()).call(run._replace(options=RunOptions()), "r1/between/2/asked")
    assert (heard.notices, _called(store)) == ([], [])
