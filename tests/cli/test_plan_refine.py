"""`plan refine` shows what changes and waits for a yes; what is done keeps every byte."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import on_terminal, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN = """\
# Limits

| Phase | Status | Commit |
|-------|--------|--------|
| 1 — Bucket | ✅ Done | `a1b2c3d` |
| 2 — Store | ⬚ | |

## Phase 1 — Bucket

- [x] write `bucket.py` (a1b2c3d)

### Verification

- `pytest -q tests/test_bucket.py`

## Phase 2 — Store

- [ ] write `store.py`

### Verification

- `pytest -q tests/test_store.py`
"""
NEW = PLAN.replace("`store.py`", "`redis.py`").replace("`bucket.py`", "nothing").replace("a1b2c3d", "fffffff")
WANTED = PLAN.replace("`store.py`", "`redis.py`")


@pytest.fixture
def plan(shop: Path, environ: dict[str, str]) -> Path:
    environ["LOGNAME"] = "ada"
    put(shop, limits=PLAN)
    (shop / "new.md").write_text(NEW)
    return shop / "plans" / "limits.md"


def propose(asbuilt: Callable[..., str], *more: str) -> str:
    return asbuilt("plan", "refine", "limits", "use Redis", "--from", "new.md", *more)


def test_a_refinement_is_shown_approved_and_written(asbuilt: Callable[..., str], plan: Path) -> None:
    assert propose(asbuilt) == snapshot("""\
exit 5
--- stdout
Phases  2 changed
  - - [ ] write `store.py`
  + - [ ] write `redis.py`
plans/limits.md: a1 waits for a yes; the file is as it was.
--- stderr
Completed, so your text of it is left aside: phase 1.
plan check: clean
Next: asbuilt approve show a1
  or  approve it: asbuilt approve yes a1
""")
    assert plan.read_text() == PLAN
    assert asbuilt("plan", "refine", "limits") == snapshot("""\
exit 5
--- stdout
plans/limits.md: a1 waits for a yes; the file is as it was.
--- stderr
Next: asbuilt approve show a1
  or  approve it: asbuilt approve yes a1
""")
    said = asbuilt("approve", "yes", "a1")
    assert "plans/limits.md has it. Editing it needs a new approval." in said
    assert plan.read_text() == WANTED
    assert asbuilt("plan", "refine", "limits") == snapshot("""\
exit 2
--- stderr
error: no refinement of limits waits
  Why:  The command has no description of the change.
  Next: asbuilt plan refine limits -m "what changes"
""")
    assert propose(asbuilt) == snapshot("""\
exit 0
--- stdout
plans/limits.md: the requirements are unchanged; nothing was written.
--- stderr
Completed, so your text of it is left aside: phase 1.
""")


def test_scripts_are_told_what_waits(asbuilt: Callable[..., str], plan: Path) -> None:
    told = json.loads(propose(asbuilt, "--json").partition("--- stdout\n")[2].partition("\n")[0])
    assert told == snapshot(
        {
            "schema": "asbuilt.refinement/1",
            "plan": "plans/limits.md",
            "state": "waits",
            "question": "a1",
            "phases": {"2": "changed"},
            "exit": 5,
        }
    )
    assert plan.read_text() == PLAN


def test_its_checks_are_tried_and_whoever_approves_sees_what_they_did(
    asbuilt: Callable[..., str], plan: Path, shop: Path
) -> None:
    git = ["git", "-C", str(shop), "-c", "user.name=you", "-c", "user.email=you@shop.test"]
    for words in (["add", "plans"], ["commit", "-qm", "plan"]):
        subprocess.run([*git, *words], check=True)
    (shop / "new.md").write_text(NEW.replace("pytest -q tests/test_store.py", "test -s redis.py"))
    said = propose(asbuilt, "--try")
    assert "○ 2   absent      test -s redis.py: redis.py is not there yet" in said
    assert "Checks   1 fails before the work, as it should" in asbuilt("approve", "show", "a1")
    (shop / "new.md").write_text(NEW.replace("pytest -q tests/test_store.py", "pyest -q"))
    assert propose(asbuilt, "--try") == snapshot("""\
exit 4
--- stdout
✗ 2   no program  pyest -q: pyest is not installed
  failed    check
  command   pyest -q
  where     a clean checkout of tree e7ea156
  result    exit 127
  | sh: 1: exec: pyest: not found
  cause     The sandbox has no program pyest that can be started.
Tried 1 check: 1 cannot run.
--- stderr
error: the new text has 1 error: line 22: `pyest -q` of phase 2 cannot run:
       pyest is not installed
  Why:  The plan has errors, so asbuilt cannot tell when a phase is done.
  Next: Name an installed program, or install it in checks.setup.
""")
    assert plan.read_text() == PLAN


@pytest.mark.usefixtures("plan")
def test_a_no_is_told_with_its_reason(asbuilt: Callable[..., str]) -> None:
    propose(asbuilt)
    asbuilt("approve", "no", "a1", "-m", "not Redis")
    assert asbuilt("plan", "refine", "limits") == snapshot("""\
exit 4
--- stdout
plans/limits.md: a1 was declined: not Redis.
""")


def test_a_yes_in_another_checkout_leaves_the_file_to_the_one_it_was_begun_in(
    asbuilt: Callable[..., str], plan: Path, shop: Path, tmp_path: Path
) -> None:
    git = ["git", "-C", str(shop), "-c", "user.name=you", "-c", "user.email=you@shop.test"]
    for words in (
        ["add", "plans"],
        ["commit", "-qm", "plan"],
        ["worktree", "add", "-q", str(tmp_path / "other")],
    ):
        subprocess.run([*git, *words], check=True)
    propose(asbuilt)
    said = " ".join(asbuilt("approve", "yes", "a1", cwd=tmp_path / "other").split())
    assert (
        "plans/limits.md is unchanged here: asbuilt plan refine limits writes it where it was started."
        in said
    )
    assert (plan.read_text(), (tmp_path / "other/plans/limits.md").read_text()) == (PLAN, PLAN)
    assert asbuilt("plan", "refine", "limits") == snapshot("""\
exit 0
--- stdout
plans/limits.md: written as ada approved it, and not committed.
""")
    assert plan.read_text() == WANTED


@pytest.mark.parametrize(
    ("new", "told"),
    [
        pytest.param(
            PLAN.replace("[ ] write", "[x] write"),
            snapshot("""\
exit 1
--- stderr
error: the new text says that work of phase 2 is done
  Why:  The file does not mark it as done, and no run has proven it.
  Next: Leave it open there; if it is true, asbuilt plan mark states it in the
        file.
"""),
            id="says that it is done",
        ),
        pytest.param(
            PLAN + "\n### Dependencies\n\nPhase 9.\n",
            snapshot("""\
exit 4
--- stderr
error: the new text has 1 error: line 26: phase 2 depends on phase 9, which does
       not exist
  Why:  The plan has errors, so asbuilt cannot tell when a phase is done.
  Next: Add phase 9, or remove it from the Dependencies line.
"""),
            id="has an error",
        ),
    ],
)
def test_a_text_that_cannot_be_the_plan_is_refused(
    asbuilt: Callable[..., str], plan: Path, shop: Path, new: str, told: str
) -> None:
    (shop / "new.md").write_text(new)
    assert propose(asbuilt) == told
    assert plan.read_text() == PLAN


@pytest.mark.usefixtures("plan")
def test_what_changes_has_to_be_said_and_somebody_has_to_write_it(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("plan", "refine", "limits", "--from", "new.md") == snapshot("""\
exit 2
--- stderr
error: say in a few words what changes
  Why:  The approver sees it, and the journal records it.
  Next: asbuilt plan refine limits "what changes" --from new.md
""")
    assert asbuilt("plan", "refine", "limits", "use Redis") == snapshot("""\
exit 2
--- stderr
error: writing the new text needs a terminal
  Why:  It opens your editor, and there is no terminal here.
  Next: asbuilt plan refine limits "what changes" --from FILE
        # takes it from a file
""")


def test_a_text_of_the_editor_that_is_refused_is_kept_for_the_next_time(
    plan: Path, shop: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        f"#!{sys.executable}\nimport sys\nfrom pathlib import Path\ncopy = Path(sys.argv[-1])\n"
        "text = copy.read_text()\n"
        "copy.write_text(text.replace('[ ] write', '[x] write') if '[ ]' in text else 'seen again')\n"
    )
    editor.chmod(0o755)
    words = ("plan", "refine", "limits", "use Redis")
    code, said = on_terminal(shop, environ, *words, EDITOR=str(editor))
    assert (code, "work of phase 2 is done" in said, "Your text is kept: " in said) == (1, True, True)
    code, said = on_terminal(shop, environ, *words, EDITOR=str(editor))
    assert (code, "the new text has no recognizable phase" in said) == (1, True)
    assert plan.read_text() == PLAN
