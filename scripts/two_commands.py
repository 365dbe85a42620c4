"""Play the session of docs/how-to/author.md: install, one sentence, one yes. --check compares.

A built wheel, an empty home, the real Claude Code, and a model on loopback in place of one that costs money.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from first_plan import NOT_RUN, ROOT, install
from stable import keep

from asbuilt.agents.sandbox.launch import probe
from asbuilt.journal.engine.liveness import holder

sys.path.insert(0, str(ROOT))

from tests.live.starting import NODE, household
from tests.model import Call, Say, answer, serving
from tests.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = ROOT / "docs/how-to/author.md"
SENTENCE: Final = "greet customers by name"
_SHOWN: Final = re.compile(r"(?<=<!-- played -->\n```console\n).*?(?=^```)", re.MULTILINE | re.DOTALL)
_HERE: Final = r"{{re:Primary working directory: (\S+)}}"
_ASKED: Final = "Write one Markdown document"
PLAN: Final = """\
# Greet customers by name

## Goal
`greet.py NAME` greets a customer by name, and says how it is used without one.

## Scope
`greet.py` (new), `tests/test_greet.py` (new)

## Non-Scope
Other languages: the shop has one.

## Phase 1 — Greet
Effort: S. Depends on nothing.
### Work Items
- [ ] `greet.py Ann` prints `Hello, Ann`
### Verification
- `test "$(python3 greet.py Ann)" = "Hello, Ann"`

## Phase 2 — Nobody there
Effort: S. Depends on phase 1.
### Work Items
- [ ] Without a name it prints its usage
### Verification
- `python3 greet.py 2>&1 | grep -q 'usage: greet.py NAME'`
### Dependencies
Phase 1.

## Risks
A name with spaces: it is one argument, as the shell gives it.

## Open Questions
None.
"""


@contextmanager
def newcomer(folder: Path, programs: Path) -> Iterator[Window]:
    """Give somebody a repository, Claude Code and the wheel, and end what they leave behind."""
    shop = folder / "shop-api"
    shop.mkdir()
    with serving() as model:
        environ = household(folder / "home", folder / "agents", {"claude": model.url("works")})
        environ |= {"PATH": f"{programs}:{environ['PATH']}", "LOGNAME": "ann"}
        (shop / "README.md").write_text("# Shop\n", encoding="utf-8")
        for command in (
            "git config --global user.name Ann && git config --global user.email ann@example.com",
            "git init -q -b main && git add . && git commit -qm 'A shop'",
        ):
            subprocess.run(["/bin/sh", "-c", command], cwd=shop, env=environ, check=True)
        looks = Call("Read", {"file_path": f"{_HERE}/README.md"})
        model.play("works", answer(looks, when=_ASKED), answer(Say(PLAN), when=_ASKED))
        shell = ("env", "PS1=$ ", "/bin/sh")
        try:
            with Window(*shell, folder=shop, environ=environ, size=(80, 60), ready=r"\$$") as window:
                yield window
        finally:
            pid = holder(folder / "home/.local/state/asbuilt/worker.lock")
            if pid:
                os.kill(pid, signal.SIGKILL)


def main() -> int:
    """Write the screen anew, or say whether it is still what comes."""
    if probe().for_work == "none":
        print("NOT RUN: no ring holds here, and the page shows planning that one holds")
        return NOT_RUN
    rooms = NODE.folder.parent / "rooms"
    rooms.mkdir(parents=True, exist_ok=True)
    # Not below /tmp: an agent's HOME there is not what somebody has.
    with tempfile.TemporaryDirectory(prefix="two-", dir=rooms, ignore_cleanup_errors=True) as made:
        programs = install(Path(made))
        if programs is None:
            print("NOT RUN: there is no uv to install the wheel with")
            return NOT_RUN
        with newcomer(Path(made), programs) as window:
            window.type(f'asbuilt author "{SENTENCE}"')
            window.sees("l later >$")
            window.type("y")
            shown = window.sees(r"\n\$$").removesuffix("$\n")
    played = _SHOWN.sub(lambda _: shown, PAGE.read_text(encoding="utf-8"), count=1)
    return keep(PAGE, played, command="just two-commands")


if __name__ == "__main__":
    sys.exit(main())
