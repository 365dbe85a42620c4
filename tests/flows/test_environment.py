from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.flows.environment import keep, kept

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_names = st.sampled_from(["PATH", "LANG", "LC_TIME", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY", "HOME"])
_values = st.text(st.characters(blacklist_characters="\0"), max_size=30)


@given(st.dictionaries(_names, _values))
def test_only_what_is_listed_is_kept_and_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]
) -> None:
    room = tmp_path_factory.mktemp("room")
    keep(room, environ)
    listed = {name: value for name, value in environ.items() if name in ("PATH", "LANG", "LC_TIME")}
    assert kept(room) == listed


def test_what_is_kept_is_for_its_user_alone(tmp_path: Path) -> None:
    keep(tmp_path / "room", {"PATH": "/bin"})
    assert stat.S_IMODE((tmp_path / "room" / "environment.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "room").stat().st_mode) == 0o700


def test_a_run_that_kept_nothing_sees_nothing(tmp_path: Path) -> None:
    assert kept(tmp_path) == {}
