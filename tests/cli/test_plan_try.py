"""`plan check --try` runs a plan's checks before the work; the checkout stays as it is."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN = """\
# Limits

## Phase 1 — Bucket

### Verification

- `test -s bucket.txt`
- `test -s file.txt`

## Phase 2 — Store

### Verification

- `test -s file.txt`

## Phase 3 — Docs

### Verification

- `pyest -q`
"""


def git(shop: Path, *words: str) -> str:
    who = ["-c", "user.name=you", "-c", "user.email=you@shop.test"]
    done = subprocess.run(["git", *who, *words], cwd=shop, check=True, capture_output=True, text=True)  # noqa: S607
    return done.stdout


@pytest.fixture
def committed(shop: Path) -> Path:
    put(shop, limits=PLAN)
    (shop / "file.txt").write_text("as it is\n")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "all")
    (shop / "bucket.txt").write_text("not committed, so no check sees it\n")
    return shop


def test_each_check_is_told_by_what_it_does_before_the_work(
    asbuilt: Callable[..., str], committed: Path
) -> None:
    before = (git(committed, "status", "--porcelain"), (committed / ".git/config").read_text())
    assert asbuilt("plan", "check", "limits", "--try") == snapshot("""\
exit 1
--- stdout
plans/limits.md:14: warning: `test -s file.txt` passes before the work, so it proves nothing of phase 2
  Add a command that fails until the phase is done. [proves-nothing]
plans/limits.md:20: error: `pyest -q` of phase 3 cannot run: pyest is not installed
  Name an installed program, or install it in checks.setup. [no-program]
○ 1   absent      test -s bucket.txt: bucket.txt is not there yet
! 1   passes      test -s file.txt: exit 0 without any of the work
! 2   passes      test -s file.txt: exit 0 without any of the work
✗ 3   no program  pyest -q: pyest is not installed
  failed    check
  command   pyest -q
  where     a clean checkout of tree 01a15b7
  result    exit 127
  | sh: 1: exec: pyest: not found
  cause     The sandbox has no program pyest that can be started.
Tried 4 checks: 1 fails before the work, as it should; 2 pass before the work
and can prove nothing; 1 cannot run.
1 error, 1 warning in 3 phases; 1 remark with -v.
--- stderr
Next: asbuilt config set checks.setup "<command>"
      # with your own command, for example npm ci
""")
    assert (git(committed, "status", "--porcelain"), (committed / ".git/config").read_text()) == before


@pytest.mark.usefixtures("committed")
def test_scripts_are_told_the_same(asbuilt: Callable[..., str]) -> None:
    told = asbuilt("plan", "check", "limits", "--try", "--json")
    (plan,) = json.loads(told.partition("--- stdout\n")[2])["plans"]
    assert [(one["phase"], one["line"], one["before"]) for one in plan["tried"]] == [
        ("1", 7, "absent"),
        ("1", 8, "passes"),
        ("2", 14, "passes"),
        ("3", 20, "no program"),
    ]
    assert [(one["line"], one["severity"], one["rule"]) for one in plan["problems"]] == [
        (8, "info", "proves-nothing"),
        (14, "warning", "proves-nothing"),
        (20, "error", "no-program"),
    ]


@pytest.mark.usefixtures("named")
def test_without_a_commit_there_is_nothing_to_try_on(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / ".git/refs/heads/main").unlink()
    put(shop, limits=PLAN)
    assert asbuilt("plan", "check", "limits", "--try") == snapshot("""\
exit 4
--- stderr
error: nothing is committed here yet
  Why:  Checks are tried on a clean checkout of the last commit.
  Next: git add -A && git commit -m "First commit"
    or  check the text alone: asbuilt plan check
""")


def test_without_a_repository_there_is_nothing_to_try_on(asbuilt: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "limits.md").write_text(PLAN)
    assert asbuilt("plan", "check", str(tmp_path / "limits.md"), "--try", cwd=tmp_path) == snapshot("""\
exit 3
--- stderr
error: checks are tried on what is committed, and there is no repository here
  Why:  They need a clean checkout of the project.
  Next: cd your-repo
        # goes to the repository of the plan
        # or name it with --repo
""")


def test_a_check_that_is_tried_finds_programs_by_the_path_of_the_user(
    asbuilt: Callable[..., str], shop: Path, environ: dict[str, str]
) -> None:
    put(
        shop,
        limits="# Limits\n\n## Phase 1 — Bucket\n\n### Verification\n\n- `test ${PATH##*:} = /opt/mine`\n",
    )
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "all")
    environ["PATH"] += ":/opt/mine"

    assert "passes before the work" in asbuilt("plan", "check", "limits", "--try")


def test_a_plan_whose_text_is_wrong_is_corrected_before_its_setup(
    asbuilt: Callable[..., str], committed: Path
) -> None:
    plan = committed / "plans/limits.md"
    plan.write_text(plan.read_text().replace("# Limits\n", "# Limits\n\n## Phase 1 — Again\n", 1))
    shown = asbuilt("plan", "check", "limits", "--try")
    assert "cause     The sandbox has no program pyest" in shown
    assert shown[shown.index("Next: ") :] == snapshot(
        "Next: asbuilt plan check limits\n      # correct plans/limits.md:5 first\n"
    )
