"""Paths of the board's pages. They stay the same, so that a notification can carry one."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

from asbuilt.journal.approvals import Approval
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.notify import questions_path


def plan_path(repo: str, plan: str) -> str:
    """Return the path of a plan's page. Its file's name may have any character, so it is encoded."""
    return f"/plan/{repo}/{urlsafe_b64encode(plan.encode('utf-8', 'surrogateescape')).decode().rstrip('=')}"


def phase_path(repo: str, plan: str, phase: str) -> str:
    """Return the path of a phase's page."""
    return f"{plan_path(repo, plan).replace('/plan/', '/phase/', 1)}/{phase}"


def plan_in(encoded: str) -> str:
    """Return the plan of a path; raises `ValueError` for one that is none."""
    return urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8", "surrogateescape")


def run_path(run: Run) -> str:
    """Return the path of a run's page."""
    return f"/run/{run.repo}/{run.run}"


def attempt_path(repo: str, attempt: str) -> str:
    """Return the path of an attempt's page; a verifier's attempt ends with `v`."""
    return f"/attempt/{repo}/{attempt}"


def question_path(repo: str, asked: Approval) -> str:
    """Return the path of a question's page."""
    return f"{questions_path(repo)}{asked.name}"
