"""The words of `/run-plan`, typed: each is one command, which is said and done."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.cli.shell.app import COMMANDS
from asbuilt.lifecycle.run_plan_syntax import Unclear, parse
from tests.cli.plans import RATE_LIMIT, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def typed(shop: Path, asbuilt: Callable[..., str]) -> Callable[[str], str]:
    """Give a function that types words in a repository with plans of awkward names."""
    put(shop, rate_limit=RATE_LIMIT)
    (shop / "plans" / "stop auto.md").write_text(RATE_LIMIT, encoding="utf-8")
    (shop / "empty").write_text("", encoding="utf-8")

    def typed(words: str) -> str:
        return asbuilt("run-plan", *shlex.split(words), ASBUILT_AGENTS_IMPLEMENT="scripted")

    return typed


def test_words_are_one_command_which_is_said_before_it_is_done(typed: Callable[[str], str]) -> None:
    assert typed("plans/rate-limit.md STATUS") == snapshot("""\
exit 0
--- stdout
rate-limit   not run, 1 of 4 phases done (25%), next 2a
! 1   Token bucket               done by its mark
○ 2a  Redis store                ready
○ 2b  Limits per API key         ready
○ 3   Middleware and 429         needs 2a, 2b
asbuilt has not run it yet.
--- stderr
= asbuilt status plans/rate-limit.md
Next: asbuilt run rate-limit
""")
    assert typed("next") == snapshot("""\
exit 0
--- stdout
Nothing is scheduled.
Nothing has run here.
--- stderr
= asbuilt status
Next: asbuilt plan list
""")


def test_every_line_of_the_source_leads_to_a_command() -> None:
    lines = (
        "plans/rate-limit.md", "plans/rate-limit.md 2a", "plans/rate-limit.md finish",
        "plans/rate-limit.md auto finish", "plans/rate-limit.md direct", "plans/rate-limit.md status",
        "stop", "plans/rate-limit.md stop", "plans/stop auto.md auto", "plans/stop auto.md stop",
        "plans/rate-limit.md finish auto pr",
        "plans/rate-limit.md auto every 4h", "plans/rate-limit.md auto every 4h now", "now",
        "plans/rate-limit.md now", "plans/rate-limit.md next", "every day at 9am plans/rate-limit.md direct",
    )  # fmt: skip
    plans = {"plans/rate-limit.md", "plans/stop auto.md"}
    understood = [parse(line, plans.__contains__) for line in lines]
    said = [argv for argv in understood if not isinstance(argv, Unclear)]
    assert [shlex.join(argv) for argv in said] == snapshot(
        [
            "run plans/rate-limit.md",
            "run plans/rate-limit.md 2a",
            "run plans/rate-limit.md --finish",
            "run plans/rate-limit.md --finish --auto",
            "run plans/rate-limit.md --direct",
            "status plans/rate-limit.md",
            "stop --all --schedule",
            "stop plans/rate-limit.md --schedule",
            "run 'plans/stop auto.md' --auto",
            "stop 'plans/stop auto.md' --schedule",
            "run plans/rate-limit.md --finish --auto --pr",
            "run plans/rate-limit.md --auto --every 4h",
            "run plans/rate-limit.md --auto --every 4h --now",
            "run",
            "run plans/rate-limit.md",
            "status plans/rate-limit.md",
            "run plans/rate-limit.md --auto --every 'day at 9am' --direct",
        ]
    )
    assert {name for name, *_ in said} <= COMMANDS.keys()


def test_a_plan_whose_path_is_a_word_is_run_and_not_obeyed(typed: Callable[[str], str]) -> None:
    assert typed("'plans/stop auto.md' status") == snapshot("""\
exit 2
--- stderr
= asbuilt status 'plans/stop auto.md'
error: "stop auto.md" cannot name a plan
  Why:  A plan's name is typed in commands: letters a-z, digits and hyphens, no
        hyphen in front.
  Next: mv 'plans/stop auto.md' plans/stop-auto.md
""")
    assert (
        typed("'plans/stop auto.md finish'").splitlines()[2] == "= asbuilt run 'plans/stop auto.md' --finish"
    )


def test_what_every_command_takes_is_handed_on(shop: Path, asbuilt: Callable[..., str]) -> None:
    said = asbuilt("run-plan", "next", "--json", "-q", "--repo", str(shop), cwd=shop.parent)
    assert said == snapshot("""\
exit 0
--- stdout
{"schema":"asbuilt.status/1","plans":[]}
""")


def test_what_is_not_understood_starts_nothing_and_says_what_was(typed: Callable[[str], str]) -> None:
    assert typed("plans/rate-limit.md finsh auto") == snapshot("""\
exit 2
--- stderr
error: not understood: "finsh" means nothing here
  Why:  asbuilt does not guess. Understood: plan plans/rate-limit.md, auto.
  Next: asbuilt run-plan -h
        # lists the accepted words
""")
    assert typed("plans/rate-limit.md finish every 4h") == snapshot("""\
exit 2
--- stderr
error: not understood: finish and every cannot be combined
  Why:  finish runs all phases that are left at once; every runs the next one
        each time. Understood: plan plans/rate-limit.md, finish, every 4h.
  Next: asbuilt run-plan -h
        # lists the accepted words
""")
