"""What a failed command printed leads to a cause and to one command that helps."""

from __future__ import annotations

import re

import pytest

from asbuilt.proof.failure import _REMEDIES, Failure, What, explained, failure_from
from asbuilt.settings.registry import SETTINGS

SET_TESTS = 'asbuilt config set checks.tests "<command>"'
SET_UP = 'asbuilt config set checks.setup "<command>"'
OFFLINE = "Checks run without a network; what they download belongs into the setup."


@pytest.mark.parametrize(
    ("what", "code", "output", "cause", "following"),
    [
        ("setup", 1, "ENOSPC: no space left", "The disk is full.", "asbuilt clean"),
        (
            "baseline", 127, "sh: 1: exec: mvn: not found",
            "The sandbox has no program mvn that can be started.", "asbuilt doctor --tests",
        ),
        ("setup", 127, "env: 'node': No such file or directory",
            "The sandbox has no program node that can be started.", "asbuilt doctor --tests",
        ),
        ("setup", 127, "sh: 1: jest: not found",
            "The sandbox has no program jest that can be started.", SET_UP,
        ),
        ("baseline", 1, "sh: 1: mvn: not found", "", SET_TESTS),
        (
            "tests", 1, "  File \"<frozen os>\", line 685, in __getitem__\nKeyError: 'DATABASE_URL'",
            "The environment variable DATABASE_URL is not set in the sandbox.",
            "asbuilt config set checks.env +DATABASE_URL",
        ),
        ("tests", 1, "    return prices[key]\nKeyError: 'EUR_USD'", "", ""),
        (
            "setup", 1, "Error: required environment variable 'NPM_TOKEN_FILE' is missing",
            "The environment variable NPM_TOKEN_FILE is not set in the sandbox.",
            "asbuilt config set setup.env +NPM_TOKEN_FILE",
        ),
        (
            "setup", 1,
            ("[ERROR] Non-resolvable parent POM for org.a:b:1: Could not transfer artifact"
            " org.apache:apache:pom:33 from/to central: Temporary failure in name resolution"),
            "The registry could not supply org.apache:apache:pom:33.", SET_UP,
        ),
        (
            "check", 1, "ERROR: No matching distribution found for hatchling>=1.26",
            f"The command downloads hatchling>=1.26. {OFFLINE}", SET_UP,
        ),
        ("check", 6, "curl: (6) Could not resolve host: example.com", OFFLINE, SET_UP),
        (
            "setup", 6, "curl: (6) Could not resolve host: example.com",
            "A host on the network could not be reached.", "asbuilt doctor",
        ),
        (
            "tests", 1, "Error: connect ECONNREFUSED 127.0.0.1:5432",
            "No program answers on port 5432 in the sandbox, which is the one of postgres.",
            "asbuilt config set checks.services postgres",
        ),
        (
            "tests", 1, "Error 111 connecting to localhost:6379. Connection refused.",
            "No program answers on port 6379 in the sandbox, which is the one of redis.",
            "asbuilt config set checks.services redis",
        ),
        (
            "baseline", 125, "asbuilt: the service redis did not start: it ended\nout of memory",
            "The service redis of checks.services did not start in the check environment.",
            "asbuilt config show checks.services --origin",
        ),
        (
            "setup", 1, "npm error code E401\nnpm error Unable to authenticate",
            "A registry asks for a login, and the setup has none.",
            'asbuilt config set setup.credentials "npm, pip, netrc, cargo"',
        ),
        (
            "tests", 1, "Error: connect ECONNREFUSED 127.0.0.1:1025",
            ("No program answers at 127.0.0.1:1025 in the sandbox: a service that the command needs does not"
            " run there."),
            SET_TESTS,
        ),
        (
            "baseline", 1, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
            ("The command needs Docker, which the sandbox does not have; checks.services starts programs"
            " instead."),
            SET_TESTS,
        ),
        (
            "baseline", 2, "m: line 81: aclocal-1.16: command not found\nmake: *** [a.m4] Error 127",
            "The sandbox has no program aclocal-1.16 that can be started.", SET_TESTS,
        ),
        (
            "setup", 1, "sh: 1: node-gyp: not found\nnpm error code 127",
            "The sandbox has no program node-gyp that can be started.", SET_UP,
        ),
        (
            "baseline", 2, "make: gcc-9: No such file or directory\nmake: *** [Makefile:2: test] Error 127",
            "The sandbox has no program gcc-9 that can be started.", SET_TESTS,
        ),
        (
            "baseline", 2, "ModuleNotFoundError: No module named 'yaml'",
            "yaml is not installed in the check environment.", SET_UP,
        ),
        ("check", 1, "ModuleNotFoundError: No module named 'shop.cart'", "", ""),
        ("tests", 1, "FAILED tests/test_a.py::test_b - assert 1 == 2", "", ""),
        ("sandbox", None, "bwrap: Can't chdir to /srv: Permission denied", "", "asbuilt doctor"),
    ],
)  # fmt: skip
def test_the_last_lines_lead_to_what_helps(
    what: What, code: int | None, output: str, cause: str, following: str
) -> None:
    found = explained(Failure(what, "x", exit_code=code), output.encode())

    assert (found.cause, found.next_command) == (cause, following)
    assert failure_from(found.plain) == found


@pytest.mark.parametrize(("module", "following"), [("unitest", SET_TESTS), ("pytest", SET_UP)])
def test_a_slip_in_the_test_command_leads_to_the_command_and_a_missing_runner_to_the_setup(
    module: str, following: str
) -> None:
    output = f"/usr/bin/python3: No module named {module}\n".encode()
    found = explained(Failure("baseline", f"python3 -m {module}", exit_code=1), output)
    assert found.next_command == following


def test_every_setting_that_is_advised_can_be_set() -> None:
    advised = {name for row in _REMEDIES for name in re.findall(r"config set ([a-z.]+)", row.next)}

    assert advised | {"checks.minutes"} <= SETTINGS.keys()


@pytest.mark.parametrize(
    ("failure", "how"),
    [
        (Failure("check", exit_code=2, duration_s=0.2), "exit 2"),
        (Failure("check", exit_code=2, duration_s=95), "exit 2, after 1m"),
        (Failure("check", exit_code=139), "killed by SIGSEGV"),
        (Failure("check", exit_code=255), "exit 255"),
        (Failure("check", timed_out=True, duration_s=2_700), "ended after 45m, its time limit"),
        (Failure("setup"), ""),
    ],
)
def test_an_ending_is_worded(failure: Failure, how: str) -> None:
    assert explained(failure, b"").how == how


def test_tests_that_pass_uncounted_are_told_how_their_exit_code_counts() -> None:
    ran = Failure("baseline", "npm test", exit_code=0)
    told = explained(ran, b"total 12/12\nok\n", tests="uncounted")
    assert (told.cause, told.next_command) == (
        "The command passes, but its output does not show which tests ran.",
        "asbuilt config set checks.counts exit-code",
    )
    assert explained(ran, b"12 passed\n").next_command == SET_TESTS
