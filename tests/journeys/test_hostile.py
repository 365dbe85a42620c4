from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, ChecksDone, TreeRefused
from tests.journeys.shop import killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
GREET = '{ write = "greet.py", text = "print(\'hello\')\\n" }'
PHASE_1 = 'phase = "1"\nrole = "implement"'
NAMES = (
    "-rf",
    "a b",
    "new\nline",
    "quote\"'`$(touch pwned)",
    "ünïcode→",
    "x" * 200,
    "*",
    ":(top)magic",
    "\\n",
)


def _run(command: str) -> str:
    return "{ run = '''" + command + "''' }"


def test_an_agent_that_swaps_the_git_file_of_its_workspace_runs_nothing_of_its_own(shop: Shop) -> None:
    evil, pwned = shop.home.parent / "evil", shop.home.parent / "pwned"
    shop.turn(
        PHASE_1,
        GREET,
        _run(
            f"git init -q {evil} && git -C {evil} config core.fsmonitor 'touch {pwned} #' && rm -rf .git"
            f" && printf 'gitdir: {evil}/.git\\n' > .git && git status > /dev/null"
        ),
        _run(f"ls {pwned} && rm {pwned}"),
    )
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start(ASBUILT_TEST_NO_RING="1")
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Mark plan.md", "Greet", "start"]
    told = [list(one.failures) for one in shop.events(ChecksDone)]
    assert [failure.partition(":")[0] for failure in told[0]] == ["the workspace's .git"]
    assert told[1:] == [[]]
    events = (shop.attempt(run, "1.1") / "events.jsonl").read_text(encoding="utf-8")
    assert f"exit 0: {pwned}" in events
    assert not pwned.exists()


@killed_at("tree.kept", "landing.intended", "landing.done")
def test_strange_names_of_branch_plan_and_files_are_names_and_nothing_else(shop: Shop, point: str) -> None:
    shop.rename_plan('plan\'s dir/-p "lan"\nü.md')
    shop.git("branch", "-m", "größe/-x'y\"")
    toml = [name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for name in NAMES]
    shop.turn(PHASE_1, GREET, *(f'{{ write = "odd/{name}", text = "odd" }}' for name in toml))
    shop.lands("greet.py", shop.plan, *(f"odd/{name}" for name in NAMES), on="größe/-x'y\"")
    run = shop.request(mode="phase", branch="größe/-x'y\"", scope={"links": "note"})
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert {path.name for path in (shop.checkout / "odd").iterdir()} == set(NAMES)
    assert "- [x] `greet.py`" in (shop.checkout / shop.plan).read_text(encoding="utf-8")


def test_a_file_in_the_way_whose_name_is_no_text_is_named_and_stays(shop: Shop) -> None:
    odd = os.fsdecode(b"\xff" * 180)
    shop.write(odd, "mine")
    shop.turn(PHASE_1, GREET, _run(f"printf odd > $(printf '{chr(92)}377%.0s' $(seq 180))"))
    run = shop.request(mode="phase")
    shop.start()
    state, reason = shop.over(run)
    assert state == "failed"
    assert r"\udcff\udcff" in reason


@pytest.mark.parametrize("branch", ["-x", "a..b", "x\ny", "", "HEAD", "x" * 2_000, "refs/heads/main"])
def test_a_branch_that_is_none_ends_the_run_with_words(shop: Shop, branch: str) -> None:
    run = shop.request(mode="phase", branch=branch)
    shop.start()
    state, reason = shop.over(run)
    assert (state, "Next:" in reason) == ("failed", True)


def test_a_repository_inside_the_workspace_is_kept_and_landed_as_files(shop: Shop) -> None:
    commands = (
        "git init -q inner && echo one > inner/one.txt && git -C inner add . &&"
        " git -C inner -c user.name=a -c user.email=b commit -qm inner && git -C inner status --short"
    )
    shop.turn(PHASE_1, GREET, _run(commands))
    shop.lands("greet.py", "plan.md", "inner/one.txt")
    run = shop.request(mode="phase")
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert (shop.checkout / "inner" / "one.txt").read_text(encoding="utf-8") == "one\n"
    assert not (shop.checkout / "inner" / ".git").exists()


@killed_at("tree.refused", "approval.asked", "run.parked")
def test_a_file_over_the_cap_parks_the_run_with_words_until_a_person_made_room(
    shop: Shop, point: str
) -> None:
    shop.turn(PHASE_1, GREET, _run("truncate -s 52M big.bin"))
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    shop.until(lambda: shop.run(run).state == "waiting")
    big = shop.home / "workspaces" / "6f9c" / run / "plan.1" / "big.bin"
    (question,) = shop.answer(run, "yes")
    assert question.startswith(
        "the attempt's files are too large to keep: big.bin (54 MB). Remove them from "
    )
    shop.until(lambda: len(shop.events(TreeRefused)) == 2)
    big.unlink()
    shop.until(lambda: shop.run(run).state == "waiting")
    assert shop.answer(run, "yes") == [question]
    assert shop.over(run) == ("landed", "")
    assert len(shop.events(AttemptBegun)) == 1


@pytest.mark.parametrize(
    "command",
    [
        "mv plans old && mkdir plans && echo mine > plans/plan.md",
        "rm -r plans && ln -s {outside} plans",
        "rm -r plans && echo a file > plans",
        "rm plans/plan.md && mkdir plans/plan.md && echo mine > plans/plan.md/x",
    ],
)
@pytest.mark.parametrize("tracked", [True, False])
def test_whatever_an_agent_does_around_the_plan_it_comes_out_as_it_was(
    shop: Shop,
    command: str,
    tracked: bool,  # noqa: FBT001
) -> None:
    outside = shop.home.parent / "outside"
    outside.mkdir()
    (outside / "plan.md").write_text("theirs", encoding="utf-8")
    shop.rename_plan("plans/plan.md")
    if not tracked:
        shop.git("rm", "-q", "--cached", "plans/plan.md")
        shop.git("commit", "-qm", "the plan is mine")
    text = (shop.checkout / shop.plan).read_text(encoding="utf-8")
    shop.turn(PHASE_1, GREET, _run("mkdir -p plans; touch plans/plan.md; " + command.format(outside=outside)))
    shop.lands("greet.py", "plans/plan.md", *(["old/plan.md"] if "old" in command else []))
    run = shop.request(mode="phase", scope={"links": "note"})
    shop.start(ASBUILT_TEST_NO_RING="1")
    end = shop.over(run)
    if not tracked and ("-s" in command or "a file" in command):
        # A folder of the person's is where the agent's file would go.
        assert (end[0], "plans" in end[1]) == ("failed", True)
        assert (shop.checkout / shop.plan).read_text(encoding="utf-8") == text
    else:
        assert end == ("landed", "")
        told = [failure for one in shop.events(ChecksDone) for failure in one.failures]
        assert [failure.partition(":")[0] for failure in told] == ["plans/plan.md"] * tracked
        lines = (shop.checkout / shop.plan).read_text(encoding="utf-8").splitlines()
        assert [a for a, b in zip(lines, text.splitlines(), strict=True) if a != b] == [
            f"- [x] `greet.py` says hello ({_landed(shop)})"
        ]
    assert Path(outside, "plan.md").read_text(encoding="utf-8") == "theirs"


def _landed(shop: Shop) -> str:
    return shop.git("log", "-1", "--format=%H", "--grep=^Greet", "main")[:10]
