"""Validate a submitted plan: sections with a body, concrete steps, checks that can fail.

Rule: the text is parsed by `plan.reader`, as a run parses it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from asbuilt.errors import PlanUnreadable
from asbuilt.lifecycle.authoring.validators.prose import blocks_seen, given_in, passages, seen
from asbuilt.lifecycle.authoring.validators.references import Tree, phantoms, references_in
from asbuilt.lifecycle.authoring.validators.text_comparison import is_placeholder, normal, stemmed
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.editing.template import blank_plan
from asbuilt.plan.lint import Length
from asbuilt.plan.markdown.blocks import Block, Fence, Heading, parse
from asbuilt.plan.markdown.sections import part_of, sections_in
from asbuilt.plan.markdown.source import encode
from asbuilt.plan.model import Check, Phase, Plan
from asbuilt.plan.problems import Rule, Severity
from asbuilt.plan.reader import read

_NONE: Final = frozenset(
    {"none", "no", "nothing", "keine", "keins", "nichts", "aucune", "aucun", "ninguna", "ninguno", "nenhuma",
     "nessuna", "geen", "нет", "없음", "なし", "无", "無"}
)  # fmt: skip
_MAY_BE_NONE: Final = frozenset({"Non-Scope", "Risks", "Open Questions"})
_TEMPLATE: Final = given_in(blank_plan("", phases=1, created=date(2000, 1, 1)))
_VAGUE: Final = frozenset(
    stemmed(
        "improve enhance optimize optimise handle ensure refactor implement update support address fix "
        "adjust tweak polish review consider investigate manage streamline modernize finalize make clean "
        "look deal work"
    )
)
_FILLER: Final = frozenset(
    stemmed(
        "properly appropriately needed necessary appropriate better good various everything things stuff "
        "code changes functionality features logic correctly accordingly robust required works system "
        "existing practices overall quality sure"
    )
)
_CONCRETE: Final = re.compile(r"[`\"“\d/]|\w\(|\w_\w|[a-z][A-Z]|\b[A-Z]{2,}\b")
_IDLE: Final = re.compile(r"(?:true|:|echo|printf|exit\s+0|sleep|pwd|date)(?:\s|$)")
_APART: Final = "steps that can be told apart: phases, a numbered list or boxes"
_EXAMPLES: Final = {
    "Goal": "No API key can exceed its limit on /v1.",
    "Scope": "`src/api/app.py`, `src/api/limits.py` (new)",
    "Non-Scope": "Limits on /admin: other owners.",
    "Steps": "1. Add `TokenBucket` to `src/api/limits.py` (new). S. Depends on nothing.",
    "Verification": "- `pytest -q tests/test_limits.py`",
    "Risks": "Redis is down: refuse with 503.",
    "Open Questions": "None.",
}


def flaws_of_plan(text: str, required: Sequence[str], tree: Tree, length: Length) -> tuple[Flaw, ...]:
    """Return every flaw that keeps a text from being a plan that a user could approve."""
    try:
        plan = read(encode(text), length=length)
    except PlanUnreadable as error:
        return (Flaw("plan", str(error), "a plan that a person can read", "under 20,000 characters"),)
    return (
        *_sections(plan, required),
        *([] if plan.phases else [Flaw("steps", "no step", _APART, _EXAMPLES["Steps"])]),
        *_problems(plan),
        *_vague(plan),
        *phantoms(references_in(passages(blocks_seen(text), _TEMPLATE), tree)),
        *_checks(plan),
    )


def missing_sections(text: str, required: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the required sections that a plan lacks."""
    try:
        bodies = _bodies(read(encode(text)), required)
    except PlanUnreadable:
        return tuple(required)
    return tuple(name for name in required if bodies[name] is None)


def _sections(plan: Plan, required: Sequence[str]) -> Iterator[Flaw]:
    bodies = _bodies(plan, required)
    missing = [name for name in required if bodies[name] is None]
    if missing:
        fenced = any(isinstance(block, Fence) and "#" in block.content for block in _blocks(plan))
        inside = "; headings in a code block are not read" if fenced else ""
        needed = f"a heading for each: {', '.join(required)}"
        yield Flaw("sections", f"no {', '.join(missing)}{inside}", needed, _example(missing[0]))
    texts = Counter(normal(" ".join(body)) for body in bodies.values() if body)
    empty = [
        name
        for name, body in bodies.items()
        if body is not None and (_is_empty(name, body) or _is_repeated(name, body, texts))
    ]
    if empty:
        found = f"nothing said under {', '.join(empty)}"
        yield Flaw("empty sections", found, "a body of its own for each", _example(empty[0]))


def _bodies(plan: Plan, required: Sequence[str]) -> dict[str, list[str] | None]:
    """Return the text under each section's heading, or None; phases are steps, their commands verify."""
    blocks = _blocks(plan)
    bodies = {name: _body(blocks, name) for name in required}
    if "Steps" in bodies and any(phase.heading_after is not None for phase in plan.phases):
        bodies["Steps"] = [phase.title for phase in plan.phases]
    checks = [check.command for phase in plan.phases for check in phase.checks]
    if checks and "Verification" in bodies:
        bodies["Verification"] = bodies["Verification"] or checks
    return bodies


def _blocks(plan: Plan) -> list[Block]:
    return parse(plan.source.lines, plan.front.after)


def _body(blocks: Sequence[Block], name: str) -> list[str] | None:
    found: list[Block] | None = None
    level = 0
    for block in blocks:
        if isinstance(block, Heading) and (not level or block.level <= level):
            opens = _opens(block.text, name)
            level = block.level if opens else 0
            if opens:
                found = found or []
        elif level and found is not None:
            found.append(block)
    if found is None:
        return None
    texts = [seen(passage.text) for passage in passages(found, _TEMPLATE) if passage.kind != "heading"]
    return texts + [block.content for block in found if isinstance(block, Fence)]


def _opens(heading: str, name: str) -> bool:
    if name in sections_in(heading) or normal(heading) == normal(name):
        return True
    return name == "Verification" and part_of(heading.strip(" :*_#")) == "verify"


def _example(section: str) -> str:
    return f"## {section}\n{_EXAMPLES.get(section, 'What belongs there, in a sentence.')}"


def _is_empty(name: str, body: Sequence[str]) -> bool:
    filled = [text for text in body if not is_placeholder(text) and re.search(r"\w", text)]
    return not filled or (name not in _MAY_BE_NONE and normal(" ".join(filled)) in _NONE)


def _is_repeated(name: str, body: Sequence[str], texts: Counter[str]) -> bool:
    """Return whether several sections have the same body; "none" may repeat where it is allowed."""
    text = normal(" ".join(body))
    return texts[text] > 1 and not (name in _MAY_BE_NONE and text in _NONE)


def _problems(plan: Plan) -> Iterator[Flaw]:
    elsewhere = {Rule.NO_PHASES, Rule.NO_CHECK}
    for problem in plan.problems:
        if problem.severity is Severity.ERROR and problem.rule not in elsewhere:
            yield Flaw(
                "plan", f"line {problem.line}: {problem.message}", f"no {problem.rule}", problem.advice
            )


def _vague(plan: Plan) -> Iterator[Flaw]:
    texts = [text for phase in plan.phases for text in _promises_of(plan, phase)]
    vague = [text for text in texts if _is_vague(text)]
    if 2 * len(vague) > len(texts):
        found = f'{len(vague)} of {len(texts)} steps say what nobody could check, e.g. "{vague[0]}"'
        needed = "steps that name what changes: a file, a function, a number, a behaviour"
        yield Flaw("vague steps", found, needed, "Answer 429 with Retry-After in `src/api/app.py`")


def _promises_of(plan: Plan, phase: Phase) -> list[str]:
    items = [item.text for item in phase.work_items]
    if items:
        return items
    promises = passages(blocks_seen(plan.verbatim(phase).decode("utf-8", "replace")), _TEMPLATE)
    return [phase.title, *(passage.text for passage in promises)] if phase.heading_after else [phase.title]


def _is_vague(text: str) -> bool:
    words = stemmed(text)
    if not words or words[0] not in _VAGUE or _CONCRETE.search(text):
        return False
    return len([word for word in words if word not in _VAGUE | _FILLER]) <= 2


def _checks(plan: Plan) -> Iterator[Flaw]:
    if _able(plan.checks):
        return
    bare = [phase.id for phase in plan.phases if not _able(phase.checks) and not phase.touches_ui]
    is_any = any(_able(phase.checks) for phase in plan.phases)
    if is_any and not bare:
        return
    checks = (*(check for phase in plan.phases for check in phase.checks), *plan.checks)
    if is_any:
        found = f"no command for phase {', '.join(bare)}"
    elif checks:
        found = (
            f"only commands that cannot fail: {', '.join(dict.fromkeys(check.command for check in checks))}"
        )
    else:
        found = "no command that can be run"
    needed = "a command that fails before the work and passes after it, for each phase or for all of them"
    yield Flaw("checks", found, needed, _EXAMPLES["Verification"])


def _able(checks: Sequence[Check]) -> bool:
    return any(not cannot_fail(check.command) for check in checks)


def cannot_fail(command: str) -> bool:
    """Return whether a command always passes: `echo ok`, `true`, `pytest || true`."""
    last = re.split(r";|\n", command.strip().rstrip(";"))[-1]
    parts = last.split("||")[-1].split("&&")
    return all("|" not in part and _IDLE.match(part.strip()) for part in parts)
