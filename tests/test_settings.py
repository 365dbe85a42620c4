"""The highest layer that sets a key wins and is named; nothing is guessed; every complaint has its line."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.errors import SettingInvalid
from asbuilt.events.options import LANDINGS
from asbuilt.policy.sandbox.services import TABLE
from asbuilt.settings import (
    SETTINGS,
    Chosen,
    Kind,
    Layer,
    ServiceTable,
    Setting,
    SuiteTable,
    Value,
    load,
)
from asbuilt.settings.files import organisation_file
from asbuilt.settings.layers import Origin
from asbuilt.settings.setting import BUILT_IN_SERVICES
from asbuilt.settings.values import from_text
from tests.settings_world import World, toml, world

__all__ = ["world"]

LOW_TO_HIGH = [Layer.ORGANISATION, Layer.USER, Layer.REPOSITORY, Layer.ENVIRONMENT]


WORDS = st.text("aé漢.-_ 0", min_size=1, max_size=6).filter(str.strip)
VALUES: dict[Kind, st.SearchStrategy[Value]] = {
    Kind.FLAG: st.booleans(),
    Kind.MONEY: st.integers(0, 10**5).map(lambda cents: cents / 100),
    Kind.TEXT: WORDS,
    Kind.FOLDER: st.lists(WORDS.filter(lambda word: word != ".."), min_size=1, max_size=3).map("/".join),
    Kind.GLOBS: st.lists(st.sampled_from(["web/**", "*.css", "[ab].{c,d}"]), max_size=3).map(tuple),
    Kind.HOSTS: st.lists(st.sampled_from(["a.example", "*.b.example", "127.0.0.1:80"]), unique=True).map(
        tuple
    ),
    Kind.PATHS: st.lists(st.sampled_from(["/data/a", "/srv/a b"]), unique=True).map(tuple),
    Kind.SUITES: st.lists(
        st.builds(
            SuiteTable,
            st.sampled_from(["", "web", "a b/c"]),
            WORDS,
            st.sampled_from(["", "npm ci"]),
            st.sampled_from(["tests", "exit-code"]),
        ),
        max_size=3,
    ).map(tuple),
    Kind.HOURS: st.sampled_from(["22:00-07:00", "12:15-13:00"]),
    Kind.NAMES: st.lists(st.sampled_from(["API_TOKEN", "stage"]), max_size=2).map(tuple),
    Kind.SUITES: st.lists(st.just(SuiteTable("api", "pytest -q")), max_size=1).map(tuple),
    Kind.SERVICES: st.lists(st.just(ServiceTable("mail", "maild -p 25", 25)), max_size=1).map(tuple),
}


def _values(setting: Setting) -> st.SearchStrategy[Value]:
    if setting.kind is Kind.NUMBER:
        return st.integers(setting.least, setting.most)
    if setting.kind is Kind.CHOICES:
        return st.lists(st.sampled_from(setting.choices), unique=True).map(tuple)
    return st.sampled_from(setting.choices) if setting.choices else VALUES[setting.kind]


@given(st.data())
def test_the_highest_layer_that_sets_a_key_wins_and_is_named(data: st.DataObject) -> None:
    setting = data.draw(st.sampled_from(list(SETTINGS.values())))
    layers = [one for one in LOW_TO_HIGH if one is not Layer.REPOSITORY or setting.repository_may_set]
    given_values = data.draw(st.dictionaries(st.sampled_from(layers), _values(setting)))
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for layer, value in given_values.items():
            world.set(layer, setting, value)
        chosen = world.load().chosen[setting.key]
    if setting.tightens:
        _leave_out_what_loosens(given_values, setting)
    highest = max(given_values, key=LOW_TO_HIGH.index, default=Layer.DEFAULT)
    assert (chosen.value, chosen.origin.layer) == (given_values.get(highest, setting.default), highest)


def _leave_out_what_loosens(given_values: dict[Layer, Value], setting: Setting) -> None:
    """Take a repository's word away unless it is stricter than what is the user's own."""
    own = [given_values[layer] for layer in (Layer.USER, Layer.ORGANISATION) if layer in given_values]
    strictness = setting.choices.index
    if strictness(str(given_values.get(Layer.REPOSITORY, setting.choices[-1]))) >= strictness(
        str((own or [setting.default])[0])
    ):
        given_values.pop(Layer.REPOSITORY, None)


def test_a_repository_makes_a_boundary_stricter_and_never_looser(world: World) -> None:
    world.user.write_text('scope.ci = "sign-off"\nscope.locks = "sign-off"\n', encoding="utf-8")
    (world.repository / "asbuilt.toml").write_text(
        'scope.ci = "note"\nscope.locks = "block"\n', encoding="utf-8"
    )
    settings = world.load()
    assert {key: settings.chosen[key].origin.layer for key in ("scope.ci", "scope.locks")} == {
        "scope.ci": Layer.USER,
        "scope.locks": Layer.REPOSITORY,
    }
    assert (settings.text("scope.ci"), settings.text("scope.locks")) == ("sign-off", "block")


@given(st.data())
def test_what_the_organisation_locks_stands_above_all(data: st.DataObject) -> None:
    setting = data.draw(st.sampled_from(list(SETTINGS.values())))
    layers = [Layer.USER, Layer.ENVIRONMENT] + [Layer.REPOSITORY] * setting.repository_may_set
    others = data.draw(st.dictionaries(st.sampled_from(layers), _values(setting)))
    locked = data.draw(_values(setting))
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for layer, value in others.items():
            world.set(layer, setting, value)
        world.organisation.write_text(
            f'locked = ["{setting.key}"]\n{setting.key} = {toml(locked)}\n', encoding="utf-8"
        )
        chosen = world.load().chosen[setting.key]
        name = str(world.organisation)
    origin = Origin(layer=Layer.ORGANISATION, name=name, line=2, locked=True, file=Path(name))
    assert chosen == Chosen(value=locked, origin=origin)


def test_without_any_file_every_value_is_its_default(world: World) -> None:
    chosen = load(repository=None, environ={"HOME": str(world.user)}).chosen
    default = Origin(layer=Layer.DEFAULT, name="default")
    assert dict(chosen) == {key: Chosen(value=one.default, origin=default) for key, one in SETTINGS.items()}


def test_a_value_is_read_by_its_kind(world: World) -> None:
    settings = world.load()
    assert (
        settings.text("plans.folder"),
        settings.flag("sandbox.required"),
        settings.globs("ui.patterns"),
    ) == (
        "plans",
        True,
        (),
    )
    for read, key in (
        (settings.text, "sandbox.required"),
        (settings.flag, "plans.folder"),
        (settings.globs, "time.zone"),
    ):
        with pytest.raises(TypeError):
            read(key)


@pytest.mark.parametrize("typed", ["1234567890", "9" * 5000])
def test_a_number_that_is_too_long_is_refused_and_not_cut(typed: str) -> None:
    with pytest.raises(SettingInvalid):
        from_text(SETTINGS["limits.tokens"], typed, where="", next_step="")


def test_an_installed_organisation_file_cannot_be_replaced_by_a_variable(tmp_path: Path) -> None:
    installed, other = tmp_path / "installed.toml", tmp_path / "other.toml"
    environ = {"ASBUILT_ORGANISATION_FILE": str(other)}
    assert organisation_file(environ, installed=installed) == other
    installed.touch()
    assert organisation_file(environ, installed=installed) == installed
    assert organisation_file({}, installed=installed) == installed


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            '[landing]\nmode = "merge"\n',
            snapshot(['asbuilt.toml:2: landing.mode "merge" is not cherry-pick, pr, direct']),
        ),
        (
            "[landing]\nmode = 3\n",
            snapshot(["asbuilt.toml:2: landing.mode 3 is not cherry-pick, pr, direct"]),
        ),
        (
            'landing = "pr"\n',
            snapshot(
                [
                    (
                        'asbuilt.toml:1: landing "pr" is not a table; it holds landing.mode, landing.direct,'
                        " landing.sign, landing.programs, landing.branch_prefix, landing.reports,"
                        " landing.ci_poll_s, landing.ci_limit_s, landing.ci_fixes"
                    )
                ]
            ),
        ),
        (
            '\n[landing]\nmod = "pr"\n',
            snapshot(['asbuilt.toml:3: no setting "landing.mod". Did you mean landing.mode?']),
        ),
        (
            '[agents.claude]\ncommand = "rm"\n',
            snapshot(["asbuilt.toml:2: a repository may not set agents.claude.command"]),
        ),
        (
            "sandbox.required = false\n",
            snapshot(["asbuilt.toml:1: a repository may not set sandbox.required"]),
        ),
        (
            '[plans]\nfolder = "/etc"\n',
            snapshot(['asbuilt.toml:2: plans.folder "/etc" is not a path inside the repository']),
        ),
        (
            'plans.folder = "a/../../b"\n',
            snapshot(['asbuilt.toml:1: plans.folder "a/../../b" is not a path inside the repository']),
        ),
        (
            'plans.folder = ""\n',
            snapshot(['asbuilt.toml:1: plans.folder "" is not a path inside the repository']),
        ),
        (
            'plansDirectory = "a"\nplans.folder = "b"\n',
            snapshot(["asbuilt.toml:2: plans.folder sets plans.folder a second time"]),
        ),
        ('ui.patterns = "*.css"\n', snapshot(['asbuilt.toml:1: ui.patterns "*.css" is not a list of globs'])),
        (
            'ui.patterns = ["*.css", 3]\n',
            snapshot(['asbuilt.toml:1: ui.patterns ["*.css", 3] is not a list of globs']),
        ),
        (
            'checks.tests = "a\\nb"\n',
            snapshot(['asbuilt.toml:1: checks.tests "a\\nb" is not one line of text']),
        ),
        ('locked = ["landing.mode"]\n', snapshot(['asbuilt.toml:1: no setting "locked"'])),
        (
            '[landing]\nmode = "merge"\n[ui]\npatterns = 1\n',
            snapshot(
                [
                    'asbuilt.toml:2: landing.mode "merge" is not cherry-pick, pr, direct',
                    "asbuilt.toml:4: ui.patterns 1 is not a list of globs",
                ]
            ),
        ),
    ],
)
def test_what_means_nothing_in_a_repository_is_named_with_its_line(
    world: World, text: str, problems: list[str]
) -> None:
    (world.repository / "asbuilt.toml").write_text(text)
    assert world.problems() == problems


def test_a_repository_chooses_what_is_checked_and_never_who_runs_or_what_protects_you() -> None:
    free = {key for key, one in SETTINGS.items() if one.repository_may_set and not one.tightens}
    assert free == {
        "plans.folder", "plan.length", "ui.patterns", "ui.pictures", "ui.tester", "checks.tests",
        "checks.suites", "landing.reports",
        "checks.counts", "checks.setup", "checks.minutes", "checks.services", "checks.env", "setup.env",
        "landing.mode", "landing.branch_prefix", "plan.template",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ('["postgres", "postgres"]', "checks.services"),
        ('["oracle"]', "checks.services"),
        ('[{name = "mail", command = "maild"}]', "checks.services"),
        ('[{name = "mail", command = "maild", ready = 70000}]', "checks.services"),
        ('"postgres"', "checks.services"),
    ],
)
def test_a_service_is_one_that_we_know_or_has_a_command_and_a_port(
    world: World, written: str, what: str
) -> None:
    (world.repository / "asbuilt.toml").write_text(f"{what} = {written}\n")
    (problem,) = world.problems()
    assert problem.endswith("a list of postgres, redis, or tables with name, command and ready (a port)")


def test_services_are_names_and_tables_in_one_list(world: World) -> None:
    text = 'checks.services = ["redis", {name = "mail", command = "maild", ready = 25}]\n'
    (world.repository / "asbuilt.toml").write_text(text)
    found = world.load().chosen["checks.services"].value
    assert found == (ServiceTable("redis"), ServiceTable("mail", "maild", 25))
    assert {one.name for one in TABLE.values()} == {*BUILT_IN_SERVICES}


def test_a_repository_may_name_a_variable_and_never_give_it_a_value(world: World) -> None:
    (world.repository / "asbuilt.toml").write_text('checks.env.API_TOKEN = "theirs-to-say"\n')
    assert world.problems() == ["asbuilt.toml:1: a repository may not set checks.env.API_TOKEN"]


def test_the_setting_has_every_way_to_land_that_a_run_can_take() -> None:
    assert SETTINGS["landing.mode"].choices == LANDINGS
