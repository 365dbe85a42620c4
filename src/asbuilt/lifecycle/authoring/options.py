"""Options of the authoring stages, as a user chooses them.

Options are validated before anything starts. The sequence of stages is built once and kept with its session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.markdown.sections import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


CritiqueMode = Literal["principles", "open"]
CHOOSABLE: Final = tuple(stage for stage in Stage if stage is not Stage.ITERATE)
SKIPPABLE: Final = (Stage.UNDERSTAND, Stage.EXPLORE, Stage.ALTERNATIVES)
LEAST_REFINES: Final = 1
MOST_REFINES: Final = 4
TRANSITIONS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a session."""

    stages: tuple[Stage, ...]
    refine_iterations: int = 2
    max_phases: int = TRANSITIONS
    """Number of accepted outputs after which the session ends with its current plan; 0 is unlimited."""
    critique_mode: CritiqueMode = "principles"
    use_memory: bool = True
    completion_promise: str = "PLAN_OK"
    block_tools: bool = True
    required_sections: tuple[str, ...] = SECTIONS
    attempt_limit: int = 5
    """Number of outputs of one stage that may be refused in a row; the last one ends the session."""


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


def choose(  # noqa: PLR0913 - one argument for each choice of a user
    *,
    refine_iterations: int = 2,
    phases: Sequence[str] | None = None,
    skip: Iterable[str] = (),
    max_phases: int | None = None,
    critique_mode: str = "principles",
    use_memory: bool = True,
    completion_promise: str = "PLAN_OK",
    block_tools: bool = True,
    required_sections: Sequence[str] = SECTIONS,
    attempt_limit: int = 5,
) -> Options | tuple[Flaw, ...]:
    """Validate a user's choices; return the options, or every flaw."""
    stages = sequence_of(refine_iterations=refine_iterations, phases=phases, skip=skip)
    flaws = [one for one in stages if isinstance(one, Flaw)]
    if max_phases is not None and max_phases < 0:
        flaws.append(Flaw("max phases", str(max_phases), "0 for no limit, or more", "--max-phases 10"))
    if critique_mode not in get_args(CritiqueMode):
        flaws.append(Flaw("critique mode", critique_mode, "principles or open", "--open-critique"))
    if not completion_promise.strip() or "</promise>" in completion_promise:
        needed = "some words without a tag"
        flaws.append(Flaw("promise", repr(completion_promise), needed, "--completion-promise PLAN_OK"))
    sections = tuple(dict.fromkeys(name.strip() for name in required_sections if name.strip()))
    if not sections:
        flaws.append(Flaw("required sections", "none", "at least one", "--required-sections Goal,Steps"))
    if attempt_limit < 1:
        flaws.append(Flaw("attempts", str(attempt_limit), "at least 1", "--attempts 5"))
    if flaws:
        return tuple(flaws)
    built = tuple(stage for stage in stages if isinstance(stage, Stage))
    return Options(
        stages=built,
        refine_iterations=refine_iterations,
        # Four rounds are twelve stages; the default limit of 10 would cut them off.
        max_phases=max(TRANSITIONS, len(built)) if max_phases is None else max_phases,
        critique_mode="open" if critique_mode == "open" else "principles",
        use_memory=use_memory,
        completion_promise=completion_promise,
        block_tools=block_tools,
        required_sections=sections,
        attempt_limit=attempt_limit,
    )
