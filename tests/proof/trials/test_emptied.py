"""Product files, what is left of an emptied one, and what a run without them shows."""

from __future__ import annotations

import pytest

from asbuilt.proof.counts import Counts
from asbuilt.proof.judgement import cut_off
from asbuilt.proof.trials.emptied import Files, Shown, emptied, shown_without, sorted_out, word_of
from asbuilt.proof.trials.recorders import Loaded, names_of, read_loaded, strays

SUITE = Counts(3, 0, 0, (), ("t::one", "t::two", "t::three"))


@pytest.mark.parametrize(
    ("runner", "product"),
    [
        ("pytest", ("src/app.py",)),
        ("node", ("web/app.ts",)),
        ("go", ("app.go",)),
        ("cargo", ("src/lib.rs",)),
        ("maven", ("src/main/java/App.java",)),
        ("ctest", ("app.c", "app.h")),
    ],
)
def test_product_files_are_source_files_in_a_language_of_the_runner(
    runner: str, product: tuple[str, ...]
) -> None:
    code = ("app.c", "app.go", "app.h", "src/app.py", "src/lib.rs", "src/main/java/App.java", "web/app.ts")
    none = (
        "README.md", "tests/test_app.py", "src/test_app.py", "app/tests.py", "conftest.py", "app_test.go",
        "web/app.test.ts", "src/test/java/AppTest.java", "pyproject.toml", "tests/it.rs",
    )  # fmt: skip
    others = tuple(path for path in code if path not in product)
    assert sorted_out([*code, *none], [runner]) == Files(product, others)


def test_a_runner_that_is_not_known_may_run_any_language() -> None:
    assert sorted_out(["b.py", "a.js", "docs/conf.py"], [None]) == Files(("a.js", "b.py"), ("docs/conf.py",))


@pytest.mark.parametrize(
    ("path", "content", "left"),
    [
        ("a.py", b"x = 1\n", b""),
        ("a.py", b"\n", None),
        ("a.go", b"// words\npackage app\n\nfunc f() {}\n", b"package app\n"),
        ("a.go", b"package app\n", None),
    ],
)
def test_an_emptied_file_keeps_its_form(path: str, content: bytes, left: bytes | None) -> None:
    assert emptied(path, content) == left


def test_a_file_that_is_called_like_many_is_looked_for_by_its_folder() -> None:
    paths = ("src/twice/__init__.py", "web/index.ts", "a/b.test.js", "main.py")
    assert [word_of(path) for path in paths] == [
        "twice", "web", "b", "main",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "counts", "was_green", "whole", "shown"),
    [
        (0, SUITE, True, True, "green"),
        (1, Counts(3, 1, 0, ("t::one",), ("t::two",)), True, True, "tested"),
        (1, Counts(1, 1, 0, ("::tests.t",)), True, True, "built"),
        (2, None, True, True, "built"),
        (None, None, True, True, "built"),
        # A suite of Rust has its tests in the files that were emptied.
        (0, Counts(0, 0, 0), True, True, "built"),
        (0, Counts(1, 0, 0), True, False, "green"),
        # Red before and after: only another name shows anything.
        (1, Counts(3, 1, 0, ("t::old",)), False, True, "green"),
        (1, Counts(3, 2, 0, ("t::old", "t::one")), False, True, "tested"),
    ],
)
def test_a_run_without_the_product_files_shows(
    code: int | None, counts: Counts | None, *, was_green: bool, whole: bool, shown: Shown
) -> None:
    suite = SUITE if was_green else SUITE._replace(failed=1, failures=("t::old",), passed=("t::one",))
    assert shown_without(code, counts, suite, was_green=was_green, whole=whole) == shown


@pytest.mark.parametrize(
    ("code", "output", "why"),
    [
        (None, b"", "ended by its time limit"),
        (137, b"", "killed by SIGKILL"),
        (143, b"", "killed by SIGTERM"),
        (2, b"make: *** [Makefile:3: test] Killed\n", "killed by SIGKILL"),
        (101, b"process didn't exit successfully: `app` (signal: 9, SIGKILL: kill)\n", "killed by SIGKILL"),
        (139, b"Segmentation fault\n", None),
        (1, b"FAILED test_killed\n", None),
        (0, b"Killed\n", None),
    ],
)
def test_a_command_that_was_cut_off_is_told_from_one_that_failed(
    code: int | None, output: bytes, why: str | None
) -> None:
    assert cut_off(code, output) == why


def test_modules_of_the_project_are_named_and_those_of_python_are_not() -> None:
    paths = [
        "src/twice/__init__.py",
        "tool.py",
        "setup.py",
        "tests/test_it.py",
        "email/__init__.py",
        "a/b.py",
    ]
    assert names_of(paths, {"email"}) == ("tool", "twice")


def test_a_module_is_astray_only_where_no_process_loaded_it_from_the_checkout() -> None:
    listing = "twice\t/home/you/twice.py\ntool\t/srv/checkout/tool.py\ntool\t/usr/lib/tool.py\nodd line\n"
    assert strays(read_loaded(listing), "/srv/checkout") == (Loaded("twice", "/home/you/twice.py"),)
