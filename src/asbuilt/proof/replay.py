"""Compare stored evidence, remarks and verdicts with those of a replay. Pure.

Rule: only an equal outcome holds. What could not be run again is reported and does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.remarks import OBSERVED, Remark

if TYPE_CHECKING:
    from asbuilt.proof.evidence import Evidence
    from asbuilt.proof.verdict import ItemVerdict, Verdict

VERDICT: Final = "verdict"
NOTICED: Final = "remarks about the changes"


class Again(NamedTuple):
    """One stored result, and its result in the replay."""

    what: str
    """`tests`, a check's own text, `item 2`, `verdict`."""
    was: str
    now: str
    why: str = ""
    """Reason for the new outcome, or how it differs though it holds."""

    @property
    def holds(self) -> bool:
        """Whether the outcome is the same."""
        return self.was == self.now


def checks_again(then: Sequence[Evidence], now: Sequence[Evidence]) -> Iterator[Again]:
    """Compare the checks' stored evidence with the new one."""
    found = {evidence.name: evidence for evidence in now}
    instead = "; ".join(f"{evidence.name}: {evidence.why}" for evidence in now if evidence.outcome != "PASS")
    for evidence in then:
        again = found.get(evidence.name)
        if again is None:
            yield Again(evidence.name, evidence.outcome, "NOT_RUN", instead or "it is not part of the phase")
        elif again.outcome != evidence.outcome:
            yield Again(evidence.name, evidence.outcome, again.outcome, again.why)
        else:
            yield Again(evidence.name, evidence.outcome, again.outcome, _difference(evidence, again))


def _difference(then: Evidence, now: Evidence) -> str:
    counts = [(evidence.ran, evidence.skipped, evidence.failed) for evidence in (then, now)]
    differences = []
    if then.is_suite and counts[0] != counts[1]:
        was, is_now = (f"{ran} ran, {skipped} skipped, {failed} failed" for ran, skipped, failed in counts)
        differences.append(f"{is_now}; then {was}")
    if then.ring != now.ring:
        differences.append(f"held by {now.ring or 'nothing'}; then by {then.ring or 'nothing'}")
    return "; ".join(differences)


def remarks_again(then: Sequence[Remark], now: Sequence[Remark]) -> Iterator[Again]:
    """Compare stored remarks with new ones; remarks that only a live run can observe are left out."""
    lasting = ([remark for remark in remarks if remark.rule not in OBSERVED] for remarks in (then, now))
    was, is_now = ({remark.key: remark for remark in remarks} for remarks in lasting)
    # An older version identified a remark by its wording.
    older = {key: remark._replace(identity=None).key for key, remark in is_now.items() if key not in was}
    is_now = {older[key] if older.get(key) in was else key: remark for key, remark in is_now.items()}
    yield Again(NOTICED, str(len(was)), str(len(is_now)))
    for key in dict.fromkeys((*was, *is_now)):
        words = [side[key].severity.value if key in side else "not noticed" for side in (was, is_now)]
        if words[0] != words[1]:
            yield Again((was.get(key) or is_now[key]).words, *words)


def verdict_again(items: Sequence[ItemVerdict], faults: Sequence[str], now: Verdict) -> Iterator[Again]:
    """Compare the stored verdict on every item with the new one; waivers do not count."""
    yield Again(VERDICT, _soundness(faults), _soundness(now.faults), "; ".join(now.faults))
    found = {item.item: item for item in now.items}
    for item in items:
        again = found.get(item.item)
        if again is None:
            yield Again(f"item {item.item}", item.outcome, "NOT_RUN", "the phase has no such item")
        else:
            why = "" if again.outcome == item.outcome else again.why
            yield Again(f"item {item.item}", item.outcome, again.outcome, why)


def _soundness(faults: Sequence[str]) -> str:
    return "void" if faults else "sound"
