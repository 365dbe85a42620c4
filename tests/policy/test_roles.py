"""An agent's permission questions, answered by role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.policy.roles import ROLES, Snapshot, compiled, refusal

if TYPE_CHECKING:
    from asbuilt.policy.roles import Kind, Role

KINDS: tuple[Kind, ...] = ("read", "edit", "run", "fetch", "delegate", "note", "submit", "other")
WRITERS: tuple[Role, ...] = ("implement", "fix")
READERS: tuple[Role, ...] = ("verify", "test", "plan", "critique")


def _of(role: Role, *, held: bool = True) -> Snapshot:
    return compiled(
        role,
        workspace="/s/w",
        home="/s/a/home",
        own=("/s/a/home", "/s/a/out"),
        protected=("/s/w/plans/login.md",),
        hidden=("/s", "/h/.ssh"),
        held=held,
    )


@pytest.mark.parametrize("role", WRITERS)
@pytest.mark.parametrize("path", ["/s/w/a.py", "/s/w/.github/x", "/s/w/.gitignore", "/s/w/CLAUDE.md"])
def test_a_worker_edits_its_workspace(role: Role, path: str) -> None:
    assert refusal(_of(role), "edit", path=path) is None


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "path",
    [
        "",
        "/s/w",
        "/s/w-evil/a",
        "/etc/passwd",
        "/s/w/.git",
        "/s/w/.git/hooks/x",
        "/s/w/plans/login.md",
        "/s/w/.claude/settings.json",
        "/s/w/sub/.claude/hooks/x",
        "/s/w/.mcp.json",
        "/s/w/.husky/pre-commit",
        "/s/a/home/.claude/settings.json",
    ],
)
def test_nobody_edits_what_acts_later_the_plan_or_anything_outside(role: Role, path: str) -> None:
    assert refusal(_of(role), "edit", path=path) is not None


@pytest.mark.parametrize("role", READERS)
def test_a_reader_edits_nothing_and_runs_only_what_the_kernel_holds(role: Role) -> None:
    assert refusal(_of(role), "edit", path="/s/w/a.py") == "This role changes nothing."
    assert (refusal(_of(role), "run", command="pytest -q") is None) == (role != "critique")
    assert refusal(_of(role, held=False), "run", command="ls") is not None
    assert refusal(_of(role), "run", command="echo x > /s/w/a") is not None


def test_a_worker_runs_commands_where_no_kernel_holds_them() -> None:
    assert refusal(_of("implement", held=False), "run", command="pytest -q") is None


@pytest.mark.parametrize("role", ROLES)
def test_everybody_reads_but_secrets_and_our_state_and_nobody_fetches(role: Role) -> None:
    read = {
        path: refusal(_of(role), "read", path=path) for path in ("/usr/include/x.h", "/s/w/a", "/s/a/home/x")
    }
    assert set(read.values()) == {None}
    assert refusal(_of(role), "read", path="/h/.ssh/id") == "Agents may not read /h/.ssh/id."
    assert refusal(_of(role), "read", path="/s/journal.db") == "Agents may not read /s/journal.db."
    assert refusal(_of(role), "fetch") is not None


def test_only_a_verifier_hands_in_a_verdict_and_only_workers_start_helpers() -> None:
    assert {role for role in ROLES if refusal(_of(role), "submit") is None} == {"verify", "test"}
    assert {role for role in ROLES if refusal(_of(role), "delegate") is None} == set(WRITERS)


def test_what_is_not_understood_is_refused() -> None:
    assert refusal(_of("implement"), "other", path="/s/w/a") == "asbuilt does not know this kind of call."


def test_a_command_is_read_from_where_its_shell_stands() -> None:
    assert refusal(_of("implement"), "run", command="touch a", cwd="/s/w/sub") is None
    assert refusal(_of("implement"), "run", command="touch a", cwd="/elsewhere") is not None


@given(st.sampled_from(list(ROLES)), st.sampled_from(KINDS), st.text(), st.text(max_size=200))
def test_every_question_has_an_answer(role: Role, kind: Kind, path: str, command: str) -> None:
    answer = refusal(_of(role), kind, path=path, command=command)
    assert answer is None or answer != ""
