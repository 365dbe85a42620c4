"""Find checks whose program the machine lacks. No fix by an agent installs it, so the user is asked.

Rule: a program that the phase's text names beside its checks, or that its base has, is the agent's matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asbuilt.proof.evidence import Evidence
from asbuilt.proof.failure import missing_program

if TYPE_CHECKING:
    from asbuilt.flows.checks.prove import Proving
    from asbuilt.flows.run.record import Record


def without_programs(
    record: Record, proving: Proving, shown: Sequence[Evidence], *, base: str, text: str
) -> list[Evidence]:
    """Return what checks showed of a phase; those that the machine cannot start are unusable."""
    for evidence in shown:
        text = text.replace(evidence.command, "")
    marked = []
    for evidence in shown:
        program = "" if evidence.is_suite else missing_program(evidence, record.blobs.get(evidence.output))
        is_promised = re.search(rf"(?<![\w.+-]){re.escape(program)}(?![\w+-])", text) is not None
        if program and not is_promised and _is_absent(proving, base, program):
            why = f"the program {program} is not installed on this machine; install it first"
            marked.append(evidence._replace(outcome="INDETERMINATE", why=why, unusable=True))
        else:
            marked.append(evidence)
    return marked


def _is_absent(proving: Proving, base: str, program: str) -> bool:
    (found,) = proving.check(base, [f"sh -c 'command -v {program}'"])
    return found.outcome in ("FAIL", "NOT_RUN")
