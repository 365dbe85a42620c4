"""How the gate lists a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.session.wildcard_expansion import MOST_NAMES, names_in

if TYPE_CHECKING:
    from pathlib import Path


def test_links_come_first_and_both_kinds_in_order(tmp_path: Path) -> None:
    for name in ("b", ".a"):
        (tmp_path / name).touch()
    (tmp_path / "z").symlink_to("b")
    (tmp_path / "y").symlink_to("gone")
    assert names_in(str(tmp_path)) == ["y", "z", ".a", "b"]


def test_what_cannot_be_listed_has_no_names(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert [names_in(str(tmp_path / name)) for name in ("file", "gone", "a\0b")] == [[], [], []]


def test_no_more_names_are_read_than_the_bound(tmp_path: Path) -> None:
    for number in range(MOST_NAMES + 1):
        (tmp_path / str(number)).touch()
    assert len(names_in(str(tmp_path))) == MOST_NAMES
