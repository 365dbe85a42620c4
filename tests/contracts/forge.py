"""What every forge must do, told once: subclass `ForgeContract` and give it a `stage`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.errors import ForgeBusy, ForgeFailed
from asbuilt.lifecycle.pull_request.forge import (
    BranchMoved,
    Checks,
    Comment,
    Issue,
    NotMerged,
    Pull,
    Pushed,
    Review,
    Touched,
)
from tests.forge.hub import CheckRun

if TYPE_CHECKING:
    from asbuilt.git.forge.github import GitHub
    from tests.forge.hub import Hub
    from tests.git.shop import Shop

BRANCH = "feat/rate-limit"
MARK = "<!-- asbuilt:issue:01hzy -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A forge whose `main` is the shop's, and the hub behind it, where a test plays everybody else."""

    forge: GitHub
    shop: Shop
    hub: Hub

    def branch(self, files: dict[str, str], name: str = BRANCH) -> str:
        """Make a commit on main and push it to a branch."""
        main = self.shop.tip()
        self.shop.git("checkout", "-q", "-B", "work", main)
        made = self.shop.commit("work", files)
        self.shop.git("checkout", "-q", "main")
        assert self.forge.push(name, made, expected=None) == Pushed(branch=name, commit=made)
        return made

    def opened(self) -> Pull:
        self.branch({"src/limit.py": "limit\n"})
        return self.forge.open(branch=BRANCH, base="main", title="[rate-limit] Limits", body="Body.")

    def land(self, files: dict[str, str]) -> str:
        """Let somebody else move main on the forge."""
        made = self.shop.commit("theirs", files)
        assert isinstance(self.forge.push("main", made, expected=self.hub.tip("main")), Pushed)
        return made


class ForgeContract:
    """Subclasses give `stage`."""

    def test_a_branch_is_put_where_it_is_expected_and_nowhere_else(self, stage: Stage) -> None:
        made = stage.branch({"a.txt": "a\n"})
        second = stage.shop.commit("second")
        other = BranchMoved(branch=BRANCH, found=made)
        assert stage.forge.push(BRANCH, made, expected=None) == Pushed(
            branch=BRANCH, commit=made, already=True
        )
        assert stage.forge.push(BRANCH, second, expected=None) == other
        assert stage.forge.push(BRANCH, second, expected=made) == Pushed(branch=BRANCH, commit=second)
        assert stage.forge.drop(BRANCH, expected=made) == replace(other, found=second)
        assert stage.forge.drop(BRANCH, expected=second) == Pushed(branch=BRANCH, commit=second)
        assert stage.forge.drop(BRANCH, expected=second) == Pushed(branch=BRANCH, commit=second, already=True)
        assert stage.forge.tip(BRANCH) is None

    def test_a_push_whose_answer_is_lost_has_happened(self, stage: Stage) -> None:
        stage.hub.fail("POST", r"git-receive-pack")
        made = stage.branch({"a.txt": "a\n"})
        assert stage.hub.tip(BRANCH) == made

    def test_fetching_brings_the_commits_and_moves_nothing_of_the_users(self, stage: Stage) -> None:
        stage.branch({"a.txt": "a\n"})
        theirs = stage.hub.git("commit-tree", f"{stage.hub.tip(BRANCH)}^{{tree}}", "-m", "theirs")
        stage.hub.git("update-ref", f"refs/heads/{BRANCH}", theirs)
        before = stage.shop.git("for-each-ref", "refs/heads", "refs/remotes")
        assert stage.forge.fetch(BRANCH) == theirs
        assert stage.forge.fetch("nobodys") is None
        assert stage.shop.git("cat-file", "-t", theirs) == "commit"
        assert stage.shop.git("for-each-ref", "refs/heads", "refs/remotes") == before

    def test_a_branch_has_one_pull_request_however_often_it_is_opened(self, stage: Stage) -> None:
        assert stage.forge.find(BRANCH) is None
        stage.hub.thinks_first = True
        opened = stage.opened()
        assert opened == Pull(
            number=1,
            url="http://github.localhost/ada/shop/pull/1",
            branch=BRANCH,
            head=str(stage.hub.tip(BRANCH)),
            base="main",
            title="[rate-limit] Limits",
            body="Body.",
            state="open",
        )
        known = replace(opened, mergeable="yes")
        assert stage.forge.open(branch=BRANCH, base="main", title="other", body="other") == known
        assert stage.forge.find(BRANCH) == known
        assert stage.hub.changes()[-1] == ("POST", "/repos/ada/shop/pulls")
        assert len(stage.hub.pulls) == 1

    def test_an_opening_whose_answer_is_lost_is_found_the_next_time(self, stage: Stage) -> None:
        stage.branch({"a.txt": "a\n"})
        stage.hub.fail("POST", r"/pulls$")
        with pytest.raises(ForgeBusy):
            stage.forge.open(branch=BRANCH, base="main", title="T", body="")
        assert stage.forge.open(branch=BRANCH, base="main", title="T", body="").number == 1
        assert len(stage.hub.pulls) == 1

    def test_after_a_closed_pull_request_another_can_be_opened(self, stage: Stage) -> None:
        first = stage.opened()
        assert stage.forge.close(first.number).state == "closed"
        assert stage.forge.close(first.number).state == "closed"
        assert stage.forge.find(BRANCH) == replace(first, state="closed", mergeable="unknown")
        second = stage.forge.open(branch=BRANCH, base="main", title="T", body="")
        assert (second.number, second.state, stage.forge.find(BRANCH)) == (2, "open", second)

    def test_title_and_body_are_set_only_where_they_differ(self, stage: Stage) -> None:
        opened = stage.opened()
        text = "Grüße\r\n<!-- asbuilt:progress:start -->\n`x`\n"
        assert stage.forge.update(opened.number, body=text) == replace(opened, body=text)
        done = len(stage.hub.changes())
        assert stage.forge.update(opened.number, title=opened.title, body=text).body == text
        assert len(stage.hub.changes()) == done

    def test_checks_are_pending_then_red_with_names_and_the_end_of_the_log_then_green(
        self, stage: Stage
    ) -> None:
        head = stage.opened().head
        assert stage.forge.checks(head) == Checks(state="none")
        stage.hub.check(
            head, CheckRun(name="tests", conclusion=None), CheckRun(name="lint", conclusion="success")
        )
        assert stage.forge.checks(head) == Checks(state="pending", pending=("tests",))
        log = "x" * 7_000 + "\nE assert 1 == 2"
        red = CheckRun(name="tests", conclusion="failure", log=log)
        stage.hub.check(head, red, CheckRun(name="slow", conclusion=None))
        stage.hub.statuses[head] = [{"context": "deploy", "state": "error", "description": "no room"}]
        assert stage.forge.checks(head) == Checks(
            state="red",
            failing=("tests", "deploy"),
            pending=("slow",),
            excerpt=f"tests: {log[-6_000:]}\n\ndeploy: no room",
        )
        stage.hub.statuses[head] = [{"context": "deploy", "state": "success"}]
        stage.hub.check(
            head, *(CheckRun(name=f"shard {number}", conclusion="success") for number in range(130))
        )
        assert stage.forge.checks(head) == Checks(state="green")
        stage.hub.check(
            head, *(CheckRun(name=f"shard {number}", conclusion="success") for number in range(130)),
            CheckRun(name="the last", conclusion="nobody knows this word"),
        )  # fmt: skip
        assert stage.forge.checks(head).failing == ("the last",)

    def test_a_merge_happens_once_and_only_of_the_head_that_was_named(self, stage: Stage) -> None:
        opened = stage.opened()
        other = stage.shop.tip()
        stale = stage.forge.merge(opened.number, head=other)
        assert stale == NotMerged(why=f"Its head is {opened.head[:12]}, not {other[:12]}.")
        merged = stage.forge.merge(opened.number, head=opened.head)
        assert isinstance(merged, Pull)
        assert merged == replace(
            opened, state="merged", mergeable="unknown", merged_as=str(stage.hub.tip("main"))
        )
        assert stage.forge.merge(opened.number, head=opened.head) == merged
        assert [one for one in stage.hub.changes() if one[0] == "PUT"] == [
            ("PUT", f"/repos/ada/shop/pulls/{opened.number}/merge")
        ]

    def test_a_merge_whose_answer_is_lost_is_not_made_twice(self, stage: Stage) -> None:
        opened = stage.opened()
        stage.hub.fail("PUT", r"/merge$")
        with pytest.raises(ForgeBusy):
            stage.forge.merge(opened.number, head=opened.head)
        merged = stage.forge.merge(opened.number, head=opened.head)
        assert isinstance(merged, Pull)
        assert merged.state == "merged"
        assert stage.hub.git("rev-list", "--count", "--merges", "main") == "1"

    def test_what_conflicts_or_is_protected_is_not_merged_and_the_reason_is_told(self, stage: Stage) -> None:
        opened = stage.opened()
        stage.hub.protected = "Required status check is expected."
        assert stage.forge.merge(opened.number, head=opened.head) == NotMerged(
            why="Required status check is expected."
        )
        stage.land({"src/limit.py": "their limit\n"})
        assert stage.forge.pull(opened.number).mergeable == "no"
        assert stage.forge.merge(opened.number, head=opened.head) == NotMerged(
            why="Pull Request is not mergeable"
        )

    def test_a_pull_request_that_a_person_merged_by_a_push_counts_as_merged(self, stage: Stage) -> None:
        opened = stage.opened()
        assert isinstance(stage.forge.push("main", opened.head, expected=stage.shop.tip()), Pushed)
        assert stage.forge.pull(opened.number).state == "merged"

    def test_reviews_and_remarks_are_read_in_order(self, stage: Stage) -> None:
        opened = stage.opened()
        stage.hub.review(opened.number, "CHANGES_REQUESTED", body="not yet")
        stage.hub.review(opened.number, "PENDING")
        stage.hub.review(opened.number, "APPROVED", by="bob")
        stage.hub.remark(opened.number, "src/limit.py", 1, "why?", review=2)
        stage.hub.remark(opened.number, "src/limit.py", 2, "alone")
        assert stage.forge.reviews(opened.number) == (
            Review(id=2, by="eve", state="changes_requested", body="not yet", commit=opened.head,
                   at="2026-01-02T03:04:00Z"),
            Review(id=4, by="bob", state="approved", body="", commit=opened.head, at="2026-01-02T03:04:02Z"),
        )  # fmt: skip
        assert stage.forge.comments(opened.number) == (
            Comment(id=5, by="eve", path="src/limit.py", line=1, body="why?", at="2026-01-02T03:04:05Z",
                    review=2),
            Comment(id=6, by="eve", path="src/limit.py", line=2, body="alone", at="2026-01-02T03:04:05Z"),
        )  # fmt: skip

    def test_only_accounts_that_may_push_may_write(self, stage: Stage) -> None:
        stage.hub.permissions |= {"owner": "admin", "reader": "read", "gone": "none"}
        asked = ("owner", "lead", "reader", "gone", "eve")
        assert [stage.forge.may_write(login) for login in asked] == [True, True, False, False, False]
        stage.hub.fail("GET", "/permission$", status=404)
        assert stage.forge.may_write("nobody") is False

    def test_a_mark_in_a_comment_of_another_account_is_not_ours(self, stage: Stage) -> None:
        number = stage.hub.issue("No limits")
        stage.hub.strangers[number] = [f"Landed already, says eve.\n\n{MARK}"]
        assert [stage.forge.comment(number, "Landed.", mark=MARK) for _ in range(2)] == [True, False]
        assert stage.hub.said[number] == [f"Landed.\n\n{MARK}"]

    def test_open_pull_requests_tell_the_paths_that_they_change(self, stage: Stage) -> None:
        stage.opened()
        main = stage.shop.tip()
        stage.shop.git("checkout", "-q", "-B", "work", main)
        stage.shop.git("mv", "src/app.py", "src/main.py")
        moved = stage.shop.commit("moved")
        stage.forge.push("feat/moved", moved, expected=None)
        stage.forge.open(branch="feat/moved", base="main", title="T", body="")
        expected = (
            Touched(number=1, paths=("src/limit.py",)),
            Touched(number=2, paths=("src/main.py", "src/app.py")),
        )
        assert stage.forge.touched() == expected
        assert stage.forge.touched(base="main") == expected
        assert stage.forge.touched(base="other") == ()

    def test_an_issue_is_commented_on_and_closed_once(self, stage: Stage) -> None:
        number = stage.hub.issue("No limits")
        url = f"http://github.localhost/ada/shop/issues/{number}"
        assert stage.forge.issue(number) == Issue(number=number, title="No limits", is_open=True, url=url)
        stage.hub.said[number] = [f"chat {count}" for count in range(100)]
        stage.hub.fail("POST", r"/comments$")
        with pytest.raises(ForgeBusy):
            stage.forge.comment(number, "Landed.", mark=MARK)
        assert stage.forge.comment(number, "Landed.", mark=MARK) is False
        assert stage.hub.said[number][100:] == [f"Landed.\n\n{MARK}"]
        assert (stage.forge.close_issue(number), stage.forge.close_issue(number)) == (True, False)
        assert stage.hub.issues[number].state == "closed"

    def test_a_pull_request_and_a_number_that_nobody_has_are_no_issues(self, stage: Stage) -> None:
        opened = stage.opened()
        assert stage.forge.issue(opened.number) is None
        assert stage.forge.issue(999) is None
        assert stage.forge.close_issue(999) is False

    @pytest.mark.parametrize(
        ("status", "headers", "again_s"),
        [
            (502, {}, None),
            (503, {"Retry-After": "7"}, 7.0),
            (429, {"Retry-After": "60"}, 60.0),
            (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767323145",
                   "Date": "Fri, 02 Jan 2026 03:05:00 GMT"}, 45.0),
        ],
    )  # fmt: skip
    def test_a_rate_limit_and_a_trouble_of_the_forge_may_pass(
        self, stage: Stage, status: int, headers: dict[str, str], again_s: float | None
    ) -> None:
        stage.hub.fail("GET", r"/issues/1$", status=status, headers=headers)
        with pytest.raises(ForgeBusy) as caught:
            stage.forge.issue(1)
        assert caught.value.again_s == again_s
        assert stage.forge.issue(1) is None

    def test_what_may_not_be_done_is_told_in_the_forges_words(self, stage: Stage) -> None:
        stage.hub.fail(
            "GET", r"/pulls/1$", status=403, message="Resource not accessible by personal access token"
        )
        with pytest.raises(ForgeFailed) as caught:
            stage.forge.pull(1)
        assert not isinstance(caught.value, ForgeBusy)
        assert caught.value.why == "It said: Resource not accessible by personal access token"
