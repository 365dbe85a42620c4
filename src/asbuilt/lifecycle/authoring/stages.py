"""Stages of authoring, and the sequence of them that a user chooses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from asbuilt.lifecycle.flaws import Flaw


class Stage(StrEnum):
    """A stage of authoring."""

    UNDERSTAND = "understand"
    EXPLORE = "explore"
    ALTERNATIVES = "alternatives"
    DRAFT = "draft"
    CRITIQUE = "critique"
    REVISE = "revise"
    ITERATE = "iterate"
    """The extra stage, entered when the sequence ends without the promise."""


CHOOSABLE: Final = tuple(stage for stage in Stage if stage is not Stage.ITERATE)
SKIPPABLE: Final = (Stage.UNDERSTAND, Stage.EXPLORE, Stage.ALTERNATIVES)
LEAST_REFINES: Final = 1
MOST_REFINES: Final = 4


def sequence_of(
    *, refine_iterations: int = 2, phases: Sequence[str] | None = None, skip: Iterable[str] = ()
) -> tuple[Stage, ...] | tuple[Flaw, ...]:
    """Build the stages: four, then the rounds of critique and revision; or the named stages."""
    if not LEAST_REFINES <= refine_iterations <= MOST_REFINES:
        needed = f"a whole number from {LEAST_REFINES} to {MOST_REFINES}"
        return (Flaw("refine iterations", str(refine_iterations), needed, "--refine-iterations 2"),)
    skipped = frozenset(skip)
    unknown = [name for name in phases or () if name not in CHOOSABLE]
    if unknown:
        found = ", ".join(repr(name) for name in unknown)
        return (
            Flaw("stages", found, f"any of {', '.join(CHOOSABLE)}", "--phases explore,draft,critique,revise"),
        )
    if skipped - frozenset(SKIPPABLE):
        found = ", ".join(sorted(skipped - frozenset(SKIPPABLE)))
        return (Flaw("skipped stages", found, f"any of {', '.join(SKIPPABLE)}", "--skip-understand"),)
    built = (*SKIPPABLE, Stage.DRAFT, *(Stage.CRITIQUE, Stage.REVISE) * refine_iterations)
    named = built if phases is None else tuple(Stage(name) for name in phases)
    stages = tuple(stage for stage in named if stage not in skipped)
    if Stage.CRITIQUE in stages and not {Stage.DRAFT, Stage.REVISE} & set(
        stages[: stages.index(Stage.CRITIQUE)]
    ):
        needed = "a draft before the first critique"
        return (Flaw("stages", "a critique of no plan", needed, "--phases explore,draft,critique,revise"),)
    if not stages:
        return (Flaw("stages", "no stage", "at least one stage", "--phases explore,draft,critique,revise"),)
    return stages
