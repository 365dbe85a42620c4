"""A wrong option names the help of its own command, and a rehearsed schedule needs no agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.plans import RATE_LIMIT, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("option", ["--every", "--agent"])
def test_an_option_without_its_argument_names_the_help_of_its_command(
    asbuilt: Callable[..., str], option: str
) -> None:
    shown = " ".join(asbuilt("run", "rate-limit", option).split())
    assert f"error: asbuilt run {option} needs a value Next: asbuilt run -h" in shown


def test_an_option_of_few_values_without_its_value_is_typed_with_each(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("doctor", "--fix") == (
        "exit 2\n--- stderr\nerror: asbuilt doctor --fix needs sandbox or engine\n"
        "  Next: asbuilt doctor --fix sandbox\n    or  asbuilt doctor --fix engine\n"
    )


def test_only_a_close_name_is_suggested(asbuilt: Callable[..., str]) -> None:
    assert "Did you mean" not in asbuilt("run", "rate-limit", "--bogus")
    assert "Did you mean --finish?" in asbuilt("run", "rate-limit", "--finsh")
    assert "Did you mean status?" in asbuilt("statsu")


def test_a_rehearsed_schedule_shows_its_times_without_an_agent(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    shown = asbuilt("run", "rate-limit", "--every", "4h", "--dry-run")
    assert shown.startswith("exit 0")
    assert "Agents   none installed; asbuilt doctor agents lists them" in shown
    assert "one phase, every 4 hours" in shown


def test_a_command_whose_letters_are_swapped_is_recognised(asbuilt: Callable[..., str]) -> None:
    assert "Next: asbuilt run rate-limit\n" in asbuilt("rnu", "rate-limit")


@pytest.mark.parametrize("command", [("stop",), ("stop", "--pause"), ("land", "--undo"), ("undo",)])
def test_a_command_that_ends_what_never_ran_does_not_start_it(
    asbuilt: Callable[..., str], shop: Path, command: tuple[str, ...]
) -> None:
    assert 'error: no plan "rate-limit"\n' in asbuilt(*command, "rate-limit")
    put(shop, rate_limit=RATE_LIMIT)
    shown = asbuilt(*command, "rate-limit")
    assert "error: rate-limit has not been run here\n" in shown
    assert "Next: asbuilt status rate-limit\n" in shown
    assert "or  start it: asbuilt run rate-limit\n" in shown
