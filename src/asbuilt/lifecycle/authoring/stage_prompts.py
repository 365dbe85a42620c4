"""Prompts for each stage. Rule: a prompt asks for at least as much as the validators require."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, assert_never

from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.promise_tag import promise_tag
from asbuilt.lifecycle.authoring.validators.thresholds import DEMANDS, Demands
from asbuilt.lifecycle.critique.findings import EXAMPLE
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.lint import LINES, Length

if TYPE_CHECKING:
    from asbuilt.lifecycle.authoring.options import Options

PERSPECTIVES: Final = (
    "technical: would this work, in this code, in this order?",
    "user and maintainer: is it what was wanted, and who lives with it afterwards?",
    "devil's advocate: what would make all of this the wrong thing to build?",
)
"""Perspective of each round of critique; later rounds use the last one."""
_UNDERSTAND: Final = """\
Say what is wanted, in at least {items} numbered points of one or two sentences: the problem and why it
matters, what success looks like, constraints, assumptions and impact.
Write no heading of a plan and no promise yet."""
_EXPLORE: Final = """\
Read the code. Tell what you found in at least {files} files, each by its path from the root of the
repository, and what it means for this work. Name only files that exist.
Write no heading of a plan and no promise yet."""
_ALTERNATIVES: Final = """\
Weigh {options} options that differ in substance (### Option A: …), each with its pros and cons, and
recommend one with the reason.
Write no heading of a plan and no promise yet."""
_DOCUMENT: Final = """\
Write one Markdown document that begins with its title, not inside a code block, with these headings and
something of your own under each: {sections}.
Phases (## Phase 1 — Title) may stand in for Steps. Put the word new in parentheses after a file that does
not exist yet. Each phase, or the whole plan, has a command under Verification, in backticks, that fails
before the work and passes after it.
Order the steps from least to most: the simplest and most independent first. Each step names the steps
that it depends on, or says that it depends on none; steps that can be done side by side say so. Give each
an effort of S, M or L."""
_LENGTHS: Final = {
    Length.CONTROL: "",
    Length.TRIM: "\nKeep the context to one line, and verify the whole with a single command.",
    Length.CUT: f"\nWrite no context. Most good plans have fewer than {LINES} lines.",
    Length.CAP: f"\nWrite at most {LINES} lines that are not blank: leave out prose, not file paths.",
}
_REVISE: Final = "Answer every finding and write the whole plan again, not only what changed."
_READ_NEXT: Final = "Write no promise: a person reads it next."
_MORE_TO_COME: Final = "Write no promise yet: a critique follows."
_PRINCIPLES: Final = """\
Judge the plan by at least {principles} of the principles, each PASS or FAIL with evidence: a line of the
plan or a file. A FAIL has findings; what holds is a PASS, and nothing has to be found.
Answer with one object of JSON and nothing else, like this:
{example}"""
_OPEN: Final = """\
Criticise the plan in at least {items} numbered findings, each about something that the plan says or leaves
out. Write no plan and no promise."""


def perspective(number: int) -> str:
    """Return the perspective of a round of critique, counted from 1."""
    return PERSPECTIVES[min(number, len(PERSPECTIVES)) - 1]


def instruction(stage: Stage, options: Options, *, is_final: bool = False, demands: Demands = DEMANDS) -> str:
    """Return the instruction for a stage."""
    document = _DOCUMENT.format(sections=", ".join(options.required_sections)) + _LENGTHS[demands.length]
    match stage:
        case Stage.UNDERSTAND:
            return _UNDERSTAND.format(items=demands.items.aim)
        case Stage.EXPLORE:
            return _EXPLORE.format(files=demands.files.aim)
        case Stage.ALTERNATIVES:
            return _ALTERNATIVES.format(options=demands.options.aim)
        case Stage.DRAFT:
            more = _MORE_TO_COME if Stage.CRITIQUE in options.stages else _READ_NEXT
            return f"{document}\n{more}"
        case Stage.CRITIQUE if options.critique_mode == "open":
            return _OPEN.format(items=demands.items.aim)
        case Stage.CRITIQUE:
            return _PRINCIPLES.format(principles=demands.principles.aim, example=EXAMPLE)
        case Stage.REVISE | Stage.ITERATE:
            promise = f"When it is complete, end with {promise_tag(options.completion_promise)}."
            return f"{_REVISE}\n{document}\n{promise if is_final else _MORE_TO_COME}"
        case _:
            assert_never(stage)


def flaw_list(flaws: Iterable[Flaw]) -> str:
    """List the flaws of a refused output for the next attempt."""
    return "\n".join(
        f"- {flaw.what}: found {flaw.found}; needed: {flaw.needed}. For example: {flaw.example}"
        for flaw in flaws
    )
