"""What lies around a workspace, compared before and after an agent that nothing holds.

The one rule: what it is compared with was written down before the phase's first agent began.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.runs import RunStarted
from asbuilt.flows.checks.inspect import keep_remarks
from asbuilt.git.workspace.outside import reach, under_way
from asbuilt.proof.change.scope import strayed

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.ports import Workspace

_NAMED: Final = 20


class Surroundings:
    """All that lies around one workspace, as far as it is compared."""

    def __init__(self, record: Record, repository: Repository, workspace: Workspace) -> None:
        self._record = record
        self._repository = repository
        self._workspace = workspace

    def keep(self) -> str:
        """Keep what is there now as a blob and return its digest."""
        return self._record.blobs.put(json.dumps(self._now()).encode())

    def keep_strayed(self, phase: str) -> str | None:
        """Keep what has changed since the phase's first agent began; None when nothing has."""
        told = self._record.told(AttemptBegun, f"{phase}/1/begun/1").before
        if told is None:
            return None
        before, now = json.loads(self._record.blobs.get(told)), self._now()
        # What was kept since is ours.
        now["ours"] = {
            name: one for name, one in now["ours"].items() if name in before["ours"] or not _is_ref(name)
        }
        found = [
            remark
            for part, is_shared in (("ours", False), ("shared", True))
            for remark in strayed(before[part], now[part], is_shared=is_shared)
        ]
        return keep_remarks(self._record, found[:_NAMED]) if found else None

    def _now(self) -> dict[str, dict[str, str]]:
        # Where a ring holds, nothing that changes in the person's checkout is an agent's doing.
        is_open = self._record.told(RunStarted, "started").ring == "none"
        return {
            "ours": reach(self._repository, self._workspace, self._record.run.run),
            "shared": under_way(self._repository) if is_open else {},
        }


def _is_ref(name: str) -> bool:
    return name.startswith("refs/")
