"""A machine is lost in the middle of a push or a fetch: the remote is slow, and the worker is killed then."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from asbuilt.events.attempts import AttemptBegun, VerifierBegun
from asbuilt.events.landings import LandingDone
from asbuilt.events.runs import RunTakenOver
from tests.crash.test_any_machine import COST, COSTS, GREETS, machines
from tests.journal.conftest import postgres, where

if TYPE_CHECKING:
    from tests.crash.machines import Machines

__all__ = ["machines", "postgres", "where"]
pytestmark = [pytest.mark.crash, pytest.mark.parametrize("where", ["postgres"], indirect=True)]
SLOW_S = 4
HOOK = """\
#!/bin/sh
while read old new ref; do
  case "$ref" in {refs}) [ -e {folder}/struck ] || {{ touch {folder}/reached; sleep {slow}; }} ;; esac
done
"""
FETCH = """\
case "$*" in *git-upload-pack*)
  [ -e {folder}/struck ] || {{ touch {folder}/reached; sleep {slow}; }} ;;
esac
"""


class Moment(NamedTuple):
    """Where the remote is slow: a hook of its own, for some refs; without a hook, whenever it is read."""

    hook: str
    refs: str = ""
    kept: tuple[str, ...] = ()
    """The attempts whose results are on the remote by then, so that nobody repeats them."""


MOMENTS = {
    "before an attempt is accepted": Moment("pre-receive", "refs/asbuilt/attempts/*"),
    "after an attempt was accepted": Moment("post-receive", "refs/asbuilt/attempts/*", ("1.1",)),
    "before the plan's branch is accepted": Moment("pre-receive", "refs/asbuilt/plans/*", ("1.1", "1.1v")),
    "before the landing is accepted": Moment("pre-receive", "refs/heads/main", ("1.1", "1.1v")),
    "after the landing was accepted": Moment("post-receive", "refs/heads/main", ("1.1", "1.1v")),
    "in the mirror's first fetch": Moment(""),
}


def _slow(machines: Machines, moment: Moment) -> None:
    folder = machines.forge
    if moment.hook:
        hook = folder / "shop.git" / "hooks" / moment.hook
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK.format(refs=moment.refs, folder=folder, slow=SLOW_S), encoding="ascii")
        hook.chmod(0o700)
        return
    first, _, rest = machines.ssh.read_text("ascii").partition("\n")
    slow = FETCH.format(folder=folder, slow=SLOW_S)
    machines.ssh.write_text(f"{first}\n{slow}{rest}", encoding="ascii")


@pytest.mark.parametrize("name", MOMENTS)
def test_a_machine_that_is_lost_in_the_middle_of_a_push_or_a_fetch_is_replaced(
    machines: Machines, name: str
) -> None:
    moment = MOMENTS[name]
    machines.turn('phase = "1"\nrole = "implement"', *COSTS, GREETS)
    machines.turn('phase = "1"\nrole = "verify"', *COSTS, '{ verdict = "pass" }')
    run = machines.ask(mode="phase")
    machines.take_away()
    _slow(machines, moment)
    machines.join("bob")
    machines.until((machines.forge / "reached").exists)
    machines.strike("bob")
    (machines.forge / "struck").touch()
    machines.join("eve")
    assert machines.over(run) == ("landed", "")
    # Once: neither lost nor doubled.
    assert machines.landed() == ["Mark plan.md", "Greet", "start"]
    (landed,) = {event.new for event in machines.events(LandingDone)}
    assert landed == machines.remote_tip()
    assert len(machines.events(RunTakenOver)) == 1
    starts = machines.starts()
    assert {attempt: starts[attempt] for attempt in moment.kept} == dict.fromkeys(moment.kept, 1)
    begun = {"1.1": len(machines.events(AttemptBegun)), "1.1v": len(machines.events(VerifierBegun))}
    assert all(begun[attempt] >= many for attempt, many in starts.items())
    spent = machines.spent(run)
    assert (spent.usd, spent.usd_unreported) == (2 * COST, sum(begun.values()) - 2)
