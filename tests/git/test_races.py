"""Two who want the same thing: one gets it, the other is told, and nothing is lost or doubled."""

from __future__ import annotations

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import asdict

from asbuilt.git.commits import outcomes
from asbuilt.git.landing import checkout_update
from asbuilt.git.landing.candidates import Candidate, pick
from asbuilt.git.landing.land import Intent, Landed, TipMoved, land, prepare
from tests.git.shop import RUN, Shop, user_state
from tests.git.victim import theatre

if TYPE_CHECKING:
    from tests.git.victim import Task

pytestmark = pytest.mark.crash

ROUNDS = int(os.environ.get("ASBUILT_CRASH_ROUNDS", "12"))


def test_of_two_processes_that_race_for_one_landing_exactly_one_wins(shop: Shop) -> None:
    shop.write("README.md", "dirty\n")
    with theatre(shop) as one, theatre(shop) as two:
        for number in range(ROUNDS):
            old = shop.tip()
            tasks = [
                _task(shop, shop.intent(shop.phase(f"{number}{who}", {f"{who}.py": f"{number}\n"})))
                for who in "ab"
            ]
            one.start(tasks[0])
            two.start(tasks[1])
            ended = {tasks[0]["new"]: one.end(), tasks[1]["new"]: two.end()}
            assert sorted(ended.values()) == ["Landed", "TipMoved"]
            assert ended[shop.tip()] == "Landed"
            assert shop.git("rev-parse", "HEAD^") == old
            assert shop.git("status", "--porcelain") == " M README.md"
    state = user_state(shop)
    assert (state["locks"], state["ours"]) == ([], [])
    assert shop.fsck() == ""


def _task(shop: Shop, intent: Intent) -> Task:
    facts = {key: value or "" for key, value in asdict(intent).items()}
    return {"do": "land", "root": str(shop.root), "room": str(shop.room), **facts}


def test_many_runs_land_many_phases_each_once(shop: Shop) -> None:
    commits = {
        f"01run{run}": [shop.phase(str(n), {f"{run}-{n}.py": "x\n"}, run=f"01run{run}") for n in range(3)]
        for run in range(4)
    }

    def land_all(run: str) -> None:
        for commit in commits[run]:
            for _ in range(60):
                if _land_one(shop, run, commit):
                    break
            else:
                raise AssertionError("never landed")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(land_all, commits))
    for run in commits:
        assert [one.phase for one in outcomes(shop.repository, shop.tip(), run)] == ["0", "1", "2"]
    assert shop.git("rev-list", "--count", "HEAD") == "13"
    assert shop.git("status", "--porcelain") == ""
    assert shop.fsck() == ""


def _land_one(shop: Shop, run: str, commit: str) -> bool:
    onto = shop.tip()
    candidate = pick(shop.repository, onto=onto, commits=[commit], run=run)
    assert isinstance(candidate, Candidate)
    intent = prepare(shop.repository, run=run, branch="main", old=onto, new=candidate.tip)
    outcome = land(shop.repository, intent, shop.room) if isinstance(intent, Intent) else intent
    assert isinstance(outcome, Landed | TipMoved), outcome
    return isinstance(outcome, Landed)


MEANWHILE = {
    "from before the landing": "git update-ref refs/heads/main"
    " $(git commit-tree $ASBUILT_OLD^{tree} -p $ASBUILT_OLD -m mine)",
    "with what the landing brought": "git commit -q -m mine",
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_a_user_who_commits_in_the_middle_of_a_landing_loses_nothing(
    shop: Shop, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst instant: the checkout has been carried along, and the branch has not been moved yet."""
    commit = f"(unset GIT_DIR GIT_WORK_TREE GIT_QUARANTINE_PATH; cd '{shop.root}' && {MEANWHILE[what]})\n"
    hook = checkout_update.HOOK.replace(
        "exit $status\n", f"[ -e {shop.room}/once ] || {commit}touch {shop.room}/once\nexit $status\n"
    )
    monkeypatch.setattr(checkout_update, "HOOK", hook)
    shop.write("staged.txt", "staged\n")
    shop.write("README.md", "dirty\n")
    proven = shop.phase("1", {"src/app.py": "theirs\n", "new.py": "x\n"})
    moved = land(shop.repository, shop.intent(proven), shop.room)
    assert moved == TipMoved(ref="refs/heads/main", found=shop.tip())
    assert shop.git("log", "--format=%s", "-2") == "mine\nfirst"
    assert shop.git("status", "--porcelain") == " M README.md\n?? staged.txt"
    assert _land_one(shop, RUN, proven)
    assert shop.git("log", "--format=%s", "-3") == "Phase 1\nmine\nfirst"
    assert shop.git("status", "--porcelain") == " M README.md\n?? staged.txt"
    assert (shop.root / "src/app.py").read_text() == "theirs\n"
    assert user_state(shop)["ours"] == []


def test_a_user_who_commits_all_the_time_loses_nothing(shop: Shop) -> None:
    over = threading.Event()
    made: list[str] = []

    def commit_on() -> None:
        chance = random.Random(9)  # noqa: S311
        while not over.wait(chance.uniform(0.1, 0.6)):
            text = f"mine {len(made)}"
            shop.write("mine.txt", f"{text}\n")
            shop.git("add", "mine.txt", check=False)
            shop.git("commit", "-q", "-m", text, "--", "mine.txt", check=False)
            if text in shop.git("log", "--format=%s"):
                made.append(text)

    phases: list[str] = []
    for n in range(8):
        onto = phases[-1] if phases else None
        phases.append(shop.phase(str(n), {f"{n}.py": "x\n", "src/app.py": f"one\n{n}\n"}, onto=onto))
    person = threading.Thread(target=commit_on)
    person.start()
    try:
        for phase in phases:
            until = time.monotonic() + 60
            while not _land_one(shop, RUN, phase):
                assert time.monotonic() < until
        # Landings hold git's lock for most of the time; afterwards a commit succeeds.
        until = time.monotonic() + 60
        while not made:
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        over.set()
        person.join()
    shop.git("checkout", "-q", "HEAD", "--", ".")
    assert [one.phase for one in outcomes(shop.repository, shop.tip(), RUN)] == [str(n) for n in range(8)]
    log = shop.git("log", "--format=%s").splitlines()
    assert [name for name in made if log.count(name) != 1] == []
    assert shop.git("status", "--porcelain", "--untracked-files=no") == ""
    assert (shop.root / "src/app.py").read_text() == "one\n7\n"
    assert shop.fsck() == ""
