"""What agents hand in for each stage about the repository of the desk, and what a critic finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tests.authoring.desk import BETTER, PLAN, say, turn

if TYPE_CHECKING:
    from collections.abc import Collection

UNDERSTOOD: Final = """\
1. The problem: `greet.py` does not exist, so nobody is greeted by their name.
2. Success: `greet.py Ann` prints a line with Ann in it and exits 0.
3. A constraint: only the standard library, since the repository has no dependency.
4. An assumption: one name a call is enough.
"""
EXPLORED: Final = """\
`mine.md` holds one heading and no code, so nothing there calls a greeting yet.
`plan.md` lists greetings of another plan, whose first phase wants the same file name.
"""
WEIGHED: Final = """\
### Option A: argparse
Pros: usage and exit codes come for free. Cons: ten lines more.

### Option B: read sys.argv by hand
Pros: three lines in all. Cons: every mistake is ours to word.

Recommendation: option A, since wrong calls must exit with 2 and a usage line.
"""
PROMISE: Final = "\n<promise>PLAN_OK</promise>\n"
FINAL: Final = BETTER + PROMISE
QUESTIONS: Final = json.dumps(
    {
        "questions": [
            {"ask": "Which greeting?", "options": ["hello", "good day"], "why": "mine.md names none"},
            {"ask": "What without a name?", "options": ["exit 2", "the world"], "why": "nothing calls it"},
        ]
    }
)

HEY: Final = """\
# Call out

## Goal
`hey.py` calls out to whoever runs it.

## Scope
`hey.py` (new), beside `plans/greet.md`

## Non-Scope
Other languages: nobody asked for them.

## Phase 1 — Hey
Effort: S. Depends on nothing.
### Work Items
- [ ] `hey.py` prints HEY
### Verification
- `grep -q HEY hey.py`

## Risks
Nobody listens: it prints all the same.

## Open Questions
None.
"""
"""A plan for a repository that has nothing but plans/greet.md."""


def line_of(words: str, plan: str = PLAN) -> int:
    """Count the line of a plan that holds some words."""
    return plan[: plan.index(words)].count("\n") + 1


def critique(plan: str = PLAN, *, finds: bool = True, only: Collection[str] = ()) -> str:
    """Write a critique of the plan, with evidence in it; of all that hold, or of some."""

    def passed(principle: str, words: str) -> dict[str, object]:
        return {"principle": principle, "verdict": "PASS", "evidence": [{"line": line_of(words, plan)}]}

    found = {
        "kind": "missing",
        "level": "material",
        "at": {"line": line_of("No name is given", plan)},
        "text": "Nothing says what two names get.",
        "evidence": [{"line": line_of("No name is given", plan)}],
    }
    failed = {"principle": "P5", "verdict": "FAIL", "findings": [found]}
    holds = {
        "P2": "`greet.py` (new)", "P6": "python greet.py", "P8": "Other languages", "P9": "says hello to the",
        "P10": "says hello to NAME", "P11": "Effort: S",
    }  # fmt: skip
    verdicts = [
        passed(principle, words) for principle, words in holds.items() if not only or principle in only
    ]
    return json.dumps({"verdicts": [*verdicts, *([failed] if finds else [])]})


STAGED: Final = (
    turn("understand", say(UNDERSTOOD)),
    turn("explore", say(EXPLORED)),
    turn("alternatives", say(WEIGHED)),
    turn("draft", say(PLAN)),
    turn("critique-1", say(critique())),
    turn("revise-1", say(FINAL)),
)
"""A staged authoring with one round of critique, whose author answers beside the point."""
