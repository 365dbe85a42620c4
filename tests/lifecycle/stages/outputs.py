"""Outputs of every stage that are accepted, taken from the case files, and ones that are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, assert_never

from msgspec.structs import replace

from asbuilt.lifecycle.authoring.stage_machine import (
    Accept,
    GiveUp,
    Iterate,
    Refuse,
    Surroundings,
    judged,
)
from asbuilt.lifecycle.authoring.stages import Stage
from tests.lifecycle.stages.cases import FILES, load_all

if TYPE_CHECKING:
    from asbuilt.lifecycle.authoring.session_state import Session
    from asbuilt.lifecycle.authoring.stage_machine import Verdict

AROUND: Final = Surroundings(files=FILES)
_CASES: Final = {case.name: case for case in load_all()}
PLAN: Final = _CASES["draft-phases"].output
PROMISE: Final = "<promise>PLAN_OK</promise>"
UNDERSTOOD: Final = _CASES["understand-plain"].output
EXPLORED: Final = _CASES["explore-plain"].output
WEIGHED: Final = _CASES["alternatives-plain"].output
CRITICISED: Final = _CASES["critique-open"].output


def critique(*, finds: bool = True) -> str:
    """Write a critique of the plan, with evidence in it."""
    found = {
        "kind": "missing",
        "level": "material",
        "at": {"line": _line("answers 429")},
        "text": "Nothing says what a key without a limit gets.",
        "evidence": [{"line": _line("answers 429")}],
    }
    failed = {"principle": "P4", "verdict": "FAIL", "findings": [found]}
    verdicts = [_passed("P6", "tests/test_limits.py`\n"), _passed("P8", "Limits on /admin")]
    return json.dumps({"verdicts": [*verdicts, failed if finds else _passed("P4", "Redis down")]})


def _passed(principle: str, words: str) -> dict[str, object]:
    return {"principle": principle, "verdict": "PASS", "evidence": [{"line": _line(words)}]}


def _line(words: str) -> int:
    return PLAN[: PLAN.index(words)].count("\n") + 1


def revised(number: int) -> str:
    """Write the plan as it is after so many revisions."""
    return PLAN.replace("Redis down: refuse with 503", f"Redis down: refuse with 503 {number} times")


def good(session: Session) -> str:
    """Write what the stage that is due accepts."""
    match session.stage:
        case Stage.UNDERSTAND:
            return UNDERSTOOD
        case Stage.EXPLORE:
            return EXPLORED
        case Stage.ALTERNATIVES:
            return WEIGHED
        case Stage.CRITIQUE:
            return critique() if session.options.critique_mode == "principles" else CRITICISED
        case Stage.DRAFT:
            return PLAN
        case Stage.REVISE | Stage.ITERATE:
            plan = revised(session.index)
            return f"{plan}\n{PROMISE}\n" if session.is_final else plan


def submitted(session: Session, output: str) -> tuple[Session, Verdict]:
    """Judge an output, and give the session after it."""
    verdict = judged(session, output, AROUND)
    match verdict:
        case Accept(record) | Iterate(record):
            return session.after(record), verdict
        case Refuse(_, flaws) | GiveUp(_, flaws):
            return replace(session, refused=(*session.refused, flaws)), verdict
        case _:
            assert_never(verdict)
