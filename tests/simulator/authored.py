"""What agents hand in where a seed tells of an authoring. Pure: by the name of the attempt, and the seed."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any, Final

from msgspec import to_builtins

from asbuilt.lifecycle.authoring.modes import MODES, authoring_of
from asbuilt.lifecycle.authoring.options import Options, choose
from asbuilt.lifecycle.authoring.session_state import Session

if TYPE_CHECKING:
    from asbuilt.ports import Brief

FIRST: Final = 1_000_000
"""From this seed on the story is one of an authoring."""
_PROMISE: Final = "\n<promise>PLAN_OK</promise>\n"
_QUESTION: Final = {"options": ["hello", "good day"], "why": "base names none"}
_PLAN: Final = """\
# {slug}

## Goal
`{slug}-1` is made, {how}.

## Scope
`base`, and `{slug}-1` (new)

## Non-Scope
Anything else: nobody asked for it.

## Phase 1 — Part 1
Effort: S. Depends on nothing.
### Work Items
- [ ] make `{slug}-1`
### Verification
- `check {slug}-1`

## Risks
It is made twice: the second time changes nothing.

## Open Questions
None.
"""


def chosen(chance: Random) -> dict[str, Any]:
    """Choose how a plan is authored."""
    mode = MODES[chance.choice(("light", "interview"))]
    options = choose(
        phases=[str(stage) for stage in mode.stages or ()], max_phases=1, attempt_limit=3, use_memory=False
    )
    assert isinstance(options, Options), options
    session = Session(prompt="make the first part", options=options, started_at="2026-01-01T00:00:00.000Z")
    plain: dict[str, Any] = to_builtins(authoring_of(mode, session))
    return plain


def handed_in(seed: int, brief: Brief, manner: str) -> str:
    """Write what an agent hands in: a plan, a question where one may be asked, or nothing that holds."""
    chance = Random(f"{seed}/{brief.attempt}/hands in")
    if manner not in ("right", "lie", "meddles"):
        return "I would improve things."
    run, _, stage = brief.attempt.partition(".")
    if "you may ask instead of writing" in brief.ask and chance.random() < 0.5:
        asked = sum(name == "answer" for name, _ in brief.told)
        asks = [_QUESTION | {"ask": f"{word} {'really ' * asked}?"} for word in ("How loud", "Which name")]
        return json.dumps({"questions": asks[: chance.choice((1, 2))]})
    slug = run.rstrip("0123456789")
    text = _PLAN.format(slug=slug, how=f"as {stage} has it")
    return text + _PROMISE if stage.startswith("revise") else text
