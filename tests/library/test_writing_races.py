"""Whatever another program does, at whatever instant: our edit or PlanChanged, and its text survives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import IO, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asbuilt.errors import PlanChanged, PlanUnwritable
from asbuilt.library.atomic_files import replace
from asbuilt.plan.markdown.source import digest
from tests.library.interference import at_every_step, is_told_who_writes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="steps are hooked into Linux's exchange")

OLD, NEW = b"old\n" * 50, b"new\n" * 60
ACTIONS = ("save", "write", "link", "delete", *(["open"] if is_told_who_writes() else []))


class _Person:
    """Somebody with an editor, who works on the same file and never looks before saving."""

    def __init__(self, file: Path, schedule: dict[int, str]) -> None:
        self.file, self.schedule = file, schedule
        self.held: IO[Any] | None = None
        self.texts: list[bytes] = []
        self.last = ""

    def act(self, tick: int) -> None:
        if self.held is not None:
            self.finish()
        action = self.schedule.get(tick)
        if action is None or (action in ("open", "link", "delete") and not os.path.lexists(self.file)):
            return
        self.last = action
        text = f"theirs {tick}\n".encode()
        match action:
            case "delete":
                self.file.unlink()
                return
            case "save":  # as editors do that write a new file and rename it
                fresh = self.file.with_name("editor-temp")
                fresh.write_bytes(text)
                fresh.replace(self.file)
            case "write":  # as editors do that write into the file itself
                self.file.write_bytes(text)
            case "open":  # the same, caught between opening and writing
                self.held = self.file.open("r+b")
            case "link":
                target = self.file.with_name(f"target-{tick}")
                target.write_bytes(text)
                fresh = self.file.with_name("link-temp")
                fresh.symlink_to(target.name)
                fresh.replace(self.file)
        self.texts.append(text)

    def finish(self) -> None:
        if self.held is not None:
            self.held.write(self.texts[-1])
            self.held.truncate()
            self.held.close()
            self.held = None


@given(st.dictionaries(st.integers(0, 14), st.sampled_from(ACTIONS), max_size=4))
@example({})
@example({0: "save"})
@example({2: "save", 5: "save"})
@example({2: "save", 4: "delete"})
@example({2: "link", 5: "write"})
@example({2: "link", 3: "save", 5: "write"})
def test_the_last_text_that_a_person_saved_is_in_its_place(schedule: dict[int, str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name).resolve() / "plan.md"
        file.write_bytes(OLD)
        person = _Person(file, schedule)
        refused = False
        with at_every_step(person.act):
            try:
                replace(file, NEW, expected=digest(OLD))
            except PlanChanged:
                refused = True
        person.finish()
        there = file.read_bytes() if file.exists() else None
        if not person.last:
            assert (there, refused) == (NEW, False)
        elif person.last == "delete":
            assert there in (None, *person.texts)
        else:
            assert there == person.texts[-1]
            assert file.is_symlink() or person.last != "link"
        assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


def test_a_text_that_cannot_be_put_back_is_kept_and_named(tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    file.write_bytes(OLD)
    saves = 0

    def save_always(_: int) -> None:
        nonlocal saves
        saves += 1
        fresh = tmp_path / "editor-temp"
        fresh.write_bytes(b"theirs %d\n" % saves)
        fresh.replace(file)

    armed = iter([False, False])
    with (
        at_every_step(lambda tick: save_always(tick) if next(armed, True) else None),
        pytest.raises(PlanUnwritable) as caught,
    ):
        replace(file, NEW, expected=digest(OLD), name="plan.md")
    hidden = [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert file.read_bytes().startswith(b"theirs ")
    assert [path.read_bytes().startswith(b"theirs ") for path in hidden] == [True]
    assert str(hidden[0]) in caught.value.next_step


_DIES_AT = """\
import os, signal, sys
from pathlib import Path
from asbuilt.library.atomic_files import replace
from asbuilt.plan.markdown.source import digest
from tests.library.interference import at_every_step
file = Path(sys.argv[1])
def act(tick):
    if tick == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
with at_every_step(act):
    replace(file, b"new\\n" * 60, expected=digest(file.read_bytes()))
"""


@pytest.mark.parametrize(("tick", "content"), [(0, OLD), (1, OLD), (2, OLD), (3, NEW), (4, NEW), (5, NEW)])
def test_killed_at_any_step_the_file_is_whole(tmp_path: Path, tick: int, content: bytes) -> None:
    file = tmp_path / "plan.md"
    file.write_bytes(OLD)
    done = subprocess.run(
        [sys.executable, "-c", _DIES_AT, file, str(tick)], check=False, cwd=Path(__file__).parents[2]
    )
    beside = [path.name for path in tmp_path.iterdir() if path != file]
    assert (done.returncode, file.read_bytes()) == (-signal.SIGKILL, content)
    assert all(name.startswith(".plan.md.") and name.endswith(".tmp") for name in beside)


_WRITES_FOR_EVER = """\
import sys
from pathlib import Path
from asbuilt.library.atomic_files import replace
from asbuilt.plan.markdown.source import digest
file, texts = Path(sys.argv[1]), [b"a" * 200_000, b"b" * 100_000]
print(flush=True)
while True:
    replace(file, texts[1], expected=digest(texts[0]))
    texts.reverse()
"""


def test_killed_at_random_instants_the_file_is_always_one_text_or_the_other(tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    random = Random(20_261_114)  # noqa: S311 - instants, not secrets
    for _ in range(25):
        file.write_bytes(b"a" * 200_000)
        with subprocess.Popen(
            [sys.executable, "-c", _WRITES_FOR_EVER, file], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(random.uniform(0, 0.02))
            writer.kill()
        assert file.read_bytes() in (b"a" * 200_000, b"b" * 100_000)
        beside = [path.name for path in tmp_path.iterdir() if path != file]
        assert all(name.startswith(".plan.md.") and name.endswith(".tmp") for name in beside)


_EDITS_FOR_EVER = """\
import sys
from pathlib import Path
file = Path(sys.argv[1])
print(flush=True)
for number in range(int(sys.argv[2])):
    fresh = file.with_name("editor-temp")
    fresh.write_bytes(b"theirs %d\\n" % number)
    fresh.replace(file)
"""


def test_beside_a_busy_editor_no_text_of_the_editor_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    file.write_bytes(OLD)
    ours, refused = 0, 0
    with subprocess.Popen(
        [sys.executable, "-c", _EDITS_FOR_EVER, file, "3000"], stdout=subprocess.PIPE
    ) as editor:
        assert editor.stdout is not None
        editor.stdout.readline()
        while editor.poll() is None:
            before = file.read_bytes()
            try:
                replace(file, before.rstrip() + b" and ours\n", expected=digest(before))
                ours += 1
            except PlanChanged:
                refused += 1
    last = file.read_bytes()
    assert last.startswith(b"theirs 2999")
    assert ours + refused > 0
    assert [path.name for path in tmp_path.iterdir()] == ["plan.md"]
