"""The highest layer that sets a key wins and is named; nothing is guessed; every complaint has its line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.errors import SettingInvalid
from asbuilt.settings import (
    SETTINGS,
    Chosen,
    Kind,
    Layer,
    Origin,
    Setting,
    Settings,
    Value,
    line_of,
    load,
    organisation_file,
    state_folder,
    survey,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

LOW_TO_HIGH = [Layer.ORGANISATION, Layer.USER, Layer.REPOSITORY, Layer.ENVIRONMENT, Layer.FLAG]


WORDS = st.text("aé漢.-_ 0", min_size=1, max_size=6).filter(str.strip)
VALUES: dict[Kind, st.SearchStrategy[Value]] = {
    Kind.FLAG: st.booleans(),
    Kind.MONEY: st.integers(0, 10**5).map(lambda cents: cents / 100),
    Kind.TEXT: WORDS,
    Kind.FOLDER: st.lists(WORDS.filter(lambda word: word != ".."), min_size=1, max_size=3).map("/".join),
    Kind.GLOBS: st.lists(st.sampled_from(["web/**", "*.css", "[ab].{c,d}"]), max_size=3).map(tuple),
    Kind.HOURS: st.sampled_from(["22:00-07:00", "12:15-13:00"]),
}


def _values(setting: Setting) -> st.SearchStrategy[Value]:
    if setting.kind is Kind.NUMBER:
        return st.integers(setting.least, setting.most)
    if setting.kind is Kind.CHOICES:
        return st.lists(st.sampled_from(setting.choices), unique=True).map(tuple)
    return st.sampled_from(setting.choices) if setting.choices else VALUES[setting.kind]


def _toml(value: Value) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


class World:
    """A home, a repository and an organisation in a folder that goes away."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "shop-api"
        self.repository.mkdir()
        self.user = folder / "home" / ".config" / "asbuilt" / "config.toml"
        self.user.parent.mkdir(parents=True)
        self.organisation = folder / "organisation.toml"
        self.environ = {
            "HOME": str(folder / "home"),
            "ASBUILT_ORGANISATION_FILE": str(self.organisation),
        }
        self.flags: dict[str, object] = {}

    def set(self, layer: Layer, setting: Setting, value: Value) -> None:
        line = f"{setting.key} = {_toml(value)}\n"
        match layer:
            case Layer.FLAG:
                self.flags[setting.key] = value
            case Layer.ENVIRONMENT:
                self.environ[setting.variable] = value if isinstance(value, str) else _toml(value)
            case Layer.REPOSITORY:
                (self.repository / "asbuilt.toml").write_text(line, encoding="utf-8")
            case Layer.USER:
                self.user.write_text("# mine\n" + line, encoding="utf-8")
            case Layer.ORGANISATION:
                self.organisation.write_text(line, encoding="utf-8")
            case Layer.DEFAULT:
                raise ValueError(layer)

    def load(self) -> Settings:
        return load(repository=self.repository, environ=self.environ, flags=self.flags)

    def problems(self) -> list[str]:
        _, problems = survey(repository=self.repository, environ=self.environ, flags=self.flags)
        return [problem.what for problem in problems]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


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
            f'locked = ["{setting.key}"]\n{setting.key} = {_toml(locked)}\n', encoding="utf-8"
        )
        chosen = world.load().chosen[setting.key]
        name = str(world.organisation)
    origin = Origin(layer=Layer.ORGANISATION, name=name, line=2, locked=True)
    assert chosen == Chosen(value=locked, origin=origin)


def test_without_any_file_every_value_is_its_default(world: World) -> None:
    chosen = load(repository=None, environ={"HOME": str(world.user)}).chosen
    default = Origin(layer=Layer.DEFAULT, name="default")
    assert dict(chosen) == {key: Chosen(value=one.default, origin=default) for key, one in SETTINGS.items()}


def test_a_value_is_read_by_its_kind(world: World) -> None:
    settings = world.load()
    assert (settings.text("plans.folder"), settings.flag("ring.required"), settings.globs("ui.patterns")) == (
        "plans",
        True,
        (),
    )
    for read, key in (
        (settings.text, "ring.required"),
        (settings.flag, "plans.folder"),
        (settings.globs, "time.zone"),
    ):
        with pytest.raises(TypeError):
            read(key)


def test_a_flag_against_a_lock_is_refused_and_the_same_value_is_not(world: World) -> None:
    world.organisation.write_text('locked = ["landing.mode"]\n[landing]\nmode = "pr"\n')
    world.flags["landing.mode"] = "pr"
    assert world.problems() == []
    world.flags["landing.mode"] = "direct"
    assert world.problems() == [f'landing.mode is locked to "pr" by {world.organisation}:3']


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
                        " landing.sign, landing.branch_prefix, landing.ci_poll_s, landing.ci_limit_s,"
                        " landing.ci_fixes"
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
        ("ring.required = false\n", snapshot(["asbuilt.toml:1: a repository may not set ring.required"])),
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
        "plans.folder", "plan.length", "ui.patterns", "ui.pictures", "checks.tests", "checks.setup",
        "landing.mode", "landing.branch_prefix",
    }  # fmt: skip


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
            'locked = "ring.required"\n',
            snapshot(['[ORGANISATION]:1: locked "ring.required" is not a list of keys']),
        ),
        (
            'locked = ["ring.required"]\n',
            snapshot(["[ORGANISATION]:1: locked names ring.required, which this file does not set"]),
        ),
        (
            'locked = ["nothing"]\n',
            snapshot(["[ORGANISATION]:1: locked names nothing, which this file does not set"]),
        ),
        ("[ring]\nrequired = 1\n", snapshot(["[ORGANISATION]:2: ring.required 1 is not true or false"])),
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
            {"ASBUILT_RING_REQUIRED": "perhaps"},
            snapshot(['ASBUILT_RING_REQUIRED: ring.required "perhaps" is not true or false']),
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


def test_load_raises_the_first_problem_in_the_form_of_every_error(world: World) -> None:
    (world.repository / "asbuilt.toml").write_text('[landing]\nmode = "merge"\n')
    with pytest.raises(SettingInvalid) as caught:
        world.load()
    assert (caught.value.what, caught.value.why, caught.value.next_step, caught.value.exit_code) == snapshot(
        (
            'asbuilt.toml:2: landing.mode "merge" is not cherry-pick, pr, direct',
            "A guessed landing could move the wrong branch.",
            "Correct asbuilt.toml:2; `asbuilt config show --origin` shows who sets what.",
            2,
        )
    )


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


AGENTS = """\
[agents]
slots = 3
[agents.quick]
kind = "claude"
model = "haiku"
max_turns = 40
budget_usd = 2
[agents.codex]
command = "/opt/codex-acp --flag"
[roles]
verify = "codex"
"""


def test_an_agent_has_a_table_of_its_own(world: World) -> None:
    world.user.write_text(AGENTS, encoding="utf-8")
    settings = world.load()
    assert settings.named("agents") == {
        "quick": {"kind": "claude", "model": "haiku", "max_turns": 40, "budget_usd": 2.0},
        "codex": {"command": "/opt/codex-acp --flag"},
    }
    assert (settings.number("agents.slots"), settings.text("roles.verify")) == (3, "codex")
    assert settings.chosen["agents.quick.model"].origin == Origin(
        Layer.USER, "~/.config/asbuilt/config.toml", 5
    )


def test_what_is_wrong_in_an_agents_table_is_told_with_its_line_and_what_may_be_meant(world: World) -> None:
    world.user.write_text(
        '[agents.quick]\nmodle = "haiku"\nmax_turns = 0.5\n[agents]\nquik = "x"\n', encoding="utf-8"
    )
    file = "~/.config/asbuilt/config.toml"
    assert world.problems() == [
        f'{file}:2: no setting "agents.quick.modle". Did you mean agents.quick.model?',
        f"{file}:3: agents.quick.max_turns 0.5 is not a number from 0 to 10000",
        f'{file}:5: no setting "agents.quik". Did you mean agents.slots?',
    ]


def test_a_repository_names_no_agent_and_no_command(world: World) -> None:
    (world.repository / "asbuilt.toml").write_text(AGENTS, encoding="utf-8")
    assert world.problems() == [
        f"asbuilt.toml:{line}: a repository may not set {key}"
        for line, key in [
            (2, "agents.slots"),
            (4, "agents.quick.kind"),
            (5, "agents.quick.model"),
            (6, "agents.quick.max_turns"),
            (7, "agents.quick.budget_usd"),
            (9, "agents.codex.command"),
            (11, "roles.verify"),
        ]
    ]


def test_an_organisation_locks_what_an_agent_is_started_with(world: World) -> None:
    world.organisation.write_text(
        'locked = ["agents.codex.command"]\n[agents.codex]\ncommand = "/opt/ours"\n', encoding="utf-8"
    )
    world.user.write_text(AGENTS, encoding="utf-8")
    assert world.load().named("agents")["codex"] == {"command": "/opt/ours"}
