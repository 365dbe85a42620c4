"""`plan open` gives the file to the person's editor and tells what came of it; only the editor writes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import RATE_LIMIT, on_terminal, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _editor(tmp_path: Path, script: str) -> str:
    file = tmp_path / "my editor.py"
    lead = f"#!{sys.executable}\nimport sys\nfrom pathlib import Path\nplan = Path(sys.argv[-1])\n"
    file.write_text(lead + script + "\n")
    file.chmod(0o755)
    return f"'{file}' --wait"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        pytest.param("", snapshot((0, "plans/rate-limit.md is unchanged.\n")), id="unchanged"),
        pytest.param(
            "plan.write_text(plan.read_text().replace('| 🟡 |', '| ✅ Done |'))",
            snapshot(
                (
                    0,
                    """\
plans/rate-limit.md: only status marks changed; the requirements are unchanged.
4 phases, 1 warning.
Next: asbuilt plan check rate-limit
""",
                )
            ),
            id="only marks",
        ),
        pytest.param(
            "plan.write_text(plan.read_text().replace('At most 5 ms', 'At most 2 ms'))",
            snapshot(
                (
                    0,
                    """\
plans/rate-limit.md: the requirements changed.
4 phases, no problems.
""",
                )
            ),
            id="what it wants",
        ),
        pytest.param(
            "plan.write_text(plan.read_text().replace('- `uv run pytest -q`', 'Looks right.'))",
            snapshot(
                (
                    0,
                    """\
plans/rate-limit.md: the requirements changed.
4 phases, 1 error.
Next: asbuilt plan check rate-limit
""",
                )
            ),
            id="a new problem",
        ),
        pytest.param(
            "plan.unlink()",
            snapshot(
                (
                    3,
                    """\
error: plans/rate-limit.md is gone
  Why:  my editor.py deleted or moved it; nothing else was touched.
  Next: git status
        # shows what happened, if it was committed before
""",
                )
            ),
            id="deleted",
        ),
        pytest.param(
            "sys.exit(3)",
            snapshot(
                (
                    1,
                    """\
plans/rate-limit.md is unchanged.
! my editor.py ended with 3.
""",
                )
            ),
            id="failed",
        ),
    ],
)
def test_what_the_editor_did_is_told(
    shop: Path, environ: dict[str, str], tmp_path: Path, script: str, told: tuple[int, str]
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    editor = _editor(tmp_path, script)
    assert on_terminal(shop, environ, "plan", "open", "rate", EDITOR=editor, NO_COLOR="1") == told


def test_visual_comes_before_editor(shop: Path, environ: dict[str, str], tmp_path: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    code, received = on_terminal(
        shop, environ, "plan", "open", "rate", VISUAL=_editor(tmp_path, "print('visual')"), EDITOR="false"
    )
    assert (code, received) == (0, "visual\nplans/rate-limit.md is unchanged.\n")


@pytest.mark.parametrize(
    ("editor", "told"),
    [
        (
            "no-such-editor",
            snapshot(
                (
                    3,
                    """\
error: the editor no-such-editor cannot be started: no such file or directory
  Why:  VISUAL or EDITOR is set to it.
  Next: export VISUAL=vi
        # or another editor that is installed
""",
                )
            ),
        ),
        (
            "vi 'unclosed",
            snapshot(
                (
                    2,
                    """\
error: EDITOR "vi 'unclosed" is no command
  Why:  Its quotes do not close.
  Next: export VISUAL=vi
""",
                )
            ),
        ),
    ],
)
def test_an_editor_that_cannot_be_started_is_told(
    shop: Path, environ: dict[str, str], editor: str, told: tuple[int, str]
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    assert on_terminal(shop, environ, "plan", "open", "rate", EDITOR=editor, NO_COLOR="1") == told


def test_without_anybody_there_no_editor_is_started(
    asbuilt: Callable[..., str], shop: Path, environ: dict[str, str]
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    told = asbuilt("plan", "open", "rate", EDITOR="touch")
    assert told == snapshot("""\
exit 2
--- stderr
error: plan open needs a terminal
  Why:  The editor needs a terminal.
  Next: asbuilt plan check rate
        # edit the file first
""")
    code, received = on_terminal(shop, environ, "plan", "open", "rate", "--no-input", NO_COLOR="1")
    assert (code, received) == (2, told.partition("--- stderr\n")[2])
