"""What holds of an agent's account that one run or lane found closed.

The one rule: no agent starts meanwhile but the one that tries, and every wait for an answer has a question.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queues import account_breakers
from tests.simulator.stage import Unlawful
from tests.simulator.story import REPO

if TYPE_CHECKING:
    from tests.simulator.ledger import Ledger


class AccountLaws:
    """The laws of breakers; every agent of a story has the same account."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._begun: Counter[tuple[str, object]] = Counter()

    def begun(self, run: str, lane: str) -> None:
        """See that a chain starts nothing while its account is closed, unless it is the one that tries."""
        chain, session = f"{run}/{lane}", self._ledger.look()
        for breaker in account_breakers.of(session, LOCAL).values():
            if breaker.probe != chain or breaker.is_open(session.now):
                # It may have decided so just before.
                self._begun[chain, breaker[1:5]] += 1
                if self._begun[chain, breaker[1:5]] > 1:
                    raise Unlawful(f"{chain} starts another agent while {breaker} holds")

    def written(self) -> None:
        """See that whoever asks about a login is there to be answered."""
        session = self._ledger.look()
        for breaker in account_breakers.of(session, LOCAL).values():
            holder = runs.find(session, LOCAL, REPO, breaker.holder.partition("/")[0])
            if breaker.until is None and (holder is None or holder.is_over):
                raise Unlawful(f"{breaker} waits for an answer that nobody asks for")
