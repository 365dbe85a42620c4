"""What looking tells: the one sentence, why, and names; and that nobody's text can break a screen."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from click.shell_completion import ShellComplete
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.cli.shell.addresses import Named, named
from asbuilt.cli.shell.app import COMPLETE_VARIABLE, root
from asbuilt.events.authoring import StageJudged
from asbuilt.events.event import Unknown
from asbuilt.events.landings import LandingUndone
from asbuilt.events.options import RunOptions
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.library.repository_discovery import find_repository, identity_of
from tests.cli.nights import PHASES, REPO, Night
from tests.cli.plans import RATE_LIMIT, put
from tests.cli.screens import a_night, printed, shown

if TYPE_CHECKING:
    from pathlib import Path


def _why(night: Night, name: str = "rate-limit") -> str:
    return shown(night, ("status", name), "plain", 80)


def test_long_names_of_plans_are_told_apart_by_their_ends(quiet: Night) -> None:
    for slug in ("greet-customers-name", "greet-customers-name-2"):
        quiet.plan(slug, "20:00:00").over("20:31:00", "stopped", "")
        (quiet.shop / "plans" / f"{slug}.md").write_text("# Greet\n", encoding="utf-8")
    assert shown(quiet, ("status",), "plain", 80) == snapshot("""\
exit 0
--- stdout
  PLAN          STATE                      PHASES  WAITS FOR               COST
– greet-…name-2 stopped 21:31              0 of 4
– greet-…s-name stopped 21:31              0 of 4
--- stderr
Next: asbuilt run greet-customers-name-2
  or  see what happened: asbuilt log greet-customers-name-2
""")


def test_the_stages_of_an_authoring_are_accepted_and_not_done_by_a_mark(quiet: Night) -> None:
    stages = {"alternatives": ("Weigh the options", []), "draft": ("Write the plan", ["alternatives"])}
    story = quiet.plan("exports", "21:25:00", stages, kind="author")
    judged = StageJudged(
        phase="alternatives", number=1, outcome="accepted", stage="alternatives", round=1, text="sha256:0",
        due="draft",
    )  # fmt: skip
    story.append("21:26:00", judged, "alternatives/judged")
    rows = shown(quiet, ("status", "exports"), "plain", 80).splitlines()
    assert rows[2:5] == snapshot(
        [
            "exports   running, 1 of 2 phases done (50%)",
            "✓ alternatives Weigh the options          accepted",
            "○ draft        Write the plan             ready",
        ]
    )


def test_what_is_held_waits_for_a_person(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "20:00:00", auto=False)
    story.prove("20:30:00", "1", "4f1c9a2")
    story.over("20:31:00", "held", "proven; landing was not requested")
    assert _why(quiet) == snapshot("""\
exit 0
--- stdout
rate-limit   held, 1 of 4 phases proven, not landed, next 2a
✓ 1   Token bucket               proven 4f1c9a2             21:30
○ 2a  Redis store                ready
○ 2b  Limits per API key         ready
○ 3   Middleware and 429         needs 2a, 2b
Proven 21:31, not landed.
--- stderr
Next: asbuilt run rate-limit --finish
  or  land it now: asbuilt land rate-limit
""")
    assert shown(quiet, ("status", "rate-limit"), "plain", 80) == snapshot("""\
exit 0
--- stdout
rate-limit   held, 1 of 4 phases proven, not landed, next 2a
✓ 1   Token bucket               proven 4f1c9a2             21:30
○ 2a  Redis store                ready
○ 2b  Limits per API key         ready
○ 3   Middleware and 429         needs 2a, 2b
Proven 21:31, not landed.
--- stderr
Next: asbuilt run rate-limit --finish
  or  land it now: asbuilt land rate-limit
""")


def test_what_has_come_by_a_pull_request_is_not_taken_back_here(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "18:00:00", landing="pr")
    story.prove("18:30:00", "1", "4f1c9a2")
    story.land("18:31:00", **{"1": "4f1c9a2"})
    assert shown(quiet, ("land", "rate-limit", "--undo"), "plain", 80) == snapshot("""\
exit 4
--- stderr
error: rate-limit has landed by a pull request, and only another pull request
       reverts it
  Why:  A revert in this clone would not reach the branch at the forge.
  Next: Revert it at the forge; then open each phase again:
        asbuilt plan mark rate-limit 1 pending
""")
    assert shown(quiet, ("status", "rate-limit"), "plain", 80).splitlines()[2] == snapshot(
        "rate-limit   landed, 1 of 4 phases done (25%), next 2a"
    )


def test_after_an_undo_the_phases_are_open_again(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "18:00:00")
    story.prove("18:30:00", "1", "4f1c9a2")
    story.land("18:31:00", **{"1": "4f1c9a2"})
    undo = quiet.plan("rate-limit", "19:00:00", kind="undo")
    undo.append("19:01:00", LandingUndone(commits=("4f1c9a2".ljust(40, "0"),)), "undone")
    undo.over("19:01:00", "undone")
    assert shown(quiet, ("status", "rate-limit"), "plain", 80) == snapshot("""\
exit 0
--- stdout
rate-limit   undone, 0 of 4 phases done (0%), next 1
○ 1   Token bucket               ready
○ 2a  Redis store                needs 1
○ 2b  Limits per API key         needs 1
○ 3   Middleware and 429         needs 2a, 2b
Reverted on main 20:01; the plan is open again.
--- stderr
Next: asbuilt run rate-limit
""")


def test_a_phase_that_was_stopped_is_the_next_one_again(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "18:00:00")
    story.prove("18:30:00", "1", "4f1c9a2")
    story.begin("18:31:00", "2a")
    story.over("18:32:00", "stopped", "")
    assert shown(quiet, ("status", "rate-limit"), "plain", 80).splitlines()[2:6] == snapshot(
        [
            "rate-limit   stopped, 1 of 4 phases proven, not landed, next 2a",
            "✓ 1   Token bucket               proven 4f1c9a2             19:30",
            "– 2a  Redis store                stopped, work kept         19:31",
            "○ 2b  Limits per API key         ready",
        ]
    )


def test_a_log_that_has_nothing_of_what_was_asked_for_says_so(quiet: Night) -> None:
    quiet.plan("rate-limit", "18:00:00").over("18:31:00", "stopped", "")
    assert shown(quiet, ("log", "rate-limit", "--phase", "9"), "plain", 80) == snapshot("""\
exit 0
--- stdout
No matching events.
--- stderr
Next: asbuilt log rate-limit
""")


def test_a_plan_that_was_found_complete_again_is_as_proven_as_before(quiet: Night) -> None:
    one = {"1": PHASES["1"]}
    story = quiet.plan("rate-limit", "18:00:00", one)
    story.prove("18:30:00", "1", "4f1c9a2")
    story.land("18:31:00", **{"1": "4f1c9a2"})
    quiet.plan("rate-limit", "19:00:00", one).over("19:01:00", "done", "every phase is done")
    assert shown(quiet, ("status",), "plain", 80).splitlines()[3] == snapshot(
        "✓ rate-limit    landed 19:31               1 of 1"
    )


def test_runs_that_never_began_leave_the_phases_in_sight(quiet: Night) -> None:
    quiet.plan("rate-limit", "18:00:00").over("18:31:00", "stopped", "")
    address = Address(LOCAL, REPO, "plans/rate-limit.md")
    for number in ("a", "b", "c"):
        with quiet.store.write() as session:
            asked = runs.request(
                session,
                address,
                run=number,
                slug="rate-limit",
                options=RunOptions(slug="rate-limit"),
                actor="ann",
            )
            runs.set_state(session, asked, "failed")
    assert shown(quiet, ("status", "rate-limit"), "plain", 80).splitlines()[2:4] == snapshot(
        ["rate-limit   failed, 0 of 4 phases done (0%), next 1", "○ 1   Token bucket               ready"]
    )


def test_times_are_shown_in_the_zone_that_was_chosen(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "18:00:00")
    story.over("18:31:00", "stopped", "")
    config = quiet.home.path.parent / ".config" / "asbuilt"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[time]\nzone = "Etc/GMT+3"\n', encoding="utf-8")
    assert "stopped 15:31" in shown(quiet, ("status",), "plain", 80)
    (config / "config.toml").write_text('[time]\nzone = "Nowhere/Here"\n', encoding="utf-8")
    assert shown(quiet, ("status",), "plain", 80) == snapshot("""\
exit 2
--- stderr
error: "Nowhere/Here" is not a zone that this machine knows
  Why:  Times would be those of another place, and a schedule could fire at the
        wrong hour.
  Next: asbuilt config set time.zone Europe/Prague
        # with yours
    or  see who sets it: asbuilt config show --origin
""")


def test_commands_show_times_in_the_zone_that_was_chosen_and_store_them_in_utc(quiet: Night) -> None:
    quiet.plan("rate-limit", "18:00:00").over("18:31:00", "stopped", "")
    put(quiet.shop, retry=RATE_LIMIT)
    zone = {"ASBUILT_TIME_ZONE": "Etc/GMT+3"}
    assert "Stopped Fri 13 Nov 15:31" in printed(quiet, "status", "rate-limit", **zone)
    assert printed(quiet, "claim", "acquire", "retry", "--owner", "me", **zone).startswith("exit 0\n")
    assert printed(quiet, "plan", "mark", "retry", "--complete", **zone).startswith("exit 0\n")
    listed = json.loads(printed(quiet, "claim", "list", "--json", **zone).split("\n", 2)[2])
    (held,) = (claim["since"] for claim in listed["claims"])
    with quiet.store.read() as session:
        stored = {str(row["at"]) for row in session.rows("SELECT at FROM events")}
    marked = re.findall(r"\d{4}-\d\d-\d\dT\S+", (quiet.shop / "plans" / "retry.md").read_text())
    assert marked
    now = datetime.now(UTC)
    assert all(abs(now - datetime.fromisoformat(when)) < timedelta(minutes=2) for when in (held, *marked))
    assert {when[-1] for when in (held, *marked, *stored)} == {"Z"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rate-limit", Named("rate-limit")),
        ("rate-limit.1", Named("rate-limit", 1)),
        ("rate-limit.1.2a", Named("rate-limit", 1, "2a")),
        ("rate-limit.1.2a.2v", Named("rate-limit", 1, "2a", "2v")),
        ("plans/rate-limit.md", Named("plans/rate-limit.md")),
        ("rate-limit.0", Named("rate-limit.0")),
    ],
)
def test_an_address_is_taken_apart_at_its_dots(text: str, name: Named) -> None:
    assert named(text) == name


@given(st.text(max_size=20))
def test_any_text_is_an_address_of_something(text: str) -> None:
    name = named(text)
    parts = [name.plan, *(str(part) for part in name[1:4] if part is not None)]
    assert (f"{name.repo}:" if name.repo else "") + ".".join(parts) == text


def test_addresses_are_completed_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_night() as night:
        monkeypatch.setenv("ASBUILT_HOME", str(night.home.path))
        monkeypatch.chdir(night.shop)

        def offered(incomplete: str) -> list[str]:
            completion = ShellComplete(root, {}, "asbuilt", COMPLETE_VARIABLE)
            return [item.value for item in completion.get_completions(["status"], incomplete)]

        assert offered("") == snapshot(["rate-limit", "retry", "login-audit", "importer", "ci-cache"])
        assert offered("r") == snapshot(["rate-limit", "retry"])
        assert offered("rate-limit.") == snapshot(["rate-limit.1"])
        assert offered("rate-limit.1.") == snapshot(["rate-limit.1.2a", "rate-limit.1.1"])
        assert offered("rate-limit.1.2a.") == snapshot(["rate-limit.1.2a.1"])


@pytest.mark.parametrize(
    "text",
    [
        "[asbuilt]\n\trepository = 5b0c\n",
        "[core]\n\tbare = false\n[ASBUILT] REPOSITORY=5b0c\n",
        '[asbuilt]\nrepository = "5b0c" ; by hand\n',
        "[asbuilt]\n\tother = 1\n",
        '[asbuilt "sub"]\n\trepository = 5b0c\n',
        "",
    ],
)
def test_the_identity_is_read_as_git_reads_it(shop: Path, text: str) -> None:
    (shop / ".git" / "config").write_text(text, encoding="utf-8")
    asked = subprocess.run(
        ["git", "-C", shop, "config", "--local", "--get", "asbuilt.repository"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    repository = find_repository(shop)
    assert repository is not None
    assert identity_of(repository) == (asked.stdout.strip() or None)


def test_what_two_plans_share_names_neither(quiet: Night) -> None:
    quiet.plan("rate-limit", "21:20:00")
    quiet.plan("rate-limit-keys", "21:30:00")
    assert shown(quiet, ("status", "rate-lim"), "plain", 80) == snapshot("""\
exit 2
--- stderr
error: "rate-lim" is part of 2 plans: plans/rate-limit-keys.md,
       plans/rate-limit.md
  Why:  Several plans match.
  Next: asbuilt status plans/rate-limit-keys.md
""")


def test_of_two_runs_under_way_one_has_to_be_named(quiet: Night) -> None:
    quiet.plan("rate-limit", "21:20:00")
    quiet.plan("importer", "21:30:00")
    assert shown(quiet, ("watch",), "plain", 80) == snapshot("""\
exit 2
--- stderr
error: several plans match: importer, rate-limit
  Why:  asbuilt watch works without a name only if one plan matches.
  Next: asbuilt watch importer
""")


def test_a_log_is_shown_by_the_page_from_its_end(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "21:20:00")
    for number in range(1, 400):
        toy = Unknown(name="toy", number=1, data={"phase": "1" if number % 2 else "2a"})
        story.append("21:22:00", toy, f"toy/{number}")

    def page(*arguments: str) -> tuple[int, list[int], int | None]:
        exit_, _, answer = shown(quiet, ("log", "rate-limit", "--json", *arguments), "plain", 80).split(
            "\n", 2
        )
        told = json.loads(answer)
        assert exit_ == "exit 0"
        numbers = [event["seq"] for event in told["events"]]
        return len(numbers), [numbers[0], numbers[-1]] if numbers else [], told["earlier"]

    assert page() == (200, [207, 406], 207)
    assert page("--before", "207") == (200, [7, 206], 7)
    assert page("--before", "7") == (6, [1, 6], None)
    assert page("--phase", "1") == (200, [8, 406], 8)
    assert page("--phase", "1", "--before", "8") == (0, [], None)
    assert shown(quiet, ("log", "rate-limit", "--phase", "1"), "plain", 80).endswith(
        "--- stderr\nNext: asbuilt log rate-limit --phase 1 --before 8\n"
    )


def test_a_name_is_found_among_more_plans_than_are_looked_through_for_its_parts(quiet: Night) -> None:
    (quiet.shop / "plans" / "rate-limit.md").unlink()
    quiet.plan("rate-limit", "21:20:00")
    with quiet.store.write() as session:
        session.run(
            "WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < :last)"
            " INSERT INTO heads (org, repo, plan, slug, seq, epoch, runs, state, changed_at)"
            " SELECT :org, :repo, 'plans/p' || i || '.md', 'p' || i, 0, 0, 0, 'known', :at FROM number",
            last=1_000, org=LOCAL, repo=REPO, at="2099-12-31T00:00:00.000Z",
        )  # fmt: skip
    assert shown(quiet, ("status", "rate-limit"), "plain", 80).startswith("exit 0\n")
    assert shown(quiet, ("status", "rate-li"), "plain", 80).startswith("exit 3\n")
    assert shown(quiet, ("status", "p1000"), "plain", 80).startswith("exit 3\n")


def test_a_process_that_has_looked_leaves_the_journal_as_one_file() -> None:
    with a_night() as night:
        night.close()
        before = sorted(night.home.path.iterdir())
        done = subprocess.run(
            [sys.executable, "-m", "asbuilt", "status"],
            cwd=night.shop,
            env={"HOME": str(night.shop), "ASBUILT_HOME": str(night.home.path)},
            capture_output=True,
            check=True,
        )
        assert done.stdout
        assert sorted(night.home.path.iterdir()) == before
