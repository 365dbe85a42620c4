"""A file or a variable that is wrong is named with its line; nothing is guessed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.errors import SettingInvalid
from asbuilt.settings import state_folder
from asbuilt.settings.files import line_of
from tests.settings_world import World, world

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["world"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[landing\nmode = 1\n", "asbuilt.toml:1"),
        ("a = 1\na = 2\n", "asbuilt.toml:2"),
        ('# one\nchecks.tests = "', "asbuilt.toml:2"),
        ("a = " + "[" * 100_000, "asbuilt.toml"),
    ],
)
def test_a_file_that_is_not_toml_is_named_with_the_line_if_the_parser_tells_it(
    world: World, text: str, place: str
) -> None:
    (world.repository / "asbuilt.toml").write_text(text)
    (problem,) = world.problems()
    assert problem.startswith(f"{place}: not TOML: ")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            'locked = "sandbox.required"\n',
            snapshot(['[ORGANISATION]:1: locked "sandbox.required" is not a list of keys']),
        ),
        (
            'locked = ["sandbox.required"]\n',
            snapshot(["[ORGANISATION]:1: locked names sandbox.required, which this file does not set"]),
        ),
        (
            'locked = ["nothing"]\n',
            snapshot(["[ORGANISATION]:1: locked names nothing, which this file does not set"]),
        ),
        (
            "[sandbox]\nrequired = 1\n",
            snapshot(["[ORGANISATION]:2: sandbox.required 1 is not true or false"]),
        ),
    ],
)
def test_a_lock_that_locks_nothing_is_named(world: World, text: str, problems: list[str]) -> None:
    world.organisation.write_text(text)
    told = [problem.replace(str(world.organisation), "[ORGANISATION]") for problem in world.problems()]
    assert told == problems


@pytest.mark.parametrize(
    ("environ", "problems"),
    [
        (
            {"ASBUILT_LANDING_MODE": "merge"},
            snapshot(['ASBUILT_LANDING_MODE: landing.mode "merge" is not cherry-pick, pr, direct']),
        ),
        (
            {"ASBUILT_SANDBOX_REQUIRED": "perhaps"},
            snapshot(['ASBUILT_SANDBOX_REQUIRED: sandbox.required "perhaps" is not true or false']),
        ),
        (
            {"ASBUILT_LANDNG_MODE": "pr"},
            snapshot(
                ["ASBUILT_LANDNG_MODE in the environment sets nothing. Did you mean ASBUILT_LANDING_MODE?"]
            ),
        ),
        ({"ASBUILT_LANDING_MODE": ""}, []),
        ({"ASBUILT_HOME": "/x", "ASBUILT_SOMETHING_ELSE_ALTOGETHER": "1", "OTHER": "1"}, []),
    ],
)
def test_a_variable_is_read_as_strictly_as_a_file(
    world: World, environ: Mapping[str, str], problems: list[str]
) -> None:
    world.environ |= environ
    assert world.problems() == problems


def test_load_raises_the_first_problem_in_the_form_of_every_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (world.repository / "asbuilt.toml").write_text('[landing]\nmode = "merge"\n')
    monkeypatch.chdir(world.repository)
    with pytest.raises(SettingInvalid) as caught:
        world.load()
    assert (caught.value.what, caught.value.why, caught.value.next_step, caught.value.exit_code) == snapshot(
        (
            'asbuilt.toml:2: landing.mode "merge" is not cherry-pick, pr, direct',
            "A guessed landing could move the wrong branch.",
            "`${EDITOR:-vi} +2 asbuilt.toml`",
            2,
        )
    )


@pytest.mark.parametrize(
    ("below", "path"), [("src/deep", "../../asbuilt.toml"), ("..", "[REPOSITORY]/asbuilt.toml")]
)
def test_the_editor_is_given_a_path_that_works_in_the_folder_of_the_user(
    world: World, monkeypatch: pytest.MonkeyPatch, below: str, path: str
) -> None:
    (world.repository / "asbuilt.toml").write_text('[landing]\nmode = "merge"\n')
    (world.repository / "src/deep").mkdir(parents=True)
    monkeypatch.chdir(world.repository / below)
    with pytest.raises(SettingInvalid) as caught:
        world.load()
    told = caught.value.next_step.replace(str(world.repository), "[REPOSITORY]")
    assert told == f"`${{EDITOR:-vi}} +2 {path}`"


def test_two_places_in_one_repository_are_an_error(world: World) -> None:
    (world.repository / "asbuilt.toml").touch()
    (world.repository / "pyproject.toml").write_text("[project]\n\n[tool.asbuilt.landing]\n")
    assert world.problems() == snapshot(["settings stand in both asbuilt.toml and pyproject.toml:3"])


@pytest.mark.parametrize("text", ["[tool.ruff]\n", "not toml at all {", '[project]\nname = "asbuilt"\n'])
def test_a_pyproject_that_is_not_about_us_is_none_of_our_business(world: World, text: str) -> None:
    (world.repository / "pyproject.toml").write_text(text)
    assert world.problems() == []


@pytest.mark.parametrize("kind", ["folder", "binary", "huge", "unreadable link"])
def test_a_file_that_cannot_be_read_is_an_error_and_no_hang(world: World, kind: str) -> None:
    file = world.repository / "asbuilt.toml"
    match kind:
        case "folder":
            file.mkdir()
        case "binary":
            file.write_bytes(b"a = '\xff'")
        case "huge":
            file.write_bytes(b"#" * (1 << 20) + b"\n")
        case _:
            file.symlink_to("/dev/zero")
    assert (
        world.problems()
        == {
            "folder": ["asbuilt.toml cannot be read: it is not a regular file"],
            "binary": ["asbuilt.toml cannot be read: byte 5 is not UTF-8"],
            "huge": ["asbuilt.toml cannot be read: it is larger than 1 MiB"],
            "unreadable link": ["asbuilt.toml cannot be read: it is not a regular file"],
        }[kind]
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[landing]\nmode = 1\n", 2),
        ("landing.mode = 1\n", 1),
        ("# landing.mode = 1\n\nlanding . mode = 1\n", 3),
        ("\"landing\".'mode' = 1\n", 1),
        ("[ landing ]\n\nmode=1\n", 3),
        ("landing = { sign = 2, mode = 1 }\n", 1),
        ('[a]\nx = """\nlanding.mode = 0\n[landing]\nmode = 0\n"""\n[landing]\r\nmode = 1\n', 8),
        ('[a]\nx = """one line"""\n[landing]\nmode = 1\n', 4),
        ("[landing]\nsign = 1\n", None),
        ("[other]\nmode = 1\n", None),
    ],
)
def test_the_line_of_a_key_is_found_however_it_is_written(text: str, line: int | None) -> None:
    assert line_of(text, ("landing", "mode")) == line


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/h"}, "/h/.local/state/asbuilt"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/asbuilt"),
        ({"HOME": "/h", "XDG_STATE_HOME": "relative"}, "/h/.local/state/asbuilt"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s", "ASBUILT_HOME": "/a"}, "/a"),
    ],
)
def test_state_is_kept_in_one_folder_of_the_user(environ: Mapping[str, str], folder: str) -> None:
    assert state_folder(environ) == Path(folder)


def test_a_relative_home_is_refused() -> None:
    with pytest.raises(SettingInvalid, match='ASBUILT_HOME "here" is not an absolute path'):
        state_folder({"ASBUILT_HOME": "here"})
