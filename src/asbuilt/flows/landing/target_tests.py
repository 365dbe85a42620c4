"""The tests of a landing or an undo, compared with those that the target has now.

Rule: users may have removed tests on the target since the proof. A landing or an undo has to keep as many
tests as the target has now, except those that the work itself removed, or that its undo takes back.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from asbuilt.flows.checks.prove import Proving, tree_of
from asbuilt.flows.run.record import Record
from asbuilt.git.repository import Repository
from asbuilt.lifecycle.delivery.facts import Landed, Work
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.judgement import collected


class TargetTests(Struct, frozen=True):
    """The tests on the trees of one landing, or with `reverts` of one undo."""

    record: Record
    repository: Repository
    proving: Proving
    reverts: bool = False

    def now(self, onto: str) -> list[Evidence]:
        """Run the tests of the target as it is: only their failures count, not their number."""
        return self.proving.prove(tree_of(self.repository, onto), floor=None)

    def on(self, commit: str, last: Work | Landed, now: Sequence[Evidence] = ()) -> list[Evidence]:
        """Run the tests on a commit; `last`: the newest proven work, `now`: what the target's tests show."""
        tree = tree_of(self.repository, last.commit)
        proven = [shown for shown in self.record.shown(last.run) if shown.is_suite and shown.tree == tree]
        # A phase may have removed tests, and was judged, or signed off, for it.
        floor = [] if self.reverts else proven
        fewer = {shown.name: self._fewer(shown) for shown in proven}
        floor += [shown._replace(ran=(shown.ran or 0) - fewer.get(shown.name, 0)) for shown in now]
        return self.proving.prove(tree_of(self.repository, commit), floor=floor)

    def _fewer(self, proven: Evidence) -> int:
        """Return how many tests the work may take from the target: those it removed, or an undo's own."""
        base = self.record.baseline(proven.name)
        added = collected(proven) - (base.collected if base else 0)
        return max(0, added if self.reverts else -added)
