"""Outcome commits are the same whenever the facts are, and are found again by their trailers."""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.errors import GitFailed, NotLanded, UsageWrong
from asbuilt.git.commits import (
    Outcome,
    Person,
    advance,
    author_of,
    commit_tree,
    message_for,
    outcomes,
    read_commit,
    signs,
    trailer,
)
from asbuilt.git.landing.candidates import Candidate, hold, pick
from asbuilt.git.repository import plan_branch
from tests.git.shop import ADA, AT, RUN, Shop, environment, user_state

if TYPE_CHECKING:
    from pathlib import Path


def test_the_author_is_who_git_says_the_user_is(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody else")
    found = author_of(shop.repository)
    assert (found.name, found.email) == ("Ada", "ada@example.com")
    shop.git("config", "user.name", "Ada of the shop")
    assert author_of(shop.repository).name == "Ada of the shop"
    (shop.home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    shop.git("config", "--unset", "user.name")
    with pytest.raises(GitFailed, match="git does not know who you are"):
        author_of(shop.repository)


def test_the_same_facts_make_the_same_commit(shop: Shop) -> None:
    zone = timezone(timedelta(hours=-5, minutes=-30))
    author = Person(name="Ünï", email="u@x", at=datetime(2026, 3, 4, 5, 6, 7, tzinfo=zone))
    message = message_for(
        "Add  a\nlimit", "Body.\n\nAsbuilt-Run: forged\n", Asbuilt_Run=RUN, Asbuilt_Phase="2a"
    )
    tree = shop.git("rev-parse", "HEAD^{tree}")
    made = {
        commit_tree(shop.repository, tree, parents=(shop.tip(),), author=author, message=message)
        for _ in range(3)
    }
    assert len(made) == 1
    found = read_commit(shop.repository, made.pop())
    assert (found.tree, found.parents, found.author, found.committer) == (tree, (shop.tip(),), author, author)
    assert found.message == (
        b"Add a limit\n\nBody.\n\nAsbuilt-Run: forged\n\nAsbuilt-Run: 01hzy.rate-limit\nAsbuilt-Phase: 2a\n"
    )
    assert (found.subject, trailer(found.message, "Asbuilt-Run")) == ("Add a limit", RUN)


@pytest.mark.parametrize("value", ["", "a\nAsbuilt-Run: b", "a\rb", "a\0b"])
def test_a_trailer_is_one_line(value: str) -> None:
    with pytest.raises(UsageWrong):
        message_for("subject", Asbuilt_Run=value)


def test_hooks_of_the_user_are_not_run_by_our_commits(shop: Shop, tmp_path: Path) -> None:
    for name in ("pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "reference-transaction"):
        hook = shop.root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\nexit 1\n")
        hook.chmod(0o755)
    new = commit_tree(
        shop.repository,
        shop.git("rev-parse", "HEAD^{tree}"),
        parents=(shop.tip(),),
        author=ADA,
        message=b"x\n",
    )
    advance(shop.repository, "cp-rate-limit", new=new, old=None)
    assert shop.tip("cp-rate-limit") == new
    assert not (tmp_path / "ran").exists()


def test_a_plans_branch_moves_only_from_where_it_was(shop: Shop) -> None:
    first = shop.phase("1", {"a.py": "1\n"})
    second = shop.phase("2", {"b.py": "2\n"}, onto=first)
    before = user_state(shop)
    advance(shop.repository, "cp-rate-limit", new=first, old=None)
    advance(shop.repository, "cp-rate-limit", new=first, old=None)
    with pytest.raises(NotLanded, match="cp-rate-limit was moved by another process"):
        advance(shop.repository, "cp-rate-limit", new=second, old=shop.tip())
    with pytest.raises(NotLanded, match="cp-rate-limit was moved by another process"):
        advance(shop.repository, "cp-rate-limit", new=second, old=None)
    advance(shop.repository, "cp-rate-limit", new=second, old=first)
    assert shop.tip("cp-rate-limit") == second
    shop.git("switch", "-q", "cp-rate-limit")
    with pytest.raises(NotLanded, match="cp-rate-limit is checked out in"):
        advance(shop.repository, "cp-rate-limit", new=shop.phase("3", {"c": "3\n"}), old=second)
    shop.git("switch", "-q", "main")
    shop.git("branch", "-qD", "cp-rate-limit")
    assert user_state(shop) == before


def test_commits_are_found_by_trailers_and_reverts_by_any_hand_count(shop: Shop) -> None:
    first = shop.phase("1", {"a.py": "1\n"})
    second = shop.phase("2", {"b.py": "2\n"}, onto=first)
    other = shop.phase("1", {"c.py": "3\n"}, onto=second, run="01other")
    shop.git("merge", "-q", "--ff-only", other)
    shop.commit(f"A text that names it\n\nAsbuilt-Run: {RUN}\n\nand goes on")
    shop.git("revert", "--no-edit", first)
    assert outcomes(shop.repository, shop.tip(), RUN) == (
        Outcome(commit=first, run=RUN, phase="1", undone=True),
        Outcome(commit=second, run=RUN, phase="2", undone=False),
    )
    assert outcomes(shop.repository, shop.tip(), RUN, since=first) == (
        Outcome(commit=second, run=RUN, phase="2", undone=False),
    )
    assert outcomes(shop.repository, shop.tip(), "01other")[0].commit == other
    for odd in (".*", "01", RUN + ".1", "", "--all"):
        assert outcomes(shop.repository, shop.tip(), odd) == ()


def test_a_reverted_merge_reverts_what_it_brought_and_the_revert_of_a_revert_brings_it_back(
    shop: Shop,
) -> None:
    first = shop.phase("1", {"a.py": "1\n"})
    second = shop.phase("2", {"b.py": "2\n"}, onto=first)
    shop.git("merge", "-q", "--ff-only", first)
    shop.commit("theirs")
    shop.git("merge", "-q", "--no-ff", "-m", "by hand", second)

    def undone() -> list[bool]:
        return [outcome.undone for outcome in outcomes(shop.repository, shop.tip(), RUN)]

    shop.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert undone() == [False, True]
    shop.git("revert", "--no-edit", "HEAD")
    assert undone() == [False, False]
    shop.git("revert", "--no-edit", "HEAD")
    assert undone() == [False, True]


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_what_lands_is_signed_when_the_user_signs_and_a_repeat_is_the_same(shop: Shop, kind: str) -> None:
    key = shop.home / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "ada", "-f", str(key)],  # noqa: S607
        check=True,
        env=environment(shop.home),
    )
    assert not signs(shop.repository)
    (shop.home / "signers").write_text(f"ada@example.com {key.with_suffix('.pub').read_text()}")
    for name, value in {
        "commit.gpgSign": "true",
        "gpg.format": "ssh",
        "user.signingKey": str(key),
        "gpg.ssh.allowedSignersFile": str(shop.home / "signers"),
    }.items():
        shop.git("config", "--global", name, value)
    assert signs(shop.repository)
    proven = shop.phase("1", {"a.py": "1\n"})
    candidates = []
    for _ in range(2):
        found = pick(shop.repository, onto=shop.tip(), commits=[proven], run=RUN, sign=True)
        assert isinstance(found, Candidate)
        hold(shop.repository, RUN, found)
        candidates.append(found)
    assert candidates[0] == candidates[1]
    assert candidates[0].tip != proven
    shop.git("verify-commit", candidates[0].tip)
    assert replace(read_commit(shop.repository, candidates[0].tip), name=proven) == read_commit(
        shop.repository, proven
    )


def test_a_merge_is_not_picked(shop: Shop) -> None:
    shop.git("switch", "-q", "-c", "side")
    shop.commit("side", {"x": "x\n"})
    shop.git("switch", "-q", "main")
    shop.commit("main", {"y": "y\n"})
    shop.git("merge", "-q", "--no-edit", "side")
    with pytest.raises(GitFailed, match="has no single parent"):
        pick(shop.repository, onto=shop.tip(), commits=[shop.tip()], run=RUN)


def test_a_persons_date_is_kept_with_its_zone() -> None:
    assert [
        Person(name="a", email="b", at=AT.astimezone(timezone(timedelta(minutes=minutes)))).date
        for minutes in (0, 330, -570)
    ] == ["@1767323045 +0000", "@1767323045 +0530", "@1767323045 -0930"]


def test_a_plans_branch_is_below_asbuilt_unless_such_a_branch_or_an_older_one_exists(shop: Shop) -> None:
    assert plan_branch(shop.repository, "login") == "asbuilt/login"
    shop.git("branch", "asbuilt")
    assert plan_branch(shop.repository, "login") == "asbuilt-login"
    advance(shop.repository, "asbuilt-login", new=shop.tip(), old=None)
    shop.git("branch", "-D", "asbuilt")
    assert plan_branch(shop.repository, "login") == "asbuilt-login"
    shop.git("branch", "cp-audit")
    assert plan_branch(shop.repository, "audit") == "cp-audit"
