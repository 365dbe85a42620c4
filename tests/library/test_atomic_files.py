"""A file is replaced whole or not at all, keeps what it was dressed in, and nothing is ever overwritten."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.errors import AsbuiltError, NameTaken, PlanChanged, PlanUnwritable
from asbuilt.library.atomic_files import Change, clear_away, create, replace, replace_all
from asbuilt.plan.markdown.source import digest
from tests.library.interference import is_told_who_writes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OLD, NEW, OTHER = b"old\n", b"new\n", b"other\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "plan.md"
    made.write_bytes(OLD)
    return made


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _told(error: AsbuiltError) -> str:
    return f"{type(error).__name__} {error.exit_code}\n{error.what}\n{error.why}\n{error.next_step}"


class _NoExchange:
    """A C library as some systems have it: without the call, or with one that the file system refuses."""

    def __init__(self, *, refuses: int) -> None:
        if refuses:
            self.renameat2 = self.renamex_np = lambda *_: ctypes.set_errno(refuses) or -1


@pytest.fixture(params=["exchange", "no such call", "refused by the file system"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "exchange":
        refuses = errno.EINVAL if request.param.startswith("refused") else 0
        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: _NoExchange(refuses=refuses))


@pytest.mark.usefixtures("system")
def test_the_new_text_takes_the_place_of_the_old_and_leaves_nothing_beside(file: Path) -> None:
    replace(file, NEW, expected=digest(OLD))
    assert (file.read_bytes(), _names(file.parent)) == (NEW, ["plan.md"])


@pytest.mark.usefixtures("system")
def test_another_text_than_the_one_that_was_read_stays(file: Path) -> None:
    file.write_bytes(OTHER)
    with pytest.raises(PlanChanged) as caught:
        replace(file, NEW, expected=digest(OLD), name="plans/plan.md")
    assert (file.read_bytes(), _names(file.parent)) == (OTHER, ["plan.md"])
    assert _told(caught.value) == snapshot("""\
PlanChanged 4
plans/plan.md was changed since it was read
Another program's text would be lost. Nothing was written.
Run the same command again; it reads the file again.\
""")


@pytest.mark.usefixtures("system")
def test_a_text_that_is_saved_while_ours_is_written_stays(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: file.write_bytes(OTHER))
    with pytest.raises(PlanChanged):
        replace(file, NEW, expected=digest(OLD))
    assert (file.read_bytes(), _names(file.parent)) == (OTHER, ["plan.md"])


def test_a_file_that_is_gone_is_not_made_again(file: Path) -> None:
    file.unlink()
    with pytest.raises(PlanChanged) as caught:
        replace(file, NEW, expected=digest(OLD), name="plans/plan.md")
    assert _names(file.parent) == []
    assert _told(caught.value) == snapshot("""\
PlanChanged 4
plans/plan.md is gone since it was read
Another program moved or deleted it.
Run the same command again; it reads the file again.\
""")


def test_a_folder_in_its_place_stays(file: Path) -> None:
    file.unlink()
    file.mkdir()
    with pytest.raises(PlanChanged):
        replace(file, NEW, expected=digest(OLD))
    assert (_names(file.parent), file.is_dir()) == (["plan.md"], True)


@pytest.mark.skipif(not is_told_who_writes(), reason="this system does not tell who has a file open")
def test_a_file_that_somebody_has_open_for_writing_is_left_to_them(file: Path) -> None:
    with file.open("r+b") as theirs:
        with pytest.raises(PlanChanged) as caught:
            replace(file, NEW, expected=digest(OLD), name="plans/plan.md")
        theirs.write(OTHER)
    assert (file.read_bytes(), _names(file.parent)) == (OTHER, ["plan.md"])
    assert _told(caught.value) == snapshot("""\
PlanChanged 4
plans/plan.md is open for writing in another program
What it writes next would be lost; nothing was written.
Save and close it there, then run the same command again.\
""")


def test_a_file_that_somebody_reads_is_replaced(file: Path) -> None:
    with file.open("rb") as theirs:
        replace(file, NEW, expected=digest(OLD))
        assert (theirs.read(), file.read_bytes()) == (OLD, NEW)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_mode_bits_are_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    replace(file, NEW, expected=digest(OLD))
    assert oct(file.stat().st_mode & 0o7777) == oct(mode)


def test_the_owner_is_kept_where_that_is_allowed(file: Path) -> None:
    wanted = (12_345, 23_456) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(file, *wanted)
    replace(file, NEW, expected=digest(OLD))
    assert (file.stat().st_uid, file.stat().st_gid) == wanted


def test_a_write_protected_file_is_not_changed_behind_its_back(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(PlanUnwritable) as caught:
        replace(file, NEW, expected=digest(OLD), name="plans/plan.md")
    assert (file.read_bytes(), _names(file.parent)) == (OLD, ["plan.md"])
    assert _told(caught.value).replace(str(file), "[FILE]") == snapshot("""\
PlanUnwritable 1
plans/plan.md is write-protected
The file is write-protected. It has not changed.
`chmod u+w [FILE]`, then run the same command again.\
""")


def test_what_a_killed_writer_left_is_taken_away_only_if_it_stands_elsewhere(file: Path) -> None:
    known, theirs = (file.with_name(f".{file.name}.{mark * 12}.tmp") for mark in "ab")
    known.write_bytes(b"known")
    theirs.write_bytes(b"a text of theirs")
    other = file.with_name(f".{file.name}.swp.tmp")
    other.write_bytes(b"known")
    clear_away(file, is_known=lambda left: left == b"known")
    assert sorted(file.parent.iterdir()) == sorted([file, theirs, other])


def test_a_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "link.md"
    link.symlink_to("../plan.md")
    replace(link, NEW, expected=digest(OLD))
    assert (str(link.readlink()), file.read_bytes(), _names(folder)) == ("../plan.md", NEW, ["link.md"])


@pytest.mark.parametrize("name", ["🚀" * 60 + ".md", "x" * 250 + ".md", os.fsdecode(b"\xff" * 250), " .md"])
def test_any_name_that_a_file_can_have_is_written(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    create(file, OLD)
    replace(file, NEW, expected=digest(OLD))
    assert (file.read_bytes(), _names(tmp_path)) == (NEW, [name])


_LIMITED = """\
import resource, sys
from pathlib import Path
from asbuilt.errors import PlanUnwritable
from asbuilt.library.atomic_files import create, replace
from asbuilt.plan.markdown.source import digest
file = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for attempt in (
    lambda: replace(file, b"x" * 100_000, expected=digest(file.read_bytes()), name="plan.md"),
    lambda: create(file.with_name("fresh.md"), b"x" * 100_000, name="fresh.md"),
):
    try:
        attempt()
    except PlanUnwritable as error:
        print(error.what)
"""


def test_when_the_disk_takes_no_more_the_file_is_as_it_was(file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _LIMITED, file], capture_output=True, text=True, check=True)
    assert done.stdout == snapshot("""\
plan.md cannot be written: file too large
fresh.md cannot be written: file too large
""")
    assert (file.read_bytes(), _names(file.parent)) == (OLD, ["plan.md"])


def _without_links(*_: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_appears_whole_and_takes_no_name_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _without_links)
    file = tmp_path / "not" / "there" / "plan.md"
    create(file, NEW)
    with pytest.raises(NameTaken) as caught:
        create(file, OTHER, name="plans/plan.md")
    assert (file.read_bytes(), _names(file.parent)) == (NEW, ["plan.md"])
    assert _told(caught.value).replace(str(file), "FILE") == snapshot("""\
NameTaken 1
plans/plan.md exists already
Nothing is ever overwritten.
`${EDITOR:-vi} FILE`, or choose another name.\
""")


@pytest.mark.parametrize("place", ["plan.md/x.md", "null/x.md"])
def test_a_folder_that_is_none_is_told(file: Path, place: str) -> None:
    (file.parent / "null").symlink_to("/dev/null")
    with pytest.raises(PlanUnwritable):
        create(file.parent / place, NEW)


def test_a_writer_waits_for_another_asbuilt_and_not_for_ever(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    threading.Timer(0.1, os.close, [folder]).start()
    replace(file, NEW, expected=digest(OLD))
    again = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(again, fcntl.LOCK_EX)
    began = time.monotonic()
    monkeypatch.setattr(time, "monotonic", iter([began, began + 60]).__next__)
    with pytest.raises(PlanUnwritable) as caught:
        replace(file, OTHER, expected=digest(NEW), name="plans/plan.md")
    os.close(again)
    assert (file.read_bytes(), caught.value.what) == snapshot(
        (b"new\n", "plans/plan.md cannot be written: another program keeps its folder locked")
    )


_COUNTER = """\
import sys
from pathlib import Path
from asbuilt.errors import PlanChanged
from asbuilt.library.atomic_files import replace
from asbuilt.plan.markdown.source import digest
file = Path(sys.argv[1])
for number in range(25):
    while True:
        before = file.read_bytes()
        try:
            replace(file, before + f"{sys.argv[2]}.{number}\\n".encode(), expected=digest(before))
        except PlanChanged:
            continue
        break
"""


def test_of_many_writers_at_once_every_edit_is_there_in_the_end(file: Path) -> None:
    file.write_bytes(b"")
    writers = [subprocess.Popen([sys.executable, "-c", _COUNTER, file, str(name)]) for name in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    lines = file.read_text().split("\n")[:-1]
    assert sorted(lines) == sorted(f"{name}.{number}" for name in range(4) for number in range(25))
    assert _names(file.parent) == ["plan.md"]


@pytest.fixture
def both(file: Path) -> list[Change]:
    other = file.with_name("progress.md")
    other.write_bytes(OLD)
    return [Change(file, OLD, NEW, "plan.md"), Change(other, OLD, NEW, "progress.md")]


def test_two_files_change_together(both: list[Change]) -> None:
    replace_all(both)
    assert [change.file.read_bytes() for change in both] == [NEW, NEW]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(OTHER),
        lambda file: file.unlink(),
        lambda file: file.chmod(0o444),
    ],
)
def test_when_the_second_cannot_be_written_the_first_is_taken_back(
    both: list[Change], spoil: Callable[[Path], object]
) -> None:
    spoil(both[1].file)
    with pytest.raises((PlanChanged, PlanUnwritable), match=r"progress\.md"):
        replace_all(both)
    assert both[0].file.read_bytes() == OLD
