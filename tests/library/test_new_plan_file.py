"""New plans get names that people can type, and no file is ever overwritten, however many come at once."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.errors import NameTaken, PlanUnwritable, UsageWrong
from asbuilt.library.new_plan_file import ADJECTIVES, NOUNS, put_for_session, put_named, put_new
from asbuilt.plan.names import slug_of_file, slugify

if TYPE_CHECKING:
    from pathlib import Path

_RACER = """\
import sys
from pathlib import Path
from asbuilt.library.new_plan_file import put_new
for number in range(10):
    print(put_new(Path(sys.argv[1]), "Rate limiting", f"{sys.argv[2]}.{number}".encode()).name)
"""


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rate limiting", "rate-limiting.md"),
        ("  Größe: 50 % — größer!  ", "groesse-50-groesser.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("-rf", "rf.md"),
        ("Zażółć gęślą jaźń", "zazolc-gesla-jazn.md"),
        (
            "a title that goes on and on and on until nobody reads it any more",
            "a-title-that-goes-on-and-on-and-on-until.md",
        ),
        ("x" * 500, "x" * 40 + ".md"),
    ],
)
def test_a_title_makes_a_name_that_can_be_typed(tmp_path: Path, title: str, name: str) -> None:
    assert put_new(tmp_path, title, b"x").name == name


@given(st.text())
def test_whatever_the_title_the_slug_is_empty_or_names_a_plan(title: str) -> None:
    slug = slugify(title)
    assert slug == "" or slug_of_file(f"{slug}.md") == slug


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    names = [put_new(tmp_path, "Login", str(number).encode()).name for number in range(3)]
    assert names == ["login.md", "login-2.md", "login-3.md"]
    assert [(tmp_path / name).read_bytes() for name in names] == [b"0", b"1", b"2"]


@pytest.mark.parametrize("title", ["", "🚀", "日本語", "---"])
def test_a_title_that_cannot_be_typed_gives_two_readable_words(tmp_path: Path, title: str) -> None:
    first, second = put_new(tmp_path, title, b"x").stem.split("-")
    assert (first in ADJECTIVES, second in NOUNS) == (True, True)


def test_when_every_pair_of_words_is_taken_a_number_is_added(tmp_path: Path) -> None:
    for adjective in ADJECTIVES:
        for noun in NOUNS:
            (tmp_path / f"{adjective}-{noun}.md").write_bytes(b"theirs")
    made = [put_for_session(tmp_path, b"ours") for _ in range(5)]
    assert len(set(made)) == 5
    assert all(file.stem.rpartition("-")[2].isdigit() for file in made)
    assert {file.read_bytes() for file in tmp_path.iterdir() if file not in made} == {b"theirs"}


def test_many_processes_with_one_title_lose_nothing(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen([sys.executable, "-c", _RACER, tmp_path, str(racer)], stdout=subprocess.PIPE)
        for racer in range(6)
    ]
    printed = [racer.communicate()[0].decode().split() for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 6
    names = [name for own in printed for name in own]
    assert sorted(names) == sorted(file.name for file in tmp_path.iterdir())
    assert {(tmp_path / name).read_text() for name in names} == {
        f"{racer}.{number}" for racer in range(6) for number in range(10)
    }


def test_a_chosen_name_is_taken_exactly_or_refused(tmp_path: Path) -> None:
    assert put_named(tmp_path, "My_Plan.md", b"ours").name == "my-plan.md"
    with pytest.raises(NameTaken):
        put_named(tmp_path, "my-plan", b"other")
    with pytest.raises(UsageWrong):
        put_named(tmp_path, "../my plan", b"other")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("my-plan.md", b"ours")]


@pytest.mark.parametrize("kind", ["folder", "dangling link", "device"])
def test_whatever_stands_under_a_name_keeps_it(tmp_path: Path, kind: str) -> None:
    taken = tmp_path / "login.md"
    match kind:
        case "folder":
            taken.mkdir()
        case "device":
            taken.symlink_to("/dev/null")
        case _:
            taken.symlink_to("nowhere")
    assert put_new(tmp_path, "Login", b"x").name == "login-2.md"


def test_a_folder_that_is_a_file_is_told_and_not_tried_for_ever(tmp_path: Path) -> None:
    (tmp_path / "plans").write_text("a file")
    with pytest.raises(PlanUnwritable) as caught:
        put_new(tmp_path / "plans", "Login", b"x")
    assert caught.value.what.replace(str(tmp_path), "[TMP]") == snapshot(
        "[TMP]/plans/login.md cannot be written: its folder is a file"
    )


def test_the_words_of_made_up_names_are_slugs_and_differ() -> None:
    words = (*ADJECTIVES, *NOUNS)
    assert [word for word in words if slugify(word) != word] == []
    assert len(set(words)) == len(words)
