"""What could act later is as it was, or it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sealed import ABSENT, Seals, broken, digests_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    made = tmp_path / "config"
    (made / "hooks" / "inner").mkdir(parents=True)
    (made / "settings.json").write_text("{}")
    (made / "hooks" / "inner" / "stop.sh").write_text("true\n")
    (made / "hooks" / "link").symlink_to("inner/stop.sh")
    (made / "hooks" / "other").symlink_to("/bin/sh")
    (made / "rules").mkdir()
    return made


def sealed_in(config: Path) -> list[Path]:
    return [config / "settings.json", config / "hooks", config / "rules"]


CHANGES: dict[str, Callable[[Path], object]] = {
    "settings.json": lambda at: (at / "settings.json").write_text('{"hooks": 1}'),
    "hooks": lambda at: (at / "hooks" / "inner" / "stop.sh").write_text("evil\n"),
    "hooks, one more": lambda at: (at / "hooks" / "start.sh").write_text(""),
    "hooks, one less": lambda at: (at / "hooks" / "inner" / "stop.sh").unlink(),
    "hooks, by its rights": lambda at: (at / "hooks" / "inner" / "stop.sh").chmod(0o755),
    "hooks, where a link leads": lambda at: (at / "hooks" / "other").rename(at / "hooks" / "link"),
    "rules": lambda at: (at / "rules" / "allow.rules").write_text("all\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_came_went_or_became_another_is_named(config: Path, change: str) -> None:
    before = digests_of(sealed_in(config))
    assert broken(before, digests_of(sealed_in(config))) == ()
    CHANGES[change](config)
    assert broken(before, digests_of(sealed_in(config))) == (str(config / change.partition(",")[0]),)


def test_an_empty_folder_and_what_a_program_lays_down_itself_are_no_change(config: Path) -> None:
    remade = [config / "rules" / ".system"]
    before = digests_of(sealed_in(config), remade=remade)
    assert before[str(config / "rules")] == ABSENT
    (config / "rules" / ".system").mkdir()
    (config / "rules" / ".system" / "own.rules").write_text("its own\n")
    assert broken(before, digests_of(sealed_in(config), remade=remade)) == ()
    (config / "rules" / "system.rules").write_text("not its own\n")
    assert broken(before, digests_of(sealed_in(config), remade=remade)) == (str(config / "rules"),)


def test_a_start_that_was_killed_does_not_become_the_measure(config: Path, tmp_path: Path) -> None:
    first = Seals(tmp_path / "seals.json")
    assert first.broken() == ()
    first.put(sealed_in(config))
    CHANGES["settings.json"](config)
    second = Seals(tmp_path / "seals.json")
    second.put(sealed_in(config))
    assert second.broken() == (str(config / "settings.json"),)
    (tmp_path / "seals.json").write_text("{")
    assert [name.partition(",")[0] for name in second.broken()] == ["seals.json"]
