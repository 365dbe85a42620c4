"""Options of authoring as a user chooses them, validated before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from asbuilt.lifecycle.authoring.stages import Stage, sequence_of
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.markdown.sections import SECTIONS

CritiqueMode = Literal["principles", "open"]
TRANSITIONS: Final = 10


class Options(Struct, frozen=True, kw_only=True, rename={"stages": "phases"}):
    """Options of a session; plain values call the stages `phases`."""

    stages: tuple[Stage, ...]
    refine_iterations: int = 2
    max_phases: int = TRANSITIONS
    """Number of accepted outputs after which the session ends with its current plan; 0 is unlimited."""
    critique_mode: CritiqueMode = "principles"
    use_memory: bool = True
    completion_promise: str = "PLAN_OK"
    required_sections: tuple[str, ...] = SECTIONS
    attempt_limit: int = 5
    """Number of outputs of one stage that may be refused in a row; the last one ends the session."""


def choose(
    *,
    phases: Sequence[str] | None = None,
    skip: Iterable[str] = (),
    max_phases: int | None = None,
    required_sections: Sequence[str] = SECTIONS,
    **chosen: Any,  # noqa: ANN401 - as Options has them
) -> Options | tuple[Flaw, ...]:
    """Validate a user's choices, `chosen` by the names of `Options`; return the options, or every flaw."""
    stages = sequence_of(refine_iterations=chosen.get("refine_iterations", 2), phases=phases, skip=skip)
    built = tuple(stage for stage in stages if isinstance(stage, Stage))
    options = Options(
        stages=built,
        # Four rounds are twelve stages; the default limit of 10 would cut them off.
        max_phases=max(TRANSITIONS, len(built)) if max_phases is None else max_phases,
        required_sections=tuple(dict.fromkeys(name.strip() for name in required_sections if name.strip())),
        **chosen,
    )
    flaws = [answer for answer in stages if isinstance(answer, Flaw)]
    return (*flaws, *flaws_of(options)) or options


def flaws_of(options: Options) -> Iterator[Flaw]:
    """Yield every flaw of options, except those of the sequence of stages."""
    if options.max_phases < 0:
        yield Flaw("max phases", str(options.max_phases), "0 for no limit, or more", "--max-phases 10")
    if options.critique_mode not in get_args(CritiqueMode):
        yield Flaw("critique mode", options.critique_mode, "principles or open", "--open-critique")
    promise = options.completion_promise
    if not promise.strip() or "</promise>" in promise:
        needed = "some words without a tag"
        yield Flaw("promise", repr(promise), needed, "--completion-promise PLAN_OK")
    if not options.required_sections:
        yield Flaw("required sections", "none", "at least one", "--required-sections Goal,Steps")
    if options.attempt_limit < 1:
        yield Flaw("attempts", str(options.attempt_limit), "at least 1", "--attempts 5")
