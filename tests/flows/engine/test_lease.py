from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from asbuilt.flows.engine.lease import Lease, Times
from asbuilt.journal.engine import workers
from asbuilt.journal.ids import LOCAL
from tests.journal.conftest import postgres, store, where

if TYPE_CHECKING:
    import pytest

    from asbuilt.journal.database.store import Store

__all__ = ["postgres", "store", "where"]


def _epoch(store: Store) -> int:
    with store.read() as session:
        (worker,) = session.rows("SELECT epoch FROM workers")
    return int(worker["epoch"])


def test_a_lease_lasts_from_the_last_beat_that_was_asked_for_and_accepted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "clock_gettime", lambda _: now[0])
    lease = Lease(store, "a", org=LOCAL, times=Times())
    assert not lease.is_good
    lease.register()
    now[0] += 44.9
    assert (lease.is_good, lease.sign) == (True, 1)
    lease.heartbeat()
    now[0] += 44.9
    assert (lease.is_good, lease.sign) == (True, 2)
    now[0] += 0.2
    assert not lease.is_good


def test_a_worker_that_was_given_up_learns_it_from_its_next_beat(store: Store) -> None:
    lease = Lease(store, "a", org=LOCAL, times=Times())
    lease.register()
    with store.write() as session:
        assert workers.give_up(session, LOCAL, "a", before=workers.earlier(session.now, -1))
        assert not lease.holds(session)
    lease.heartbeat()
    assert (_epoch(store), lease.sign, lease.is_given_up) == (2, 1, True)
    again = Lease(store, "a", org=LOCAL, times=Times())
    again.register()
    assert (_epoch(store), again.is_given_up) == (3, False)


def test_beats_go_on_until_the_end(store: Store) -> None:
    lease, ended = Lease(store, "a", org=LOCAL, times=Times(heartbeat_s=0.02)), threading.Event()
    lease.register()
    keeper = threading.Thread(target=lease.keep, args=(ended,))
    keeper.start()
    until = time.monotonic() + 60
    while lease.sign < 4 and time.monotonic() < until:
        time.sleep(0.01)
    ended.set()
    keeper.join()
    assert lease.sign >= 4
    assert _epoch(store) == 1
