"""Every program that is on a list answers for whatever it is given."""

from __future__ import annotations

import pytest

from asbuilt.policy.shell import programs
from tests.policy.programs.asking import refused

NAMES = sorted(programs.NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_answers_whatever_it_is_given(name: str) -> None:
    for words in (
        "",
        " x",
        " -",
        " --",
        " -x",
        " --no-such-option",
        " *",
        " x y z",
        " '' ''",
        " -e",
        " -c --help",
    ):
        answer = refused(name + words)
        assert answer is None or answer.endswith((".", "…")) or "Allowed: " in answer


@pytest.mark.parametrize("name", NAMES)
def test_no_program_takes_an_option_that_is_not_on_its_list(name: str) -> None:
    if name in ("echo", "[", "[[", "test", ":", "true", "false", "expr", "find"):
        return
    assert refused(f"{name} --no-such-option x") is not None


@pytest.mark.parametrize("name", ["command", "time", "nice", "timeout 1"])
def test_programs_that_start_others_do_not_start_each_other(name: str) -> None:
    assert refused(f"{name} " * 400 + "ls") is not None
    assert refused(f"{name} ls") is None
