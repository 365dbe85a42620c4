"""What a person is sent, from a run's event to a real receiver, on each database."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from asbuilt.events.approvals import ApprovalAsked
from asbuilt.events.options import RunOptions
from asbuilt.events.runs import AttentionCalled, RunEnded
from asbuilt.flows.notify import TRIES, Calling, Notifying, Reach
from asbuilt.flows.run.record import append_event
from asbuilt.journal import approvals, notifications, runs
from asbuilt.journal.engine.liveness import board_address, board_at
from asbuilt.journal.events import history
from asbuilt.lifecycle.notify import Topic
from asbuilt.lifecycle.run.working_hours import Window
from asbuilt.notify.posting import Posting, slack, webhook
from tests.journal.conftest import PLAN
from tests.notify.receiving import receiving, until
from tests.support.happened import plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run
    from tests.notify.receiving import Receiver

LONG_AGO = "2020-01-01T00:00:00.000Z"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as lent:
        yield lent


def _ended(store: Store, *states: str, slug: str = "greet") -> list[Run]:
    """Ask for runs, and let each end."""
    ended = []
    for state in states:
        with store.write() as session:
            run = f"r{len(state)}-{state}"
            found = runs.request(
                session, PLAN, run=run, slug=slug, options=RunOptions(slug=slug), actor="ann"
            )
            append_event(session, found, RunEnded(state=state, reason="why"), "ended")
            ended.append(found)
    return ended


def _now_due(store: Store) -> None:
    """Let the time pass for which everything waits."""
    with store.write() as session:
        session.run("UPDATE notices SET due_at = :ago WHERE done_at IS NULL", ago=LONG_AGO)


def _rows(store: Store) -> list[dict[str, Any]]:
    with store.read() as session:
        return session.rows(
            "SELECT way, tries, said, done_at IS NOT NULL AS over FROM notices ORDER BY way, key"
        )


def _quiet_now() -> Window:
    now = datetime.now(UTC)
    return Window((now - timedelta(hours=2)).time(), (now + timedelta(hours=2)).time(), "UTC")


def _texts(receiver: Receiver) -> list[str]:
    return [json.loads(got.body)["text"] for got in receiver.got]


def test_an_event_is_sent_once_by_each_way_however_often_its_step_is_repeated(
    store: Store, receiver: Receiver
) -> None:
    (run,) = _ended(store, "landed")
    ways = {
        "slack": Posting("slack", partial(slack, f"{receiver.url}/slack", {})),
        "webhook": Posting("webhook", partial(webhook, f"{receiver.url}/hook", "", {})),
    }
    sender = Notifying(store, Reach(posts=ways), org=PLAN.org)
    for _ in range(3):
        Calling(store, Reach(posts=ways)).call(run, f"{run.run}/ended")
        sender.look()
    assert sorted(got.path for got in receiver.got) == ["/hook", "/slack"]
    assert not sender.waits
    with store.read() as session:
        called = [plain(one)[1] for one in history(session, PLAN) if isinstance(one.event, AttentionCalled)]
    assert called == [{"about": "run.ended", "run": run.run, "way": "slack, webhook"}]


def test_a_way_that_fails_is_tried_again_later_each_time_and_then_no_more(
    store: Store, receiver: Receiver
) -> None:
    (run,) = _ended(store, "failed")
    ways = {"slack": Posting("slack", partial(slack, receiver.url, {}), patience_s=60)}
    sender = Notifying(store, Reach(posts=ways), org=PLAN.org)
    receiver.answer = 500
    Calling(store, Reach(posts=ways)).call(run, f"{run.run}/ended")
    for tries in range(1, TRIES + 1):
        assert (sender.look(), sender.look(), len(receiver.got)) == (1, 0, tries)
        assert sender.waits == (tries < TRIES)
        _now_due(store)
    said = f"{receiver.url.removeprefix('http://')} answered 500"
    assert _rows(store) == [{"way": "slack", "tries": TRIES, "said": said, "over": True}]
    with store.read() as session:
        assert [(one.way, one.said) for one in notifications.undelivered(session, PLAN.org)] == [
            ("slack", said)
        ]


def test_a_way_that_is_heard_again_is_no_trouble_any_more(store: Store, receiver: Receiver) -> None:
    (run,) = _ended(store, "failed")
    ways = {"slack": Posting("slack", partial(slack, receiver.url, {}), patience_s=60)}
    sender = Notifying(store, Reach(posts=ways), org=PLAN.org)
    Calling(store, Reach(posts=ways)).call(run, f"{run.run}/ended")
    receiver.answer = 503
    sender.look()
    receiver.answer = 200
    _now_due(store)
    assert (sender.look(), sender.look(), len(receiver.got)) == (1, 0, 2)
    with store.read() as session:
        assert notifications.undelivered(session, PLAN.org) == []


def test_quiet_hours_gather_everything_into_one_message_but_what_is_urgent(
    store: Store, receiver: Receiver
) -> None:
    found = _ended(store, "landed", "held", "failed")
    ways = {"slack": Posting("slack", partial(slack, receiver.url, {}), patience_s=60)}
    reach = Reach(posts=ways, quiet=_quiet_now(), urgent=frozenset({Topic.FAILED}))
    sender = Notifying(store, reach, org=PLAN.org)
    for run in found:
        Calling(store, reach).call(run, f"{run.run}/ended")
    assert (sender.look(), sender.waits) == (1, True)
    with store.read() as session:
        assert len(session.rows("SELECT DISTINCT due_at FROM notices WHERE done_at IS NULL")) == 1
    _now_due(store)
    assert (sender.look(), sender.look(), sender.waits) == (1, 0, False)
    assert _texts(receiver) == snapshot(
        [
            """\
asbuilt: greet.3 failed
All work is kept: asbuilt status\
""",
            """\
asbuilt: 2 notices
greet.1 landed. All proven commits are on the branch.
greet.2 is proven. Nothing has landed: it waits for you.\
""",
        ]
    )


def test_a_question_that_was_answered_at_night_is_not_told_of_in_the_morning(
    store: Store, receiver: Receiver
) -> None:
    (run,) = _ended(store, "landed")
    with store.write() as session:
        for phase in ("1", "2"):
            wish = approvals.Wish(run.run, "continue", "go on?", phase)
            approvals.ask(session, PLAN, key=f"{run.run}/between/{phase}", wish=wish, actor="asbuilt")
    ways = {"slack": Posting("slack", partial(slack, receiver.url, {}), patience_s=60)}
    reach = Reach(posts=ways, quiet=_quiet_now())
    for phase in ("1", "2"):
        Calling(store, reach).call(run, f"{run.run}/between/{phase}/asked")
    with store.write() as session:
        approvals.answer(session, PLAN.org, PLAN.repo, 1, reply="yes", actor="ann")
    _now_due(store)
    assert Notifying(store, Reach(posts=ways), org=PLAN.org).look() == 1
    assert _texts(receiver) == ["asbuilt: greet.1 needs you\nQuestion a2 waits: asbuilt approve"]


def test_a_text_has_an_end_and_no_secret(store: Store, receiver: Receiver) -> None:
    token = "ghp_" + "x7Qk" * 10
    runs_ended = []
    for number in range(30):
        with store.write() as session:
            name = f"{token}\n{'long' * 40}"
            found = runs.request(
                session, PLAN, run=f"r{number}", slug=name, options=RunOptions(slug=name), actor="ann"
            )
            append_event(session, found, RunEnded(state="landed", reason=token), "ended")
            runs_ended.append(found)
    ways = {"slack": Posting("slack", partial(slack, receiver.url, {}), patience_s=60)}
    reach = Reach(posts=ways, quiet=_quiet_now())
    for run in runs_ended:
        Calling(store, reach).call(run, f"{run.run}/ended")
    _now_due(store)
    assert Notifying(store, Reach(posts=ways), org=PLAN.org).look() == 1
    (text,) = _texts(receiver)
    assert token not in text
    assert (len(text.splitlines()), text.splitlines()[-1]) == (22, "and 10 more: asbuilt status")
    assert len(text) < 5_000


def test_a_question_carries_its_link_while_a_board_runs(
    store: Store, receiver: Receiver, tmp_path: Path
) -> None:
    with store.write() as session:
        options = RunOptions(slug="greet")
        run = runs.request(session, PLAN, run="r1", slug="greet", options=options, actor="ann")
        for number in (1, 2):
            wish = approvals.Wish("r1", "continue", "continue with phase 2?")
            approvals.ask(session, PLAN, key=f"r1/between/{number}", wish=wish, actor="asbuilt")
        asked = [one.key for one in history(session, PLAN) if isinstance(one.event, ApprovalAsked)]
    ways = {"slack": Posting("slack", partial(slack, receiver.url, {}), patience_s=60)}
    reach = Reach(posts=ways, board=lambda: board_address(tmp_path))
    with board_at(tmp_path, "http://127.0.0.1:8642"):
        Calling(store, reach).call(run, asked[0])
        Notifying(store, reach, org=PLAN.org).look()
    # The board was killed: its address is still on disk.
    Calling(store, reach).call(run, asked[1])
    Notifying(store, reach, org=PLAN.org).look()
    assert [text.partition("\n")[2] for text in _texts(receiver)] == [
        f"Question a1 waits: asbuilt approve, or http://127.0.0.1:8642/question/{PLAN.repo}/a1",
        "Question a2 waits: asbuilt approve",
    ]


SENDING = """
import sys
from functools import partial
from asbuilt.notify.posting import Posting, webhook
from asbuilt.flows.notify import Reach
from asbuilt.flows.notify import Notifying
from tests.journal.conftest import PLAN, open_store
ways = {"webhook": Posting("webhook", partial(webhook, sys.argv[2], "", {}), patience_s=60)}
Notifying(open_store(sys.argv[1]), Reach(posts=ways), org=PLAN.org).look()
"""


@pytest.mark.crash
def test_who_is_killed_before_the_answer_sends_the_same_message_again(
    store: Store, where: str, receiver: Receiver
) -> None:
    (run,) = _ended(store, "landed")
    ways = {"webhook": Posting("webhook", partial(webhook, receiver.url, "", {}), patience_s=60)}
    Calling(store, Reach(posts=ways)).call(run, f"{run.run}/ended")
    pids: list[int] = []

    def kill() -> None:
        until(lambda: bool(pids))
        os.kill(pids[0], signal.SIGKILL)

    receiver.before_answer = kill
    started = subprocess.Popen([sys.executable, "-c", SENDING, where, receiver.url])
    pids.append(started.pid)
    assert started.wait(120) == -signal.SIGKILL
    receiver.before_answer = lambda: None
    sender = Notifying(store, Reach(posts=ways), org=PLAN.org)
    assert (sender.look(), len(receiver.got)) == (0, 1)
    _now_due(store)
    assert (sender.look(), sender.look()) == (1, 0)
    until(lambda: len(receiver.got) == 2)
    assert len({json.loads(got.body)["id"] for got in receiver.got}) == 1


@pytest.mark.crash
def test_two_workers_send_a_message_once(store: Store, where: str, receiver: Receiver) -> None:
    (run,) = _ended(store, "landed")
    ways = {"webhook": Posting("webhook", partial(webhook, receiver.url, "", {}), patience_s=60)}
    Calling(store, Reach(posts=ways)).call(run, f"{run.run}/ended")
    both = [subprocess.Popen([sys.executable, "-c", SENDING, where, receiver.url]) for _ in range(2)]
    assert [one.wait(120) for one in both] == [0, 0]
    assert len(receiver.got) == 1
