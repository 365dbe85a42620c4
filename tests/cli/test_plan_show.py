"""`plan show` is a true picture for people, a contract for machines, and a phase's exact bytes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import (
    CHECKLIST,
    NARRATIVE,
    PROGRESS,
    RATE_LIMIT,
    SECTIONS,
    on_terminal,
    put,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_progress_document_is_read_and_named(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, importer=SECTIONS, PROGRESS=PROGRESS.replace("| 2 | |", "| 2 | In progress |"))
    assert asbuilt("plan", "show", "importer") == snapshot("""\
exit 0
--- stdout
Importer rewrite   plans/importer.md
  ✓ 1  CSV reader   done 9f8e7d6
  ● 2  XLSX reader  in progress   1 check  next
1 of 2 phases marked done (50%). Next 2. Progress also in plans/PROGRESS.md. 16
lines. No problems.
""")


@pytest.mark.parametrize("how", ["--plain", "TERM", "quiet"])
def test_without_unicode_the_picture_is_ascii(asbuilt: Callable[..., str], shop: Path, how: str) -> None:
    put(shop, rate_limit=RATE_LIMIT.replace("- `uv run pytest tests/limits/test_keys.py -q`", "Look."))
    match how:
        case "--plain":
            shown = asbuilt("plan", "show", "rate", "--plain")
        case "TERM":
            shown = asbuilt("plan", "show", "rate", TERM="dumb")
        case _:
            shown = asbuilt("-q", "plan", "--plain", "show", "rate")
    assert shown.partition("--- stderr")[0] == snapshot("""\
exit 0
--- stdout
Rate limiting for the public API   plans/rate-limit.md   approved
  wave 1               wave 2                      wave 3
  + 1 Token bucket -+- * 2a Redis store --------+- . 3 Middleware and 429
                    +- . 2b Limits per API key -+
1 of 4 phases marked done (25%), 2 of 9 items. Next 2a. 106 lines.
x line 73: phase 2b has no check that can be run
1 error.
""")
    assert ("--- stderr" in shown) == (how != "quiet")


def test_on_a_terminal_only_the_title_and_the_next_command_are_styled(
    shop: Path, environ: dict[str, str]
) -> None:
    put(shop, rate_limit=RATE_LIMIT.replace("- `uv run pytest tests/limits/test_keys.py -q`", "Look."))
    assert on_terminal(shop, environ, "plan", "show", "rate") == snapshot(
        (
            0,
            """\
\x1b[1mRate limiting for the public API\x1b[0m   plans/rate-limit.md   approved
  wave 1               wave 2                      wave 3
  ✓ 1 Token bucket ─┬─ ● 2a Redis store ────────┬─ ○ 3 Middleware and 429
                    └─ ○ 2b Limits per API key ─┘
1 of 4 phases marked done (25%), 2 of 9 items. Next 2a. 106 lines.
✗ line 73: phase 2b has no check that can be run
1 error.
Next: \x1b[1masbuilt plan check rate-limit\x1b[0m
""",
        )
    )
    _, plain = on_terminal(shop, environ, "plan", "show", "rate", NO_COLOR="1")
    assert "\x1b" not in plain


def test_a_hostile_plan_never_steers_the_terminal(shop: Path, environ: dict[str, str]) -> None:
    evil = "\x1b[31mred\x1b]0;owned\x07\x9b2J\u202e"
    put(
        shop,
        evil=f"# {evil}\n\n## Phase 1: {evil}\n\n- [ ] {evil}\n\n### Verification\n\n- `make {evil}`\n",
    )
    for more in ([], ["--phase", "1"], ["--json"]):
        _, received = on_terminal(shop, environ, "plan", "show", "evil", *more, NO_COLOR="1")
        assert [char for char in "\x1b\x07\x9b\u202e" if char in received] == []


def test_the_contract_has_these_keys_in_this_order(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    shown = asbuilt("plan", "show", "plans/rate-limit.md", "--json").removeprefix("exit 0\n--- stdout\n")
    assert shown.count("\n") == 1
    told: dict[str, Any] = json.loads(re.sub(r"sha256:[0-9a-f]{64}", "sha256:[64]", shown))
    assert list(told) == snapshot(
        [
            "schema",
            "path",
            "slug",
            "title",
            "format",
            "status",
            "issues",
            "digest",
            "intent",
            "phases",
            "waves",
            "next",
            "progress",
            "items",
            "current",
            "checks",
            "companion",
            "sections",
            "size",
            "problems",
        ]
    )
    phases, problems = told.pop("phases"), told.pop("problems")
    assert list(phases[1]) == snapshot(
        [
            "id",
            "title",
            "status",
            "commit",
            "depends_on",
            "depends_on_stated",
            "touches_ui",
            "execution",
            "delegate",
            "work_items",
            "criteria",
            "checks",
            "lines",
            "intent",
        ]
    )
    assert phases[1] == snapshot(
        {
            "id": "2a",
            "title": "Redis store",
            "status": "in_progress",
            "commit": None,
            "depends_on": ["1"],
            "depends_on_stated": True,
            "touches_ui": False,
            "execution": "worktree",
            "delegate": None,
            "work_items": [
                {"text": "Store a bucket under its key", "done": False, "line": 50},
                {"text": "Refill in one round trip", "done": False, "line": 51},
                {"text": "Let keys expire", "done": False, "line": 52},
            ],
            "criteria": [
                {
                    "text": "At most 5 ms added per request",
                    "done": False,
                    "line": 56,
                    "claim": {"form": "at_most", "low": None, "high": 5, "derived": None, "drift_pct": None},
                }
            ],
            "checks": ["uv run pytest tests/limits/test_store.py -q"],
            "lines": [46, 65],
            "intent": "sha256:[64]",
        }
    )
    assert told == snapshot(
        {
            "schema": "asbuilt.plan/1",
            "path": "plans/rate-limit.md",
            "slug": "rate-limit",
            "title": "Rate limiting for the public API",
            "format": "tracker",
            "status": "approved",
            "issues": [42],
            "digest": "sha256:[64]",
            "intent": "sha256:[64]",
            "waves": [["1"], ["2a", "2b"], ["3"]],
            "next": "2a",
            "progress": {"done": 1, "total": 4},
            "items": {"done": 2, "total": 9},
            "current": "Store a bucket under its key",
            "checks": ["uv run pytest -q"],
            "companion": None,
            "sections": ["Goal", "Scope", "Non-Scope", "Verification", "Risks", "Open Questions"],
            "size": {"lines": 106, "chars": 1416},
        }
    )
    assert [list(problem) for problem in problems] == snapshot(
        [["line", "severity", "rule", "message", "advice"]]
    )


def test_one_phase_for_people_and_for_machines(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    assert asbuilt("plan", "show", "rate-limit", "--phase", "2A") == snapshot("""\
exit 0
--- stdout
2a  Redis store   lines 46-65   in progress
After    1
Items    ○ Store a bucket under its key
         ○ Refill in one round trip
         ○ Let keys expire
Criteria ○ At most 5 ms added per request
Checks   uv run pytest tests/limits/test_store.py -q
""")
    assert asbuilt("plan", "show", "rate-limit", "--phase", "1") == snapshot("""\
exit 0
--- stdout
1  Token bucket   lines 31-45   done 4f1c9a2
After    nothing
Items    ✓ A bucket that refills
         ✓ A clock that tests can set
Checks   uv run pytest tests/limits -q
""")
    shown = asbuilt("plan", "show", "rate-limit", "--phase", "2a", "--json")
    assert json.loads(shown.removeprefix("exit 0\n--- stdout\n"))["id"] == "2a"


def test_a_phase_with_a_long_title_a_script_and_no_checks(asbuilt: Callable[..., str], shop: Path) -> None:
    put(
        shop,
        odd="# Odd\n\n## Phase 1: "
        + "words " * 20
        + "\n\n### Verification\n\n```sh\nfor x in 1 2; do\n  make $x\ndone\n```\n"
        "\n## Phase 2: Short\n\n- [ ] " + "thing " * 20 + "\n",
    )
    assert asbuilt("plan", "show", "odd", "--phase", "1") == snapshot("""\
exit 0
--- stdout
1 words words words words words words words words words words words words words
words words words words words words words
lines 3-12   pending
After    nothing
Checks   for x in 1 2; do
           make $x
         done
""")
    assert asbuilt("plan", "show", "odd", "--phase", "2") == snapshot("""\
exit 0
--- stdout
2  Short   lines 13-15   pending
After    1 (not stated: everything before it)
Items    ○ thing thing thing thing thing thing thing thing thing thing thing
           thing thing thing thing thing thing thing thing thing
Checks   none that can be run
""")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("rate-limit", "--phase", "2"),
            snapshot("""\
exit 3
--- stderr
error: the plan has no phase 2; it has 1, 2a, 2b, 3
  Why:  2a and 2b are run and proven apart.
  Next: asbuilt plan show rate-limit
"""),
        ),
        (
            ("rate-limit", "--phase", "9"),
            snapshot("""\
exit 3
--- stderr
error: the plan has no phase 9; it has 1, 2a, 2b, 3
  Why:  A phase is named by its number.
  Next: asbuilt plan show rate-limit
"""),
        ),
        (
            ("rate-limt",),
            snapshot("""\
exit 3
--- stderr
error: no plan "rate-limt". Did you mean rate-limit?
  Why:  Searched plans/, docs/plans/, specs/, openspec/changes/ and
        ~/.claude/plans/.
  Next: asbuilt plan show rate-limit
"""),
        ),
        (
            ("o",),
            snapshot("""\
exit 2
--- stderr
error: "o" is part of 2 plans: plans/chores.md, plans/story.md
  Why:  Several plans match.
  Next: asbuilt plan list
        # shows their names and paths
"""),
        ),
        (
            ("rate-limit", "--verbatim"),
            snapshot("""\
exit 2
--- stderr
error: --verbatim needs --phase
  Why:  It prints the bytes of one section; the whole plan is the file itself.
  Next: asbuilt plan show NAME --phase 1 --verbatim
"""),
        ),
        (
            (),
            snapshot("""\
exit 2
--- stderr
error: asbuilt plan show needs PLAN
  Why:  It has no default.
  Next: asbuilt plan show -h
        # shows examples and options
"""),
        ),
        (
            ("plans/My Plan.md",),
            snapshot("""\
exit 2
--- stderr
error: "My Plan.md" cannot name a plan
  Why:  A plan's name is typed in commands: letters a-z, digits and hyphens, no
        hyphen in front.
  Next: mv 'plans/My Plan.md' plans/my-plan.md
"""),
        ),
        (
            ("twice", "--phase", "1"),
            snapshot("""\
exit 1
--- stderr
error: phase 1 occurs 2 times, on lines 2 and 3
  Why:  The number is ambiguous.
  Next: asbuilt plan open twice
        # to give each phase a number of its own
"""),
        ),
    ],
)
def test_what_cannot_be_shown_is_told(
    asbuilt: Callable[..., str], shop: Path, arguments: tuple[str, ...], told: str
) -> None:
    put(
        shop,
        rate_limit=RATE_LIMIT,
        story=NARRATIVE,
        chores=CHECKLIST,
        twice="# T\n## Phase 1: a\n## Phase 1: b\n",
    )
    (shop / "plans" / "My Plan.md").write_text("# x\n")
    assert asbuilt("plan", "show", *arguments) == told


@pytest.mark.parametrize("name", ["./stray.md", "stray.md", "sub dir/stray.md"])
def test_the_next_command_can_be_typed_as_it_is_shown(
    asbuilt: Callable[..., str], shop: Path, name: str
) -> None:
    (shop / name).parent.mkdir(exist_ok=True)
    (shop / name).write_text("# Stray\n\n## Phase 1: x\n")
    said = asbuilt("plan", "show", name).rpartition("--- stderr\n")[2]
    assert (
        said
        == snapshot(
            {
                "./stray.md": "Next: asbuilt plan check stray.md\n",
                "stray.md": "Next: asbuilt plan check stray.md\n",
                "sub dir/stray.md": "Next: asbuilt plan check 'sub dir/stray.md'\n",
            }
        )[name]
    )
