"""How a project is tested and made ready, told from names and a few texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.resolving import (
    NO_SETUP,
    READ,
    Detected,
    Given,
    NoTests,
    Project,
    Resolved,
    Unknown,
    command_of,
    proposal,
    read_back,
    resolve,
    resolve_setup,
    written,
)
from asbuilt.proof.runners import reporting

NPM_PLACEHOLDER = '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'
PYTEST = "python -m pytest -q"


def project(*names: str, **texts: str) -> Project:
    """A project of these files; a text's dots are written as underscores in its name."""
    read = {name.replace("_", "."): text for name, text in texts.items()}
    return Project({name: f"oid of {name}" for name in (*names, *read)}, read)


@pytest.mark.parametrize(
    ("tree", "resolved"),
    [
        (project("README.md", "src"), NoTests()),
        (project("pytest.ini"), Detected(PYTEST, ("pytest.ini",))),
        (project(pyproject_toml="[tool.pytest.ini_options]"), Detected(PYTEST, ("pyproject.toml",))),
        (project(pyproject_toml="[tool.ruff]"), NoTests()),
        (project(pyproject_toml="[tool.pytest"), NoTests()),
        (project(setup_cfg="[tool:pytest]"), Detected(PYTEST, ("setup.cfg",))),
        (project(tox_ini="[testenv]"), Unknown(("tox.ini",))),
        (project("noxfile.py"), Unknown(("noxfile.py",))),
        (
            project("noxfile.py", "tests/unit/test_a.py"),
            Detected(PYTEST, ("tests/unit/test_a.py", "noxfile.py")),
        ),
        (project("uv.lock", "tests/a.py"), Detected("uv run pytest -q", ("tests/a.py",))),
        (project("poetry.lock", "pytest.ini"), Detected("poetry run pytest -q", ("pytest.ini",))),
        (project(package_json='{"scripts": {"test": "vitest"}}'), Detected("npm test", ("package.json",))),
        (project(package_json=NPM_PLACEHOLDER), NoTests()),
        (project(package_json='{"scripts": ["test"]}'), NoTests()),
        (project(package_json="["), NoTests()),
        (
            project("pnpm-lock.yaml", package_json='{"scripts": {"test": "x"}}'),
            Detected("pnpm test", ("package.json",)),
        ),
        (project("vitest.config.ts"), Detected("npx --no-install vitest run", ("vitest.config.ts",))),
        (project("jest.config.js"), Detected("npx --no-install jest", ("jest.config.js",))),
        (project(".mocharc.yml"), Detected("npx --no-install mocha", (".mocharc.yml",))),
        (project("Cargo.toml"), Detected("cargo test", ("Cargo.toml",))),
        (project("go.mod"), Detected("go test -v ./...", ("go.mod",))),
        (project("Gemfile", "spec/a_spec.rb"), Detected("bundle exec rspec", ("Gemfile",))),
        (project("Gemfile"), NoTests()),
        (project(Makefile="all:\n\ntest: all\n\tsh t.sh\n"), Detected("make test", ("Makefile",))),
        (project(Makefile="test := 1\ntests:\n"), Unknown(("Makefile",))),
        (project("tests/all.sh"), Unknown(("tests/all.sh",))),
        (project("tests/all.js"), Unknown(("tests/all.js",))),
        (
            project("pytest.ini", Makefile="test:\n"),
            Detected(PYTEST, ("pytest.ini", "Makefile")),
        ),
    ],
)
def test_what_tests_a_project_is_told_by_its_files(tree: Project, resolved: Resolved) -> None:
    found = resolve(None, tree)
    assert (type(found), found) == (type(resolved), resolved)


def test_what_was_set_is_taken_whatever_is_found_and_the_empty_text_says_that_there_are_no_tests() -> None:
    tree = project("pytest.ini")
    assert resolve("make check", tree) == Given("make check")
    assert resolve("", tree) == NoTests(said=True)


names = st.sampled_from(
    [
        "pytest.ini",
        "uv.lock",
        "tests/a.py",
        "tests/a\n.sh",
        "Cargo.toml",
        "go.mod",
        "tox.ini",
        "Gemfile",
        *READ,
    ]
)
trees = st.builds(
    lambda names, texts: Project(dict.fromkeys((*names, *texts), "oid"), texts),
    st.lists(names | st.text(max_size=200)),
    st.dictionaries(st.sampled_from(READ), st.text() | st.sampled_from(["test:\n", NPM_PLACEHOLDER])),
)


@given(st.none() | st.text(max_size=40), trees)
def test_a_resolution_is_total_fits_an_event_and_is_read_back_from_it(
    given_command: str | None, tree: Project
) -> None:
    resolved = resolve(given_command, tree)
    data = written(resolved)
    back = read_back(data)
    assert (type(back), back) == (type(resolved), resolved)
    assert command_of(resolved) == data["command"]
    assert len(str(data["found"])) < 1000
    assert all(name.isprintable() for name in data["found"])


@given(st.none() | st.text(max_size=40), trees)
def test_only_what_nobody_has_set_needs_an_agreement(given_command: str | None, tree: Project) -> None:
    resolved = resolve(given_command, tree)
    assert (proposal(resolved) is None) is isinstance(resolved, Given | NoTests)
    if given_command is not None:
        assert proposal(resolved) is None


def test_the_same_command_is_the_same_proposal_whatever_led_to_it() -> None:
    proposed = proposal(Detected("npm test", ("package.json",)))
    assert proposed == proposal(Detected("npm test", ("package.json", "Makefile")))
    assert proposed != proposal(Detected("npm run test", ("package.json",)))
    assert proposal(Unknown(("Makefile",))) != proposal(Unknown(("Makefile", "tests/a.sh")))


@pytest.mark.parametrize(
    ("tree", "command"),
    [
        (project("README.md"), None),
        (project("uv.lock"), "uv sync --frozen"),
        (project("poetry.lock"), "poetry install --no-interaction"),
        (project("package-lock.json", "yarn.lock"), "npm ci"),
        (project("Cargo.lock"), "cargo fetch --locked"),
        (project("go.sum"), "go mod download"),
        (project("uv.lock", "pnpm-lock.yaml"), "uv sync --frozen && pnpm install --frozen-lockfile"),
    ],
)
def test_a_setup_is_told_by_lock_files(tree: Project, command: str | None) -> None:
    assert resolve_setup(None, tree).command == command
    assert resolve_setup("", tree) == NO_SETUP
    assert resolve_setup("make deps", tree).command == "make deps"


def test_a_setup_is_the_same_until_its_command_or_a_file_it_installs_from_changes() -> None:
    before = Project({"uv.lock": "1", "a.py": "1", "pyproject.toml": "1"}, {})
    digest = resolve_setup(None, before).digest
    assert resolve_setup(None, before._replace(names={**before.names, "a.py": "2"})).digest == digest
    others = [
        resolve_setup(None, before._replace(names={**before.names, "uv.lock": "2"})),
        resolve_setup(None, before._replace(names={**before.names, "pyproject.toml": "2"})),
        resolve_setup("uv sync", before),
        NO_SETUP,
    ]
    assert len({digest, *(other.digest for other in others)}) == 5


@pytest.mark.parametrize(
    ("argv", "asked"),
    [
        (("pytest", "-q"), ("pytest", "--junitxml=R", "-q")),
        (("/x/bin/pytest", "--", "a"), ("/x/bin/pytest", "--junitxml=R", "--", "a")),
        (("python3.12", "-m", "pytest"), ("python3.12", "-m", "pytest", "--junitxml=R")),
        (("uv", "run", "pytest", "-q"), ("uv", "run", "pytest", "--junitxml=R", "-q")),
        (("uv", "run", "--with", "pytest", "x"), None),
        (("pytest", "--junitxml=mine"), None),
        (("python", "run.py", "pytest"), None),
        (("make", "pytest"), None),
        (("/bin/sh", "-c", "pytest | tee log"), None),
    ],
)
def test_only_a_certain_pytest_is_asked_for_a_report(
    argv: tuple[str, ...], asked: tuple[str, ...] | None
) -> None:
    assert reporting(argv, "R").argv == (asked or argv)
