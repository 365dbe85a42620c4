"""What tells a runner how to test is put back before it runs."""

from __future__ import annotations

import json

import pytest

from asbuilt.proof.change.restored_test_settings import PutBack, put_back
from asbuilt.proof.suites.model import Change

HOOK = b"def pytest_sessionfinish(session): session.exitstatus = 0\n"


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "tests/conftest.py",
        "pytest.ini",
        "sitecustomize.py",
        "jest.config.js",
        "vitest.setup.ts",
        "src/setupTests.ts",
        ".mocharc.yml",
        "pytest/__init__.py",
    ],
)
def test_what_tells_a_runner_how_to_test_is_the_bases_unless_the_phase_names_it(path: str) -> None:
    changed = Change(path, b"# as it was\n", HOOK)
    assert put_back([changed], "- [ ] the tests pass") == (PutBack(path, b"# as it was\n", is_recipe=False),)
    assert put_back([changed._replace(before=None)], "") == (PutBack(path, None, is_recipe=False),)
    assert put_back([changed], f"- [ ] `{path}` gets a hook") == ()


@pytest.mark.parametrize(
    "path", ["app.py", "tests/test_a.py", "README.md", "Cargo.toml", "go.mod", "tests/data.json"]
)
def test_what_is_product_test_or_manifest_is_the_phases(path: str) -> None:
    assert put_back([Change(path, b"a", b"b")], "") == ()


@pytest.mark.parametrize(
    ("before", "commands", "is_put_back"),
    [
        (
            b'for file in tests/test_*.sh; do sh "$file"; done\n',
            "make test\ntest:\n\tsh tests/run.sh\n",
            True,
        ),
        (b'for file in tests/test_*.sh; do sh "$file"; done\n', "sh tests/other.sh", False),
        (b"[ 1 = 1 ]\n", "sh tests/run.sh", False),
        (None, "sh tests/run.sh", False),
    ],
)
def test_a_script_that_finds_and_runs_the_tests_is_the_bases(
    before: bytes | None, commands: str, *, is_put_back: bool
) -> None:
    change = Change("tests/run.sh", before, b"exit 0\n")
    assert put_back([change], "", commands) == (
        (PutBack("tests/run.sh", before, is_recipe=False),) if is_put_back else ()
    )
    assert put_back([change], "`tests/run.sh` counts skipped tests too", commands) == ()


def test_a_recipe_is_put_back_for_the_tests_alone() -> None:
    change = Change("Makefile", b"test:\n\tpytest\n", b"test:\n\tpytest || true\n")
    assert put_back([change], "") == (PutBack("Makefile", change.before, is_recipe=True),)


def test_of_a_projects_own_file_only_the_runners_tables_are_put_back() -> None:
    before = "[project]\nname = 'a'\n\n[tool.pytest.ini_options]\naddopts = '-q'\n\n[tool.ruff]\nline = 1\n"
    after = before.replace("'a'", "'b'").replace("'-q'", "'-q --deselect t'")
    (found,) = put_back([Change("pyproject.toml", before.encode(), after.encode())], "")
    assert found.content == (
        b"[project]\nname = 'b'\n\n[tool.ruff]\nline = 1\n\n[tool.pytest.ini_options]\naddopts = '-q'\n\n"
    )
    other = before.replace("'a'", "'b'")
    assert put_back([Change("pyproject.toml", before.encode(), other.encode())], "") == ()


def test_of_a_package_only_the_tests_scripts_and_settings_are_put_back() -> None:
    before = {"name": "a", "scripts": {"test": "vitest run"}, "jest": {"bail": 1}}
    after = {
        "name": "a",
        "scripts": {"test": "vitest run || true", "posttest": "exit 0", "build": "tsc"},
        "dependencies": {"b": "1"},
    }
    change = Change("package.json", json.dumps(before).encode(), json.dumps(after).encode())
    (found,) = put_back([change], "")
    assert json.loads(found.content or b"") == {
        "name": "a",
        "scripts": {"build": "tsc", "test": "vitest run"},
        "dependencies": {"b": "1"},
        "jest": {"bail": 1},
    }
    added = json.dumps({**before, "dependencies": {"b": "1"}}).encode()
    assert put_back([change._replace(after=added)], "") == ()
