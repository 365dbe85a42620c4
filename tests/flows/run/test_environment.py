from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import read_options
from asbuilt.flows.environments.limits_and_variables import Given
from asbuilt.flows.run.environment import given_in, keep, kept, kept_for, kept_for_forge
from asbuilt.settings import load
from asbuilt.settings.granted_variables import asked

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


def test_what_an_agent_signs_in_with_reaches_that_kind_of_agent_and_no_check(tmp_path: Path) -> None:
    room = tmp_path / "room"
    environ = {"PATH": "/bin", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "AWS_SECRET_ACCESS_KEY": "s"}
    keep(room, environ, ["claude", "codex"])
    assert kept(room) == {"PATH": "/bin"}
    assert kept_for(room, "claude") == {"PATH": "/bin", "ANTHROPIC_API_KEY": "a"}
    assert kept_for(room, "codex") == {"PATH": "/bin", "OPENAI_API_KEY": "o"}
    assert kept_for(room, "scripted") == kept_for(room, "unheard-of") == {"PATH": "/bin"}
    assert {one.name: stat.S_IMODE(one.stat().st_mode) for one in room.iterdir()} == {
        "environment.json": 0o600,
        "agents.json": 0o600,
    }
    keep(tmp_path / "other", environ, ["codex"])
    assert kept_for(tmp_path / "other", "claude") == {"PATH": "/bin"}


def test_what_leads_to_the_forge_is_kept_for_it_alone_and_only_where_it_is_needed(tmp_path: Path) -> None:
    environ = {"PATH": "/bin", "GH_TOKEN": "t", "HTTPS_PROXY": "p", "AWS_SECRET_ACCESS_KEY": "s"}
    keep(tmp_path / "pr", environ, ["claude"], options=RunOptions(landing="pr"))
    keep(tmp_path / "other", environ, ["claude"])
    assert kept_for_forge(tmp_path / "pr") == {"PATH": "/bin", "GH_TOKEN": "t", "HTTPS_PROXY": "p"}
    assert stat.S_IMODE((tmp_path / "pr" / "forge.json").stat().st_mode) == 0o600
    assert kept_for_forge(tmp_path / "other") == {}
    assert "t" not in kept_for(tmp_path / "pr", "claude").values()


def test_checks_get_the_values_of_variables_that_were_granted_and_agents_get_none(tmp_path: Path) -> None:
    shop, room = tmp_path / "shop", tmp_path / "room"
    shop.mkdir()
    (shop / "asbuilt.toml").write_text('checks.env = ["API_TOKEN", "STAGE"]\nsetup.env = ["BUILD_TOKEN"]\n')
    user = tmp_path / "user.toml"
    user.write_text('checks.env.API_TOKEN = "mine"\n')
    environ = {
        "HOME": str(tmp_path), "ASBUILT_USER_FILE": str(user), "PATH": "/bin",
        "API_TOKEN": "of the shell", "STAGE": "test", "BUILD_TOKEN": "b", "OTHER": "o",
    }  # fmt: skip
    options = {"checkout": str(shop), "env": {"checks": ["API_TOKEN", "STAGE"], "setup": ["BUILD_TOKEN"]}}
    keep(room, environ, ["claude"], options=read_options(options))
    assert given_in(room, read_options(options)) == Given(home=tmp_path)

    wanted = asked(load(repository=shop, environ=environ), shop)
    assert wanted is not None
    assert wanted.names == ("API_TOKEN", "STAGE", "BUILD_TOKEN")
    user.write_text(f'checks.env.API_TOKEN = "mine"\nchecks.granted = ["{wanted.digest}"]\n')
    keep(room, environ, ["claude"], options=read_options(options))

    assert given_in(room, read_options(options)) == Given(
        checks={"API_TOKEN": "mine", "STAGE": "test"}, setup={"BUILD_TOKEN": "b"}, home=tmp_path
    )
    assert kept(room) == kept_for(room, "claude") == {"PATH": "/bin"}
    assert stat.S_IMODE((room / "given.json").stat().st_mode) == 0o600


def test_a_grant_is_for_one_folder_and_these_names(tmp_path: Path) -> None:
    digests = set()
    for name, text in (("a", '["T"]'), ("b", '["T"]'), ("a", '["T", "U"]'), ("a", '["U", "T"]')):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "asbuilt.toml").write_text(f"checks.env = {text}\n")
        settings = load(repository=tmp_path / name, environ={"HOME": str(tmp_path)})
        wanted = asked(settings, tmp_path / name)
        digests.add(wanted and wanted.digest)
    assert len(digests) == 3
    user = tmp_path / "user.toml"
    user.write_text('checks.env = ["T"]\n')
    settings = load(repository=None, environ={"HOME": str(tmp_path), "ASBUILT_USER_FILE": str(user)})
    assert asked(settings, tmp_path) is None, "what a user names himself is granted"
