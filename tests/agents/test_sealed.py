"""What could act later is as it was before the first start, or the attempt has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.host.agent_process import Seals
from asbuilt.agents.host.main import sealed_end

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asbuilt.ports import Ending

NAMES = ("settings.json", "hooks", "skills")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    made = tmp_path / "config"
    (made / "hooks" / "inner").mkdir(parents=True)
    (made / "settings.json").write_text("{}")
    (made / "hooks" / "inner" / "stop.sh").write_text("true\n")
    (made / "hooks" / "link").symlink_to("inner/stop.sh")
    (made / "other").symlink_to("/bin/sh")
    (made / "skills").mkdir()
    return made


CHANGES: dict[str, Callable[[Path], object]] = {
    "settings.json": lambda at: (at / "settings.json").write_text('{"hooks": 1}'),
    "hooks/inner/stop.sh": lambda at: (at / "hooks" / "inner" / "stop.sh").write_text("evil\n"),
    "hooks/start.sh": lambda at: (at / "hooks" / "start.sh").write_text(""),
    "hooks/link": lambda at: (at / "other").rename(at / "hooks" / "link"),
    "skills/.systemic": lambda at: (at / "skills" / ".systemic").write_text(""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_came_or_became_another_is_named_and_no_later_start_becomes_the_measure(
    config: Path, tmp_path: Path, change: str
) -> None:
    seals = Seals(tmp_path / "seals.json")
    assert seals.broken() == []
    seals.put(config, NAMES, remade=("skills/.system",))
    (config / "history").write_text("what it says is its own\n")
    (config / "skills" / ".system").mkdir()
    (config / "skills" / ".system" / "SKILL.md").write_text("its own\n")
    assert seals.broken() == []
    CHANGES[change](config)
    again = Seals(tmp_path / "seals.json")
    again.put(config, NAMES)
    assert again.broken() == [str(config / change)]


def test_a_measure_that_cannot_be_read_is_no_measure(config: Path, tmp_path: Path) -> None:
    seals = Seals(tmp_path / "seals.json")
    seals.put(config, NAMES)
    (tmp_path / "seals.json").write_text("{")
    assert [name.partition(",")[0] for name in seals.broken()] == ["seals.json"]


def test_an_attempt_that_broke_a_seal_has_failed_however_it_ended() -> None:
    cancelled: tuple[Ending, str] = ("cancelled", "It was asked to end.")
    assert sealed_end(cancelled, []) == cancelled
    broken = sealed_end(cancelled, ["/h/.codex/config.toml"])
    assert isinstance(broken, tuple)
    assert (broken[0], "not as it was: /h/.codex/config.toml." in broken[1]) == ("failed", True)
