"""What a runner is told, and what is put back before it runs."""

from __future__ import annotations

import json

import pytest

from asbuilt.proof.counts import Counts
from asbuilt.proof.runner_command_lines import (
    Call,
    Runner,
    failing_fast,
    narrowed,
    only,
    real_argv,
    reporting,
    runner_of,
)
from asbuilt.proof.suites.path_roles import is_test_file
from asbuilt.proof.trials.canaries import Canary, CanaryResult, canaries, canary_state

CANARY = Canary("z1", "0a", "0b")
REPORT = "--junitxml=r.xml"
NO_FAILURE = ("-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false")
SUREFIRE = ("target/surefire-reports/TEST-*.xml", "target/failsafe-reports/TEST-*.xml")
GRADLE = ("build/test-results/*/TEST-*.xml",)


@pytest.mark.parametrize(
    ("argv", "output", "runner"),
    [
        (("python3", "-m", "pytest", "-q"), "", "pytest"),
        (("uv", "run", "pytest"), "", "pytest"),
        (("python", "-m", "unittest"), "", "unittest"),
        (("node", "--test"), "", "node"),
        (("npx", "--no-install", "vitest", "run"), "", "vitest"),
        (("jest",), "", "jest"),
        (("go", "test", "-v", "./..."), "", "go"),
        (("cargo", "test"), "", "cargo"),
        (("make", "test"), "3 passed in 0.02s\n", "pytest"),
        (("make", "test"), "Ran 3 tests in 0.1s\n\nOK\n", "unittest"),
        (("npm", "test"), " Test Files  1 passed (1)\n", "vitest"),
        (("npm", "test"), "Test Suites: 1 passed\n", "jest"),
        (("npm", "test"), "# tests 3\n", "node"),
        (("make", "test"), "ok  \tx/a\t0.01s\n", "go"),
        (("make", "test"), "test result: ok. 5 passed\n", "cargo"),
        (("make", "test"), "all good\n", None),
    ],
)
def test_a_runner_is_known_by_its_words_or_by_its_output(
    argv: tuple[str, ...], output: str, runner: Runner | None
) -> None:
    assert runner_of(argv, output) == runner


@pytest.mark.parametrize(
    ("runner", "argv", "call"),
    [
        ("pytest", ("pytest", "-q"), Call(("pytest", REPORT, "-q", "--maxfail=0", "-k", "z1 or test_a"))),
        (
            "pytest",
            ("make", "test"),
            Call(("make", "test"), {"PYTEST_ADDOPTS": "--maxfail=0 --junitxml='r.xml' -k 'z1 or test_a'"}),
        ),
        ("unittest", ("python", "-m", "unittest"), Call(("python", "-m", "unittest", "-v", "-k", "z1"))),
        ("unittest", ("make", "test"), None),
        ("node", ("node", "--test", "t/"), Call(("node", "--test-name-pattern=z1", "--test", "t/"))),
        ("node", ("make", "test"), None),
        ("vitest", ("npm", "test"), Call(("npm", "test", "--", "-t", "z1"))),
        ("jest", ("yarn", "test"), Call(("yarn", "test", "-t", "z1"))),
        ("jest", ("make", "test"), None),
        ("go", ("go", "test", "./..."), Call(("go", "test", "-run", "z1", "-v", "./..."))),
        ("cargo", ("cargo", "test"), Call(("cargo", "test", "--no-fail-fast", "z1"))),
        ("cargo", ("make", "test"), None),
        (
            "mocha",
            ("npx", "mocha", "-r", "x", "t/"),
            Call(("npx", "mocha", "--reporter", "spec", "-r", "x", "t/", "--grep", "z1")),
        ),
        ("mocha", ("npm", "test", "--", "t/"), Call(("npm", "test", "--", "t/", "--grep", "z1"))),
        ("ava", ("yarn", "ava"), Call(("yarn", "ava", "--match=*z1*"))),
        ("tap", ("npx", "tap"), None),
        ("ctest", ("ctest",), Call(("ctest", "--output-junit", "r.xml", "-R", "z1"))),
        ("meson", ("meson", "test", "-C", "b"), Call(("meson", "test", "-C", "b", "z1"))),
        (
            "maven",
            ("./mvnw", "test"),
            Call(("./mvnw", "test", "-Dtest=*z1*", *NO_FAILURE), {}, SUREFIRE),
        ),
        (
            "gradle",
            ("./gradlew", ":core:test", "-i"),
            Call(("./gradlew", ":core:test", "--tests", "*z1*", "-i"), {}, GRADLE),
        ),
        ("gradle", ("./gradlew", "check"), None),
    ],
)
def test_a_runner_is_told_to_run_only_tests_of_some_name(
    runner: Runner, argv: tuple[str, ...], call: Call | None
) -> None:
    assert narrowed(runner, argv, "z1", "r.xml", ["test_a"]) == call


@pytest.mark.parametrize(
    ("runner", "argv", "call"),
    [
        ("pytest", ("pytest", "-n", "2", "tests/"), Call(("pytest", REPORT, "-n", "2", "tests/test_a.py"))),
        ("pytest", ("make", "test"), None),
        (
            "unittest",
            ("python", "-m", "unittest", "discover", "-s", "tests"),
            Call(("python", "-m", "unittest", "tests/test_a.py", "-v")),
        ),
        ("node", ("node", "--test", "t/"), Call(("node", "--test", "tests/test_a.py"))),
        ("vitest", ("npm", "test"), Call(("npm", "test", "--", "tests/test_a.py"))),
        ("go", ("go", "test"), Call(("go", "test", "-v", "./tests"))),
        ("cargo", ("cargo", "test"), None),
        ("pytest", ("/bin/sh", "-c", "cd api && pytest"), None),
        (
            "mocha",
            ("npx", "mocha", "--require", "tests", "./tests/"),
            Call(("npx", "mocha", "--reporter", "spec", "--require", "tests", "tests/test_a.py")),
        ),
        ("maven", ("mvn", "test"), Call(("mvn", "test", "-Dtest=test_a", *NO_FAILURE), {}, SUREFIRE)),
        ("gradle", ("gradle", "test"), Call(("gradle", "test", "--tests", "*test_a"), {}, GRADLE)),
        ("ctest", ("ctest",), None),
    ],
)
def test_a_runner_is_told_to_run_only_some_files(
    runner: Runner, argv: tuple[str, ...], call: Call | None
) -> None:
    assert only(runner, argv, ["tests/test_a.py"], "r.xml", ["tests", "tests/test_a.py"]) == call


@pytest.mark.parametrize(
    ("runner", "argv", "call"),
    [
        ("pytest", ("pytest", "-q", "--", "a"), Call(("pytest", "-q", "-x", "--", "a"))),
        ("pytest", ("make", "test"), Call(("make", "test"), {"PYTEST_ADDOPTS": "-x"})),
        (
            "pytest",
            ("/bin/sh", "-c", "cd api && A=1 uv run pytest"),
            Call(("/bin/sh", "-c", "cd api && A=1 uv run pytest -x")),
        ),
        (
            "unittest",
            ("python", "-m", "unittest", "discover"),
            Call(("python", "-m", "unittest", "discover", "-f")),
        ),
        ("django", ("python", "manage.py", "test"), Call(("python", "manage.py", "test", "--failfast"))),
        ("go", ("go", "test", "./..."), Call(("go", "test", "-failfast", "./..."))),
        ("jest", ("npm", "test"), Call(("npm", "test", "--", "--bail"))),
        ("vitest", ("npx", "vitest", "run"), Call(("npx", "vitest", "run", "--bail=1"))),
        ("mocha", ("yarn", "test"), Call(("yarn", "test", "--bail"))),
        ("mocha", ("make", "test"), Call(("make", "test"))),
        ("cargo", ("cargo", "test", "--no-fail-fast"), Call(("cargo", "test"))),
        ("ctest", ("ctest", "--test-dir", "b"), Call(("ctest", "--test-dir", "b", "--stop-on-failure"))),
        ("maven", ("mvn", "-q", "test"), Call(("mvn", "-q", "test", "-Dsurefire.skipAfterFailureCount=1"))),
        ("gradle", ("./gradlew", "test"), Call(("./gradlew", "test"))),
        ("node", ("node", "--test"), Call(("node", "--test"))),
        (None, ("make", "test"), Call(("make", "test"))),
    ],
)
def test_a_runner_is_told_to_end_at_its_first_failure(
    runner: Runner | None, argv: tuple[str, ...], call: Call
) -> None:
    assert failing_fast(runner, argv) == call


def package(test: str, **scripts: str) -> str:
    return json.dumps({"scripts": {"test": test, **scripts}})


@pytest.mark.parametrize(
    ("argv", "script", "real"),
    [
        (("npm", "test"), "node --test test/", ("node", "--test", "test/")),
        (("npm", "run", "test"), "mocha -r x t/", ("npx", "--no-install", "mocha", "-r", "x", "t/")),
        (("npm", "test", "--", "a.js"), "jest", ("npx", "--no-install", "jest", "a.js")),
        (("pnpm", "test"), "vitest run", ("pnpm", "exec", "vitest", "run")),
        (("yarn", "test"), "cross-env CI=1 ava", ("yarn", "run", "cross-env", "CI=1", "ava")),
        (("npm", "t"), "c8 tap", ("npx", "--no-install", "c8", "tap")),
        (
            ("npm", "test"),
            "node --experimental-vm-modules node_modules/jest/bin/jest.js",
            ("node", "--experimental-vm-modules", "node_modules/jest/bin/jest.js"),
        ),
        (("npm", "test"), "npx mocha", ("npx", "mocha")),
        (("npm", "test"), "tsc && node --test", None),
        (("npm", "test"), "NODE_ENV=test mocha", None),
        (("npm", "test"), "eslint . mocha", None),
        (("npm", "test", "-w", "web"), "jest", None),
        (("make", "test"), "jest", None),
    ],
)
def test_npm_test_is_read_through_where_its_script_is_one_plain_call_of_a_runner(
    argv: tuple[str, ...], script: str, real: tuple[str, ...] | None
) -> None:
    assert real_argv(argv, package(script)) == (real or argv)
    assert real_argv(argv, package(script, pretest="tsc")) == argv


@pytest.mark.parametrize("text", ["", "[]", "{", '{"scripts": []}', '{"scripts": {"test": 3}}'])
def test_a_package_without_a_script_is_called_as_it_is(text: str) -> None:
    assert real_argv(("npm", "test"), text) == ("npm", "test")


@pytest.mark.parametrize(
    ("argv", "call"),
    [
        (("python", "-m", "unittest"), Call(("python", "-m", "unittest", "-v"))),
        (("python", "-m", "unittest", "-q"), Call(("python", "-m", "unittest", "-q"))),
        (("python", "manage.py", "test"), Call(("python", "manage.py", "test", "-v", "2"))),
        (("uv", "run", "--extra", "dev", "pytest"), Call(("uv", "run", "--extra", "dev", "pytest", REPORT))),
        (("go", "test", "./..."), Call(("go", "test", "-v", "./..."))),
        (("go", "test", "-json", "./..."), Call(("go", "test", "-json", "./..."))),
        (("npx", "jest", "src"), Call(("npx", "jest", "--json", "--outputFile=r.xml", "src"))),
        (
            ("vitest", "run"),
            Call(
                ("vitest", "run", "--reporter=default", "--reporter=junit", "--outputFile.junit=r.xml"),
            ),
        ),
        (("vitest", "run", "--reporter=dot"), Call(("vitest", "run", "--reporter=dot"))),
        (("mocha", "-R", "dot"), Call(("mocha", "-R", "dot"))),
        (
            ("/bin/sh", "-c", "cmake -B b && cmake --build b && ctest --test-dir b"),
            Call(
                ("/bin/sh", "-c", "cmake -B b && cmake --build b && ctest --output-junit r.xml --test-dir b")
            ),
        ),
        (("mvn", "-B", "verify"), Call(("mvn", "-B", "verify"), {}, SUREFIRE)),
        (("mvn", "compile"), Call(("mvn", "compile"))),
        (("./gradlew", "check"), Call(("./gradlew", "check"), {}, GRADLE)),
        (("cargo", "test"), Call(("cargo", "test"))),
        (("/bin/sh", "-c", "pytest | tee log"), Call(("/bin/sh", "-c", "pytest | tee log"))),
        (("/bin/sh", "-c", "(cd a && pytest)"), Call(("/bin/sh", "-c", "(cd a && pytest)"))),
        (("/bin/sh", "-c", "echo 'a && pytest'"), Call(("/bin/sh", "-c", "echo 'a && pytest'"))),
        (("make", "test"), Call(("make", "test"))),
    ],
)
def test_a_runner_is_asked_to_name_its_tests_unless_the_user_has_chosen_otherwise(
    argv: tuple[str, ...], call: Call
) -> None:
    assert reporting(argv, "r.xml") == call


@pytest.mark.parametrize(
    ("runner", "sibling", "made"),
    [
        ("pytest", "tests/test_a.py", "tests/test_z10.py"),
        ("pytest", "a_test.py", "z10_test.py"),
        ("unittest", "tests/testing_a.py", "tests/test_z10.py"),
        ("node", "test/a.test.mjs", "test/z10.test.mjs"),
        ("node", "test/test-a.js", "test/test-z10.js"),
        ("node", "test.js", "z10.test.js"),
        ("node", "test/a.js", "test/z10.js"),
        ("vitest", "src/a.spec.ts", "src/z10.spec.ts"),
        ("jest", "__tests__/a.js", "__tests__/z10.js"),
        ("go", "pkg/a_test.go", "pkg/z10_test.go"),
        ("cargo", "tests/a.rs", "tests/z10.rs"),
        ("django", "shop/tests.py", "shop/test_z10.py"),
        ("mocha", "test/a.js", "test/z10.js"),
        ("mocha", "test/a.spec.ts", "test/z10.spec.ts"),
        ("ava", "test/a.mjs", "test/z10.mjs"),
        ("maven", "src/test/java/x/ATest.java", "src/test/java/x/Tz10Test.java"),
        ("gradle", "app/src/test/java/x/ATest.java", "app/src/test/java/x/Tz10Test.java"),
    ],
)
def test_a_canary_is_named_as_its_sibling_so_that_it_is_collected_too(
    runner: Runner, sibling: str, made: str
) -> None:
    found = canaries(runner, [sibling, "src/product.py"], lambda _: "package a\n", CANARY)
    assert list(found) == [made]
    assert is_test_file(runner, made)
    content = found[made].decode()
    assert (content.count("z10_0a"), content.count("z10_0b")) == (1, 1)


@pytest.mark.parametrize(
    ("runner", "sibling"),
    [
        ("ctest", "tests/a.c"),
        ("meson", "tests/a.c"),
        ("tap", "test/a.js"),
        ("gradle", "src/test/kotlin/A.kt"),
    ],
)
def test_a_runner_whose_tests_are_listed_in_a_build_file_has_no_canary(runner: Runner, sibling: str) -> None:
    assert canaries(runner, [sibling], lambda _: "", CANARY) == {}


def test_every_folder_with_tests_has_its_pair_and_those_of_the_phase_come_first() -> None:
    paths = [f"t{number:02}/test_a.py" for number in range(20)]
    found = canaries("pytest", paths, lambda _: "", CANARY, ["t19/test_a.py"])
    assert len(found) == 12
    assert list(found)[:2] == ["t19/test_z10.py", "t00/test_z11.py"]


AS_THEY_MUST = CanaryResult("right", "1 failed and 1 passed, as they must")
LIES = CanaryResult("wrong", "the test run reports a failing test as passed")


@pytest.mark.parametrize(
    ("exit_code", "counts", "said"),
    [
        (1, Counts(2, 1, 0, ("t::z10_0b",), ("t::z10_0a",)), AS_THEY_MUST),
        (1, Counts(2, 1, 0), AS_THEY_MUST),
        (0, Counts(2, 0, 0), LIES),
        (1, Counts(3, 1, 0, ("t::other",), ("t::z10_0a", "t::z10_0b")), LIES),
        (
            1,
            Counts(2, 2, 0, ("t::z10_0a", "t::z10_0b")),
            CanaryResult("wrong", "the test run reports a passing test as failed"),
        ),
        (0, Counts(2, 1, 0), CanaryResult("wrong", "the test run ends with exit 0 though a test fails")),
        (5, Counts(0, 0, 0), CanaryResult("absent", "2 of 2 canaries did not run")),
        (0, None, CanaryResult("absent", "the run of the canaries came to no summary")),
        (None, Counts(2, 1, 0), CanaryResult("absent", "the run of the canaries came to no summary")),
    ],
)
def test_a_canary_that_is_reported_wrongly_voids_the_run(
    exit_code: int | None, counts: Counts | None, said: CanaryResult
) -> None:
    assert canary_state(CANARY, 1, exit_code, counts) == said
