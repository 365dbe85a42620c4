"""Judge what confines agents: the sandbox, what is reachable from inside, and the gate. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt._version import VERSION
from asbuilt.cli.commands.doctor.fixes import remedy_for
from asbuilt.cli.commands.doctor.row import Row, State, Stops

if TYPE_CHECKING:
    from asbuilt.cli.commands.doctor.facts import GateFacts, ReachFacts, SandboxFacts

_REFUSED: Final = "a write and a connection were refused just now"
_INIT: Final = "`asbuilt init --claude`"
_FIX: Final = "`asbuilt doctor --fix sandbox` shows the change, then asks"
_WITHOUT: Final = "`asbuilt config set sandbox.required false`; reports then say so"
RINGS: Final = {"bwrap": "bubblewrap", "landlock": "Landlock", "seatbelt": "Seatbelt", "none": ""}


def sandbox_row(sandbox: SandboxFacts) -> Row:
    """Judge whether the kernel confines agents and checks."""
    name = " ".join(part for part in (RINGS[sandbox.level], sandbox.version) if part)
    if sandbox.holds:
        return Row(name="sandbox", state=State.GOOD, lead=name, said=_REFUSED, facts=sandbox)
    causes = "; ".join(refusal.what for refusal in sandbox.refusals)
    holds = f"{name} holds planning commands only" if sandbox.level == "landlock" else ""
    said = "; ".join(part for part in (causes, holds) if part)
    if not sandbox.required:
        why = "sandbox.required is false: agents and checks run unheld, and reports say so."
        return Row(name="sandbox", state=State.NOTE, said=said, why=why, facts=sandbox)
    first = sandbox.refusals[0]
    return Row(
        name="sandbox",
        state=State.PROBLEM,
        said=said,
        why=f"{first.why.removesuffix('.')}. An agent could write to all that you can.",
        next_step=first.next_step if remedy_for(first) is None else _FIX,
        otherwise=_WITHOUT,
        facts=sandbox,
        stops=Stops.UNATTENDED,
    )


def reach_row(reach: ReachFacts) -> Row:
    """Judge which credentials and hosts an agent can reach."""
    said = f"{reach.readable} of {reach.logins} logins in the home can be read"
    is_held = not reach.readable and reach.refuses
    told = "a host that is not listed was refused just now" if reach.refuses else "no host was refused"
    opened = [key for key, value in _networks(reach) if value == "open"]
    if not is_held:
        why = "What an agent can read and reach, it can send away."
        next_step = "`asbuilt bug-report` gathers what is needed to find out why."
        said = f"{said}; {told}"
        return Row(name="reach", state=State.PROBLEM, said=said, why=why, next_step=next_step, facts=reach)
    if opened:
        why = f"{' and '.join(opened)} open: every host is reached."
        return Row(name="reach", state=State.NOTE, said=said, why=why, facts=reach)
    return Row(name="reach", state=State.GOOD, said=f"{said}; {told}", facts=reach)


def _networks(reach: ReachFacts) -> tuple[tuple[str, str], ...]:
    return ("sandbox.network", reach.network), ("sandbox.setup", reach.setup)


def gate_row(gate: GateFacts) -> Row:
    """Judge whether Claude Code calls the gate, and whether the gate refuses."""
    if not gate.installed:
        return Row(
            name="gate",
            state=State.NOTE,
            said="not installed; in Claude Code planning is held by its own plan mode",
            next_step=_INIT,
            facts=gate,
        )
    if not gate.refused:
        return Row(
            name="gate",
            state=State.PROBLEM,
            said=f"installed hook let a known-bad call through: {gate.said}",
            why="Claude Code runs a tool whenever the hook before it fails.",
            next_step=_INIT,
            facts=gate,
            stops=Stops.NOTHING,
        )
    if gate.version != VERSION:
        return Row(
            name="gate",
            state=State.PROBLEM,
            said=f"installed plugin is that of {gate.version or 'no version'}; this is asbuilt {VERSION}",
            why="Hook and commands of two versions may differ in what they keep.",
            next_step=_INIT,
            facts=gate,
            stops=Stops.NOTHING,
        )
    tried = f"installed hook refused a known-bad call in {round(gate.took_ms)} ms"
    if not gate.enabled:
        return Row(
            name="gate",
            state=State.NOTE,
            said=f"{tried}, and is not enabled in Claude Code",
            next_step=_INIT,
            facts=gate,
        )
    return Row(name="gate", state=State.GOOD, said=tried, facts=gate)
