"""What a check of a phase stands for in a recipe or a script may not become less, unless the plan says so."""

from __future__ import annotations

import json

import pytest

from asbuilt.proof.change.tampering import Change, Order, tampering

MAKEFILE = "test:\n\tsh run.sh\nlint: types\n\truff check .\ntypes:\n\tmypy src\n"
SCRIPTS = '{"scripts": {"test": "node --test", "lint": "eslint src", "build": "tsc"}}'
ADD = "Add a thing; `make lint` and `npm run lint` pass."


def found(
    path: str, before: str, after: str, *checks: str, text: str = ADD
) -> list[tuple[str, str, str, str, str]]:
    """Give what is found of one change, by kind, severity, place and words."""
    order = Order(text, command="make test" if path == "Makefile" else "npm test", checks=checks)
    findings = tampering([Change(path, before.encode(), after.encode())], order)
    return [(one.kind.value, one.severity.value, one.test, one.was, one.now) for one in findings]


@pytest.mark.parametrize("check", ["make lint", "cd . && make -s lint", "(make test lint)"])
@pytest.mark.parametrize("nothing", ["@true", "@echo ok", ":"])
def test_a_target_that_a_check_calls_cannot_be_emptied(check: str, nothing: str) -> None:
    after = MAKEFILE.replace("ruff check .", nothing)
    emptied = [("test-emptied", "fails", "lint", "ruff check .", "it checks nothing")]
    assert found("Makefile", MAKEFILE, after, check) == emptied


def test_nor_can_what_it_needs() -> None:
    after = MAKEFILE.replace("mypy src", "mypy src || true")
    said = "a failure is answered by ||: mypy src || true"
    forgiven = [("exit-forced", "fails", "types", "mypy src", said)]
    assert found("Makefile", MAKEFILE, after, "make lint") == forgiven


def test_a_target_that_nobody_calls_is_the_phases_own_and_so_is_a_stricter_one() -> None:
    assert found("Makefile", MAKEFILE, MAKEFILE.replace("ruff check .", "@true"), "grep -q a b") == []
    stricter = MAKEFILE.replace("mypy src", "mypy --strict src").replace("check .", "check .\n\tvulture src")
    assert found("Makefile", MAKEFILE, stricter, "make lint") == []


def test_what_the_plan_orders_is_allowed() -> None:
    text = "Drop ruff from the `lint` target of the `Makefile`; `make lint` passes."
    after = MAKEFILE.replace("\truff check .\n", "")
    (one,) = found("Makefile", MAKEFILE, after, "make lint", text=text)
    assert one[1] == "allowed"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("true", [("runner-replaced", "fails", "", "", "scripts.lint: true")]),
        ("echo ok", [("runner-replaced", "fails", "", "", "scripts.lint: echo ok")]),
        ("exit 0", [("runner-replaced", "fails", "", "", "scripts.lint: exit 0")]),
        ("biome check", [("runner-changed", "sign_off", "", "", "scripts.lint: biome check")]),
        ("eslint src lib", [("runner-changed", "note", "", "", "scripts.lint: eslint src lib")]),
    ],
)
def test_a_script_that_a_check_runs_is_held_to_what_it_was(
    script: str, told: list[tuple[str, str, str, str, str]]
) -> None:
    after = SCRIPTS.replace("eslint src", script)
    assert found("package.json", SCRIPTS, after, "npm run lint") == told
    assert found("package.json", SCRIPTS, after, "npm run build") == []


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (
            "./test-support/memory.ts",
            [("runner-changed", "sign_off", "", "", 'imports.#store: "./test-support/memory.ts"')],
        ),
        ("./lib/store.ts", []),
    ],
)
def test_a_name_by_which_modules_are_imported_leads_to_no_other_file_unasked(
    now: str, told: list[tuple[str, str, str, str, str]]
) -> None:
    before, after = (json.dumps({"imports": {"#store": one}}) for one in ("./src/store.ts", now))
    assert found("package.json", before, after) == told
