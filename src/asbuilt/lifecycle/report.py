"""The account of a run as Markdown. Pure; only what asbuilt ran itself is called proven, words are quoted."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from asbuilt.lifecycle.facts import Landed, Work
    from asbuilt.proof.evidence import Evidence
    from asbuilt.proof.remarks import Remark
    from asbuilt.proof.verdict import ItemVerdict, Waived

_HASH = 10


class AttemptAccount(NamedTuple):
    """One attempt, and what was found of its tree."""

    number: int
    role: str
    ending: str
    reason: str
    says: str
    kept: str | None
    """The ref that has its tree."""
    evidence: tuple[Evidence, ...] = ()
    items: tuple[ItemVerdict, ...] = ()
    remarks: tuple[Remark, ...] = ()
    """What was noticed about its changes."""


class PhaseAccount(NamedTuple):
    """A phase of the run: what it promised, and what came of it."""

    id: str
    title: str
    promised: tuple[str, ...]
    attempts: tuple[AttemptAccount, ...]
    proven: str | None
    landed: str | None
    waived: tuple[Waived, ...] = ()
    signed: Mapping[str, str] = {}
    """What a person said to a change that wanted a sign-off, by the remark's key."""


class Account(NamedTuple):
    """A run as its report tells it."""

    name: str
    plan: str
    slug: str
    kind: str
    target: str
    branch: str
    state: str
    reason: str
    at: str
    """Now, UTC ISO 8601."""
    phases: tuple[PhaseAccount, ...] = ()
    """The newest first."""
    landed: tuple[Landed, ...] = ()
    pending: tuple[Work, ...] = ()
    undone: tuple[Landed, ...] = ()
    workspaces: tuple[str, ...] = ()
    """Those that are still there."""


def render(account: Account) -> str:
    """Write the report."""
    lines = [f"# Run {account.name}", "", f"- Plan: {_code(account.plan)}", f"- State: {account.state}", ""]
    if account.state == "failed":
        lines += _failure(account)
    elif account.reason:
        lines += [_one_line(account.reason), ""]
    lines += _commits(account)
    for phase in account.phases:
        lines += _phase(phase)
    return "\n".join(lines).rstrip("\n") + "\n"


def _failure(account: Account) -> Iterator[str]:
    unproven = [phase.id for phase in account.phases if phase.proven is None]
    yield f"## Run failed - {account.at[:10]} {account.at[11:16]}"
    yield ""
    if unproven:
        yield f"- Phase: {unproven[0]}"
    yield f"- What: {_one_line(account.reason)}"
    yield f"- State: {_state(account)}"
    yield from (f"- Kept: {_code(path)}" for path in account.workspaces)
    yield from (f"- Go on: {_code(command)}" for command in _commands(account))
    yield ""


def _state(account: Account) -> str:
    landed = f"{_count(len(account.landed), 'phase')} landed on {_code(account.target)}"
    pending = f"{_count(len(account.pending), 'phase')} proven on {_code(account.branch)}"
    parts = [*([landed] if account.landed else []), *([pending] if account.pending else [])]
    return f"{'; '.join(parts) or 'nothing landed'}. Nothing was thrown away."


def _commands(account: Account) -> Iterator[str]:
    if account.kind == "undo":
        yield f"asbuilt land {account.slug} --undo"
        return
    if account.kind == "run":
        yield f"asbuilt run {account.slug}"
    if account.pending:
        yield f"asbuilt land {account.slug}"


def _commits(account: Account) -> Iterator[str]:
    if account.landed:
        yield from (f"## Landed on {_code(account.target)}", "")
        for one in account.landed:
            copied = "" if one.stands == one.commit else f" (proven as {_code(one.commit[:_HASH])})"
            yield f"- Phase {one.phase}: {_code(one.stands[:_HASH])}{copied}"
        yield ""
    if account.pending:
        yield from (f"## Proven on {_code(account.branch)}, not landed", "")
        yield from (f"- Phase {work.phase}: {_code(work.commit[:_HASH])}" for work in account.pending)
        yield ""
    if account.undone:
        yield from (f"## Taken back from {_code(account.target)}", "")
        yield from (f"- Phase {one.phase}: {_code(one.stands[:_HASH])}" for one in account.undone)
        yield ""


def _phase(phase: PhaseAccount) -> Iterator[str]:
    commit = phase.landed or phase.proven
    yield from (f"## Phase {phase.id}: {_one_line(phase.title)}", "")
    but = f", with {_count(len(phase.waived), 'item')} waived" if phase.waived else ""
    yield f"Proven{but}, commit {_code(commit[:_HASH])}." if commit else "Not proven."
    yield ""
    judged = next((attempt for attempt in reversed(phase.attempts) if attempt.evidence), None)
    yield from _promises(phase, judged.items if judged else ())
    yield from _noticed(phase)
    yield from _checks(judged.evidence if judged else ())
    yield from ("### Attempts", "")
    for attempt in phase.attempts:
        yield from _attempt(attempt)
    yield ""


def _promises(phase: PhaseAccount, items: tuple[ItemVerdict, ...]) -> Iterator[str]:
    if not phase.promised:
        return
    found = {item.item: item for item in items}
    waived = {one.item: one for one in phase.waived}
    yield from ("### Promised", "")
    for number, text in enumerate(phase.promised, 1):
        item = found.get(number)
        outcome = item.outcome if item else "NOT_RUN"
        yield f"- {f'{outcome}, WAIVED' if number in waived else outcome}: {_one_line(text)}"
        if number in waived:
            one = waived[number]
            yield f"  Accepted by {_one_line(one.by)} on {one.on}: {_one_line(one.reason)}"
        if item and item.evidence:
            yield f"  Cited and found: {', '.join(_code(words) for words in item.evidence)}"
        if item and item.why:
            yield f"  > The verifier: {_one_line(item.why)}"
    yield ""


def _noticed(phase: PhaseAccount) -> Iterator[str]:
    """Tell what was noticed about the changes of the last attempt that was looked at."""
    remarks = next((attempt.remarks for attempt in reversed(phase.attempts) if attempt.remarks), ())
    if not remarks:
        return
    yield from ("### Noticed by asbuilt about the changes", "")
    for one in remarks:
        yield f"- {one.severity.replace('_', '-').upper()}: {_one_line(one.words)}"
        if one.cited:
            yield f"  > The plan, {_one_line(one.cited)}"
        if one.severity == "sign_off":
            yield f"  Signed off: {_one_line(phase.signed.get(one.key, 'not yet'))}"
    yield ""


def _checks(evidence: tuple[Evidence, ...]) -> Iterator[str]:
    if not evidence:
        return
    yield from ("### Checks, run by asbuilt on a clean checkout", "")
    yield "| command | outcome | exit | ran | skipped | failed | tree |"
    yield "|---|---|---|---|---|---|---|"
    for one in evidence:
        counts = (one.exit_code, one.ran, one.skipped, one.failed)
        cells = [_cell(shlex.join(one.argv)), one.outcome, *("" if n is None else str(n) for n in counts)]
        yield f"| {' | '.join(cells)} | {_code(one.tree[:_HASH])} |"
    yield ""


def _attempt(attempt: AttemptAccount) -> Iterator[str]:
    why = f": {_one_line(attempt.reason)}" if attempt.reason else ""
    kept = f" Kept under {_code(attempt.kept)}." if attempt.kept else ""
    yield f"- {attempt.number}, {attempt.role}: {attempt.ending}{why}.{kept}"
    if attempt.says:
        yield f"  > The agent: {_one_line(attempt.says)}"


def _one_line(text: str) -> str:
    """Put foreign text on one line, so that nothing in it becomes a heading of ours."""
    return " ".join(text.split())


def _code(text: str) -> str:
    """Quote a text as code, whatever backticks it has."""
    line = _one_line(text)
    fence = "`" * (max((len(run) for run in _runs_of_backticks(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _cell(text: str) -> str:
    return _code(text).replace("|", "\\|")


def _runs_of_backticks(line: str) -> list[str]:
    return [run for run in "".join(char if char == "`" else " " for char in line).split() if run]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
