"""How a project is tested and prepared: by its settings, else by what its tree has."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.events.options_json import read_options
from asbuilt.events.phases import TestsResolved
from asbuilt.journal.encoding.codec import event_of, fields_of
from asbuilt.journal.events import MAX_BODY
from asbuilt.proof.projects.model import (
    NO_SETUP,
    Detected,
    Given,
    NeedsDocker,
    NoTests,
    Project,
    Resolved,
    Suite,
    Unknown,
    by_name,
    suites_of,
)
from asbuilt.proof.projects.recorded import chosen, proposal, read_back, written
from asbuilt.proof.projects.resolving import resolve, resolve_setup
from tests.proof.projects.test_finding import projects
from tests.proof.projects.trees import of, tree

if TYPE_CHECKING:
    from pathlib import Path

PYTEST = "python -m pytest -q"
COVERED = "[tool:pytest]\naddopts = --cov"
VENV = 'python3 -m venv "$VIRTUAL_ENV"'
PIP = "python -m pip install -q"
NEW_PIP = f"{PIP} -U 'pip>=25.1'"
NPM = "HUSKY=0 npm install --no-audit --no-fund --no-package-lock"
NPM_CI = "HUSKY=0 npm ci --no-audit --no-fund"
PNPM = "HUSKY=0 npx --yes pnpm@10 install --frozen-lockfile"
TEST = '{"scripts": {"test": "jest"}}'

IN_VENV = Suite("", PYTEST, "pytest", "tests", f"{VENV} && {PIP} -r requirements.txt pytest")


def test_what_the_settings_name_is_taken_whatever_the_tree_has() -> None:
    project = tree("pytest.ini")
    suites = (Suite("api", "make check", counts="exit-code"), Suite("web", "npm test", setup="npm ci"))
    assert resolve(suites, project) == Given(suites)
    assert resolve((), project) == NoTests(is_stated=True)


@pytest.mark.parametrize(
    ("options", "suites"),
    [
        ({}, None),
        ({"tests": None, "suites": []}, None),
        ({"tests": ""}, ()),
        ({"tests": "make test"}, (Suite("", "make test"),)),
        ({"tests": "make test", "counts": "exit-code"}, (Suite("", "make test", counts="exit-code"),)),
        (
            {
                "tests": "x",
                "suites": [{"folder": "a", "command": "y", "setup": "z"}, {"folder": "", "command": "w"}],
            },
            (Suite("a", "y", setup="z"), Suite("", "w")),
        ),
        ({"suites": [{"command": "w"}]}, (Suite("", "w"),)),
    ],
)
def test_the_options_of_a_run_name_its_suites(
    options: dict[str, Any], suites: tuple[Suite, ...] | None
) -> None:
    assert chosen(read_options(options)) == suites


@pytest.mark.parametrize(
    ("project", "resolved"),
    [
        (tree("README.md"), NoTests()),
        (tree("tests/all.sh"), Unknown(("tests/all.sh",))),
        (
            of({"test_a.py": "", "requirements.txt": "testcontainers"}),
            NeedsDocker(("requirements.txt",), (IN_VENV,)),
        ),
        (
            of({"web/package.json": TEST, "tests/all.sh": ""}),
            Detected(
                (Suite("web", "npm test", "jest", "tests", NPM),),
                ("web/package.json",),
                (Suite("web", "npx --no-install jest", "jest", "tests", NPM),),
                ("tests/all.sh",),
            ),
        ),
    ],
)
def test_without_settings_the_tree_is_searched(project: Project, resolved: Resolved) -> None:
    found = resolve(None, project)
    assert (type(found), found) == (type(resolved), resolved)


def test_a_declared_weaker_proof_holds_for_every_suite_that_is_found() -> None:
    found = resolve(None, tree("pytest.ini"), counts="exit-code")
    assert [suite.counts for suite in suites_of(found)] == ["exit-code"]


def test_a_single_suite_is_named_tests_and_several_by_their_folders() -> None:
    api, web, other = Suite("api", "a", "pytest"), Suite("web", "b"), Suite("api", "c", "jest")
    assert tuple(by_name((api,))) == ("tests",)
    assert tuple(by_name((Suite("", "d"), web))) == ("tests in .", "tests in web")
    assert tuple(by_name((api, other, web))) == (
        "tests in api (pytest)",
        "tests in api (jest)",
        "tests in web",
    )
    assert tuple(by_name(())) == ()


@given(projects)
def test_a_resolution_fits_an_event_and_is_read_back_from_it(project: Project) -> None:
    resolved = resolve(None, project)
    body = json.dumps(fields_of(written(resolved)))
    told = event_of(TestsResolved.kind, TestsResolved.version, json.loads(body))
    assert isinstance(told, TestsResolved)
    back = read_back(told)
    assert type(back) is type(resolved)
    assert [suite[:4] for suite in suites_of(back)] == [suite[:4] for suite in suites_of(resolved)]
    assert proposal(back) == proposal(resolved)
    assert len(body) < MAX_BODY


def test_an_event_without_suites_has_a_single_command() -> None:
    old = TestsResolved(source="detected", command="npm test", found=("package.json",))
    assert read_back(old) == Detected((Suite("", "npm test"),), ("package.json",))
    assert read_back(replace(old, source="given")) == Given((Suite("", "npm test"),))
    assert read_back(replace(old, source="notests", command=None)) == NoTests()


def test_the_same_suites_are_the_same_proposal_whatever_led_to_them() -> None:
    npm = (Suite("", "npm test"),)
    proposed = proposal(Detected(npm, ("package.json",)))
    assert proposed == proposal(Detected(npm, ("package.json", "Makefile")))
    others: list[Resolved] = [
        Detected((Suite("web", "npm test"),), ()),
        Detected((Suite("", "npm test", counts="exit-code"),), ()),
        Detected(npm, (), unknown=("tests/a.sh",)),
        Unknown(("Makefile",)),
        NeedsDocker(("Makefile",)),
    ]
    assert len({proposed, *map(proposal, others)}) == 6
    assert [proposal(given) for given in (Given(npm), NoTests(), NoTests(is_stated=True))] == [
        None,
        None,
        None,
    ]


PINS = (
    """awk -F'"' '/^name = /{n=$2} /^version = "/{if(n in v)v[n]="";else v[n]=$2}"""
    """ /^source = \\{ (editable|virtual|directory|git|url)/{v[n]=""}"""
    """ END{for(n in v)if(v[n])print n"=="v[n]}'"""
    """ LOCK > "$HOME/pins.txt" && python -m pip install -q -c "$HOME/pins.txt\""""
)
GROUPS = (
    '[project]\n[dependency-groups]\ndev = ["tox"]\ntests = [{include-group = "base"}]\nbase = ["pytest>8"]'
)
UV = "uv sync --frozen --inexact --no-default-groups --group tests"
UNLOCKED = f"{NEW_PIP} && {PINS.replace('LOCK', 'uv.lock')} -e ."
NOX = "@nox.session\ndef tests(s):\n  s.install('-e', '.', 'pytest', 'mock')\n  s.run('pytest')"
NAMED = '{"packageManager": "pnpm@10.1.0+sha512.x", "scripts": {"test": "jest"}}'
POETRY = '[tool.poetry]\n[tool.poetry.group.test.dependencies]\npytest = "^8"\npytest-mock = "*"'


@pytest.mark.parametrize(
    ("files", "installs"),
    [
        ({"pyproject.toml": "[project]"}, f"{PIP} -e . pytest"),
        ({"setup.py": "", "requirements.txt": "requests"}, f"{PIP} -e . pytest"),
        ({"requirements.txt": "flask"}, f"{PIP} -r requirements.txt pytest"),
        ({"requirements.txt": "flask\npytest"}, f"{PIP} -r requirements.txt"),
        ({"pyproject.toml": "[tool.ruff]"}, f"{PIP} pytest"),
        (
            {"pyproject.toml": '[project.optional-dependencies]\ntest = ["pytest", "x"]'},
            f"{PIP} -e '.[test]'",
        ),
        (
            {"pyproject.toml": '[project.optional-dependencies]\ntest = ["responses"]'},
            f"{PIP} -e '.[test]' pytest",
        ),
        (
            {"setup.cfg": "[metadata]\n[options.extras_require]\ntesting =\n  pytest\n  tox"},
            f"{PIP} -e '.[testing]'",
        ),
        ({"setup.py": "setup(extras_require={'docs': ['sphinx'], 'dev': ['pytest']})"}, f"{PIP} -e '.[dev]'"),
        ({"pyproject.toml": GROUPS}, f"{NEW_PIP} && {PIP} -e . --group tests"),
        (
            {
                "setup.py": "",
                "requirements-dev.txt": "-r requirements/base.txt",
                "requirements/base.txt": "pytest",
            },
            f"{PIP} -e . -r requirements-dev.txt",
        ),
        ({"setup.py": "", "tests/requirements.txt": "pytest # 8"}, f"{PIP} -e . -r tests/requirements.txt"),
        (
            {"setup.py": "", "requirements/test.txt": "pytest", "requirements/docs.txt": "sphinx"},
            f"{PIP} -e . -r requirements/test.txt",
        ),
        (
            {"setup.py": "", "tox.ini": "[testenv]\ndeps =\n  pytest\n  pytest-cov<5\ncommands = pytest"},
            f"{PIP} -e . pytest 'pytest-cov<5'",
        ),
        (
            {"setup.py": "", "pytest.ini": "[pytest]\naddopts = --cov=a -n auto\nasyncio_mode = auto"},
            f"{PIP} -e . pytest-cov pytest-xdist pytest-asyncio pytest",
        ),
        (
            {"setup.py": "", "requirements-test.txt": "pytest\npytest_cov", "setup.cfg": COVERED},
            f"{PIP} -e . -r requirements-test.txt",
        ),
        ({"setup.py": "", "noxfile.py": NOX}, f"{PIP} -e . pytest mock"),
        (
            {"pyproject.toml": '[project]\n[tool.hatch.envs.test]\ndependencies = ["pytest"]'},
            f"{PIP} -e . pytest",
        ),
        (
            {"pyproject.toml": POETRY, "poetry.lock": ""},
            f"{PINS.replace('LOCK', 'poetry.lock')} -e . pytest pytest-mock",
        ),
        (
            {"pyproject.toml": GROUPS, "uv.lock": ""},
            f"if command -v uv >/dev/null; then {UV}; else {UNLOCKED} --group tests; fi",
        ),
    ],
)
def test_python_is_prepared_in_a_virtual_environment_with_the_first_source_that_has_the_runner(
    files: dict[str, str], installs: str
) -> None:
    setup = resolve_setup(None, of({"tests/test_a.py": "", **files}))
    assert setup.command == f"{VENV} && {installs}"


LOCK = """
version = 1
[[package]]
name = "shop"
version = "1.0"
source = { editable = "." }
[[package]]
name = "numpy"
version = "1.26"
source = { registry = "https://example.com" }
[[package]]
name = "numpy"
version = "2.0"
source = { registry = "https://example.com" }
[[package]]
name = "pytest"
version = "9.0.2"
source = { registry = "https://example.com" }
dependencies = [
    { name = "pluggy" },
]
[[package]]
name = "pluggy"
version = "1.6.0"
"""


def test_a_lock_file_pins_the_packages_that_have_one_version_there(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text(LOCK)
    command = PINS.replace("LOCK", "uv.lock").partition(" && ")[0]
    subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        check=True,
    )
    assert sorted((tmp_path / "pins.txt").read_text().split()) == ["pluggy==1.6.0", "pytest==9.0.2"]


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"README.md": ""}, None),
        ({"package.json": TEST}, NPM),
        ({"package.json": TEST, "package-lock.json": "", "yarn.lock": ""}, NPM_CI),
        (
            {"package.json": TEST, "pnpm-lock.yaml": "lockfileVersion: '6.0'"},
            "HUSKY=0 npx --yes pnpm@8 install --frozen-lockfile",
        ),
        (
            {"package.json": NAMED, "pnpm-lock.yaml": ""},
            "HUSKY=0 npx --yes pnpm@10.1.0 install --frozen-lockfile",
        ),
        (
            {"package.json": TEST, "yarn.lock": ""},
            "HUSKY=0 npx --yes yarn@1 install --frozen-lockfile --non-interactive",
        ),
        (
            {"package.json": TEST, "yarn.lock": "", ".yarnrc.yml": "", ".yarn/releases/yarn-4.1.0.cjs": ""},
            "HUSKY=0 YARN_NODE_LINKER=node-modules node .yarn/releases/yarn-4.1.0.cjs install --immutable",
        ),
        (
            {"package.json": NAMED.replace("10.1.0", "11.3.0"), "pnpm-lock.yaml": ""},
            f"{PNPM.replace('@10', '@11.3.0')} || {PNPM}",
        ),
        ({"Cargo.toml": ""}, "cargo fetch"),
        ({"Cargo.toml": "", "Cargo.lock": ""}, "cargo fetch --locked"),
        ({"go.mod": "", "a_test.go": ""}, "go mod download"),
        ({"CMakeLists.txt": "enable_testing()"}, None),
        (
            {"CMakeLists.txt": "enable_testing()", "lib/CMakeLists.txt": "FetchContent_Declare(x)"},
            "cmake -S . -B build",
        ),
        ({"api/package.json": TEST}, f"(cd api && {NPM})"),
        (
            {"api/package.json": TEST, "x y/go.mod": "", "x y/a_test.go": ""},
            f"(cd api && {NPM}) && (cd 'x y' && go mod download)",
        ),
        # The members of a workspace are installed once, at its root.
        (
            {
                "package.json": '{"workspaces": ["p/*"]}',
                "package-lock.json": "",
                "p/a/package.json": TEST,
                "p/b/package.json": TEST,
            },
            NPM_CI,
        ),
    ],
)
def test_a_setup_installs_what_the_suites_need(files: dict[str, str], command: str | None) -> None:
    project = of(files)
    assert resolve_setup(None, project).command == command
    assert resolve_setup("", project) == NO_SETUP
    assert resolve_setup("make deps", project).command == "make deps"


def test_a_suite_of_the_settings_is_prepared_as_it_says_else_as_the_tree_says() -> None:
    project = of({"api/package.json": TEST, "web/package.json": TEST, "web/package-lock.json": ""})
    commands = [
        resolve_setup(None, project, suites).command
        for suites in (
            [Suite("", "make test")],
            [Suite("web", "make test")],
            [Suite("web/ui", "make test")],
            [Suite("web", "make test", setup="make deps")],
            [Suite("web", "make test", setup="none")],
            [Suite("other", "make test")],
        )
    ]
    both = f"(cd api && {NPM}) && (cd web && {NPM_CI})"
    assert commands == [
        both,
        f"(cd web && {NPM_CI})",
        f"(cd web && {NPM_CI})",
        "(cd web && make deps)",
        None,
        None,
    ]


def test_a_setup_is_the_same_until_its_command_or_a_file_it_installs_from_changes() -> None:
    files = {
        "web/package.json": TEST,
        "web/package-lock.json": "1",
        "a.js": "1",
        "vendor/x/package.json": "1",
    }
    digest = resolve_setup(None, of(files)).digest
    assert resolve_setup(None, of({**files, "a.js": "2", "vendor/x/package.json": "2"})).digest == digest
    others = [
        resolve_setup(None, of({**files, "web/package-lock.json": "2"})),
        resolve_setup(None, of({**files, "web/package.json": '{"scripts": {"test": "jest "}}'})),
        resolve_setup(None, of({**files, "lib/requirements.txt": ""})),
        resolve_setup("npm ci", of(files)),
        NO_SETUP,
    ]
    assert len({digest, *(other.digest for other in others)}) == 6


@given(st.none() | st.text(max_size=40), projects)
def test_a_setup_is_total(given_command: str | None, project: Project) -> None:
    setup = resolve_setup(given_command, project)
    assert (setup == NO_SETUP) is (setup.command is None)
