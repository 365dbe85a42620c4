"""An agent's word beside what asbuilt ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.cli.commands.demo.command import Caught, block, caught
from asbuilt.cli.live.finished import Source
from asbuilt.cli.ui import columns
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.cli.ui.symbols import ASCII, UNICODE
from asbuilt.proof.evidence import Evidence
from tests.support.happened import happened

if TYPE_CHECKING:
    from asbuilt.events.event import Entry

CHECK = Evidence(
    name="tests",
    argv=("python3", "-m", "unittest"),
    exit_code=0,
    outcome="FAIL",
    why="3 tests are skipped",
    ran=233,
    skipped=3,
    failed=0,
    output="sha256:0",
    duration_s=1.0,
    tree="0" * 40,
)
SHELL = CHECK._replace(name="x | y", argv=("/bin/sh", "-c", "x | y"), exit_code=1, why="exit 1")
LIE = Caught("3", 1, "all tests pass", ((Source.CHECK, "uv run pytest -q on a clean checkout: exit 1"),))


def _told(*rows: tuple[str, dict[str, Any]]) -> list[Entry]:
    return happened((kind, {"phase": "3", "number": 1, **data}) for kind, data in rows)


def _caught(*rows: tuple[str, dict[str, Any]]) -> list[Caught]:
    return caught(_told(*rows), lambda _: [CHECK._replace(outcome="PASS"), CHECK, SHELL])


def _pen(width: int, *, styled: bool = False, ascii_only: bool = False) -> Pen:
    symbols = ASCII if ascii_only else UNICODE
    return Pen(stream=None, styled=styled, symbols=symbols, utf8=not ascii_only, width=width)


def test_a_check_that_fails_after_done_was_said_is_caught_with_what_was_run() -> None:
    found = _caught(
        ("attempt.ended", {"ending": "done", "says": "All tests pass."}),
        ("checks.done", {"outcome": "FAIL", "evidence": "sha256:1"}),
    )
    assert found == snapshot(
        [
            Caught(
                phase="3",
                number=1,
                says="All tests pass.",
                against=(
                    (
                        Source.CHECK,
                        "python3 -m unittest on a clean checkout: exit 0, but 3 tests are skipped",
                    ),
                    (Source.CHECK, "x | y on a clean checkout: exit 1"),
                ),
            )
        ]
    )


def test_a_suite_that_was_made_to_pass_is_caught_by_what_was_changed() -> None:
    told = _told(
        ("attempt.ended", {"ending": "done", "says": "Done."}),
        (
            "checks.done",
            {"outcome": "FAIL", "evidence": "sha256:1", "failures": ["a.py:3, test_a: test removed"]},
        ),
    )
    (found,) = caught(told, lambda _: [])
    assert found == Caught("3", 1, "Done.", ((Source.CHANGE, "a.py:3, test_a: test removed"),))
    assert "rejected by asbuilt" in " ".join(block(_pen(80), found, agent="claude", title="Import"))


def test_a_verifier_that_disagrees_is_caught_with_its_reasons() -> None:
    found = _caught(
        ("attempt.ended", {"ending": "done", "says": "Done."}),
        ("checks.done", {"outcome": "PASS", "evidence": "sha256:1"}),
        ("verdict.given", {"outcome": "FAIL", "failures": [{"item": 2, "text": "x: FAIL, y"}]}),
    )
    assert found == [Caught("3", 1, "Done.", ((Source.VERIFIER, "item 2, x: FAIL, y"),))]


def test_what_asbuilt_rejects_of_a_verdict_is_not_said_by_the_verifier() -> None:
    missing = {"item": 2, "text": "x: FAIL, it cites a.py:9, and the file has 3 lines", "is_rejected": True}
    (found,) = _caught(
        ("attempt.ended", {"ending": "done", "says": "Done."}),
        ("verdict.given", {"outcome": "FAIL", "failures": [{"text": "y", "is_fault": True}, missing]}),
    )
    assert found.against == ((Source.ASBUILT, f"the verdict: y; item 2, {missing['text']}"),)
    shown = " ".join(block(_pen(80), found, agent="claude", title="Import"))
    assert "its verdict does not hold" in shown


def test_what_nobody_called_done_is_no_lie() -> None:
    failed = ("checks.done", {"outcome": "FAIL", "evidence": "sha256:1"})
    assert _caught(("attempt.ended", {"ending": "crashed", "says": "Done."}), failed) == []
    assert _caught(("attempt.ended", {"ending": "done", "says": ""}), failed) == []


def test_both_sides_stand_next_to_each_other() -> None:
    assert "\n".join(block(_pen(80), LIE, agent="claude", title="Middleware and 429")) == snapshot("""\
✗ 3   Middleware and 429   NOT PROVEN: the agent says done, a check disagrees
      claude says   "all tests pass"
      asbuilt ran   uv run pytest -q on a clean checkout: exit 1
      so            sent back to the agent (attempt 2)\
""")


def test_it_fits_forty_columns_without_utf8() -> None:
    assert "\n".join(
        block(_pen(40, ascii_only=True), LIE, agent="claude", title="Middleware and 429")
    ) == snapshot("""\
x 3   Middleware and 429   NOT PROVEN:
      the agent says done, a check
      disagrees
      claude says   "all tests pass"
      asbuilt ran   uv run pytest -q on
                    a clean checkout:
                    exit 1
      so            sent back to the
                    agent (attempt 2)\
""")


def test_only_the_failure_is_red_and_nothing_an_agent_says_is_coloured() -> None:
    rows = block(_pen(80, styled=True), LIE, agent="claude", title="Middleware and 429")
    assert rows[0].startswith("\x1b[31m✗\x1b[0m 3   Middleware and 429   \x1b[1mNOT PROVEN:\x1b[0m")
    assert "\x1b" not in "".join(rows[1:])


@given(st.text(), st.text(), st.text(), st.sampled_from([40, 60, 80]))
def test_no_text_of_others_steers_the_terminal_or_breaks_the_width(
    says: str, why: str, title: str, width: int
) -> None:
    rows = block(_pen(width), Caught("2a", 1, says, ((Source.CHECK, why),)), agent="claude", title=title)
    assert [row for row in rows if columns.width(row) > width or printable(row) != row] == []
