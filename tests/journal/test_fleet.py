from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.events.options import FleetOrder, RunOptions, Variables
from asbuilt.events.runs import RunTakenOver
from asbuilt.journal import repositories, runs
from asbuilt.journal.engine import fleet, segments, workers
from asbuilt.journal.events import history
from asbuilt.journal.ids import Segment, new_id
from asbuilt.journal.shared_blobs import LARGE, SharedBlobs, open_large
from asbuilt.lifecycle.fleet import Offer, is_served
from tests.journal.bucket import KEY, bucket, login
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Store

ORDER = FleetOrder(remote="https://host/shop", plan="sha256:0", author=("Ada", "a@x"), labels=("gpu",))


def _asked(store: Store, options: RunOptions, *, place: str | None = None) -> Segment:
    with store.write() as session:
        made = runs.request(session, PLAN, run=new_id(), slug="x", options=options, actor="you", place=place)
        (found,) = [one for one in runs.open_segments(session, PLAN.org) if one.run == made.run]
    return found


def test_one_worker_takes_a_run_of_the_fleet_and_no_worker_takes_it_twice(store: Store) -> None:
    enqueued: list[tuple[str, str | None]] = []
    store.dispatch = lambda _session, segment: enqueued.append((segment.workflow, segment.executor))
    segment = _asked(store, RunOptions(fleet=ORDER, env=Variables(checks=("TOKEN",))))
    assert enqueued == []
    with store.read() as session:
        (waits,) = fleet.waiting(session, PLAN.org)
        assert segments.asked(session, PLAN.org, machine=None) == []
        assert segments.asked(session, PLAN.org, machine="a machine") == []
    assert waits.place == "fleet env:TOKEN gpu"
    assert not is_served(waits.place, Offer(frozenset({"gpu"})))
    assert is_served(waits.place, Offer(frozenset({"gpu"}), frozenset({"TOKEN", "OTHER"})))
    with store.write() as session:
        assert fleet.take(session, segment, worker="bob")
    with store.write() as session:
        assert not fleet.take(session, segment, worker="eve")
    assert enqueued == [(segment.workflow, "bob")]


def test_a_segment_of_a_lost_worker_is_taken_over_unless_a_live_worker_has_it(store: Store) -> None:
    segment = _asked(store, RunOptions(fleet=ORDER))

    def takes_over(worker: str, *, lost: str) -> bool:
        with store.write() as session:
            known = segments.named(session, PLAN.org, segment.workflow)
            assert known is not None
            return fleet.take_over(session, known, lost=lost, worker=worker, alive_since="2000")

    with store.write() as session:
        for worker in ("eve", "zoe"):
            workers.register(session, PLAN.org, worker, host="server", pid=1, build="1.0")
        fleet.take(session, segment, worker="bob")
    assert takes_over("ann", lost="bob")  # bob died before he began it, and ann before the engine knew
    assert takes_over("eve", lost="bob")
    assert not takes_over("zoe", lost="bob")
    assert takes_over("eve", lost="bob")  # she died in between, and came back
    with store.read() as session:
        taken = [one.event for one in history(session, PLAN) if isinstance(one.event, RunTakenOver)]
    assert [(one.lost, one.by) for one in taken] == [("bob", "ann"), ("ann", "eve")]


def test_a_segment_that_was_asked_for_again_while_it_ran_waits_for_nobody_when_closed(store: Store) -> None:
    segment = _asked(store, RunOptions(fleet=ORDER))
    with store.write() as session:
        fleet.take(session, segment, worker="bob")
        segments.begin(session, segment, worker="bob")
        assert segments.ask_again(session, PLAN.org, before=runs.FAR) == 1  # another worker starts
        segments.close(session, segment)
        assert fleet.waiting(session, PLAN.org) == []


def test_a_worker_takes_begun_runs_first_then_repositories_in_turn_and_leaves_what_others_have(
    store: Store,
) -> None:
    def asked(repo: str, labels: tuple[str, ...] = ()) -> Segment:
        order = FleetOrder(remote="https://host/shop", plan="sha256:0", author=("Ada", "a@x"), labels=labels)
        with store.write() as session:
            address = PLAN._replace(repo=repo, plan=new_id())
            made = runs.request(
                session, address, run=new_id(), slug="x", options=RunOptions(fleet=order), actor="you"
            )
            (found,) = [one for one in runs.open_segments(session, PLAN.org) if one.run == made.run]
        return found

    flood = [asked("flood") for _ in range(3)]
    asked("gpu", ("gpu",))
    begun, elsewhere, other = asked("flood"), asked("flood"), asked("other")
    with store.write() as session:
        workers.register(session, PLAN.org, "eve", host="server", pid=1, build="1.0")
        for segment, worker in ((begun, "lost"), (elsewhere, "eve")):
            fleet.take(session, segment, worker=worker)
            segments.begin(session, segment, worker=worker)
            segments.follow(session, segment._replace(executor=worker), due_at=session.now, why="next")
        segments.ask_again(session, PLAN.org, before=runs.FAR)
        found = fleet.next_for(session, PLAN.org, "bob", places=["fleet"], alive_since="2000", limit=9)
    assert [(one.run, one.n) for one in found] == [
        (begun.run, 2),
        (flood[0].run, 1),
        (other.run, 1),
        (flood[1].run, 1),
        (flood[2].run, 1),
    ]


def test_a_run_that_stays_on_its_machine_is_asked_for_only_there(store: Store) -> None:
    segment = _asked(store, RunOptions(), place="ada's machine")
    with store.read() as session:
        assert fleet.waiting(session, PLAN.org) == []
        assert segments.asked(session, PLAN.org, machine="another machine") == []
        assert segments.asked(session, PLAN.org, machine="ada's machine") == [segment]


def test_workers_are_listed_with_what_they_offer_and_how_much_they_do(store: Store) -> None:
    segment = _asked(store, RunOptions(fleet=ORDER))
    with store.write() as session:
        workers.register(session, PLAN.org, "bob", host="server", pid=1, build="1.0")
        fleet.offer(session, PLAN.org, "bob", labels=frozenset({"gpu", "env:TOKEN"}), slots=3)
        segments.begin(session, segment, worker="bob")
    with store.read() as session:
        (bob,) = fleet.members(session, PLAN.org, since="")
        assert fleet.members(session, PLAN.org, since="9999") == []
    assert (bob.host, bob.slots, bob.busy, bob.labels) == ("server", 3, 1, frozenset({"gpu", "env:TOKEN"}))


def test_clones_of_a_remote_share_the_id_of_the_first_and_a_known_repository_keeps_its_history(
    store: Store,
) -> None:
    known = repositories.Known("first", "/ada/shop/.git", "1:2", None, "ada's machine")
    with store.write() as session:
        repositories.remember(session, PLAN.org, known)
        assert repositories.meet(session, PLAN.org, "first", "host/shop") == "first"
        assert repositories.meet(session, PLAN.org, "second", "host/shop") == "first"
        assert repositories.meet(session, PLAN.org, "third", "host/other") == "third"
        (met,) = [one for one in repositories.every(session, PLAN.org) if one.repo == "first"]
    assert (met.path, met.remote, met.machine) == ("host/shop", "host/shop", None)


@pytest.mark.parametrize("place", ["rows", "folder", "bucket"])
def test_a_text_that_one_machine_keeps_is_read_on_another(store: Store, tmp_path: Path, place: str) -> None:
    (tmp_path / "shared").mkdir()
    with bucket() as (server, environ):
        address = {"folder": str(tmp_path / "shared"), "bucket": "s3://team/outputs"}.get(place)
        large = None if address is None else open_large(address, environ)
        if large is not None:
            large.check()
        ada, bob = (SharedBlobs(tmp_path / name, store, large) for name in ("ada", "bob"))
        random = b"".join(new_id().encode() for _ in range(LARGE // 10))
        digests = [ada.put(data) for data in (b"small", random)]
        assert [bob.get(digest) for digest in digests] == [b"small", random]
        assert len([*(tmp_path / "shared").glob("??/*")]) == int(place == "folder")
        name = digests[1].removeprefix("sha256:")
        assert [*server.kept] == [f"/team/outputs/{name[:2]}/{name}"] * (place == "bucket")
        assert KEY not in str(server.heard)
        with pytest.raises(NotFound):
            bob.get(f"sha256:{'0' * 64}")


def test_a_shared_place_that_cannot_be_reached_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    nobody = login("http://127.0.0.1:9")
    for place, said in (
        (str(tmp_path / "not-mounted"), "it is not a folder that you can write to"),
        (str(tmp_path / "file"), "it is not a folder that you can write to"),
        ("s3://team/outputs", "Generic S3 error"),
        ("unheard-of://team", ""),
    ):
        with pytest.raises(StoreFailed) as refused:
            open_large(place, nobody).check()
        assert f"the shared place for outputs, {place}, cannot be used: {said}" in refused.value.what
        assert KEY not in str(refused.value)


def test_an_object_whose_bytes_were_changed_is_damaged(store: Store, tmp_path: Path) -> None:
    random = b"".join(new_id().encode() for _ in range(LARGE // 10))
    with bucket() as (server, environ):
        large = open_large("s3://team", environ)
        digest = SharedBlobs(tmp_path / "ada", store, large).put(random)
        for changed in (b"torn", zlib.compress(b"another")):
            server.kept = dict.fromkeys(server.kept, changed)
            with pytest.raises(StoreFailed, match="is damaged"):
                SharedBlobs(tmp_path / "bob", store, large).get(digest)
