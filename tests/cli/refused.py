"""A command that is refused, as it is typed at a terminal, and what the refusal names, typed after it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.plans import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class Case(NamedTuple):
    """A refusal, and a command that meets it in a repository that has one plan."""

    meets: str
    typed: str
    prepare: Callable[[Path], object] = lambda _: None
    environ: Mapping[str, str] = MappingProxyType({})
    at: str = "."


def foreign(file: Path) -> None:
    """Write a file that asbuilt did not write."""
    file.parent.mkdir(parents=True)
    file.write_text("somebody's own", encoding="utf-8")


def at_home(name: str, text: str) -> Callable[[Path], object]:
    """Prepare a file in the user's home folder."""

    def keep(shop: Path) -> None:
        file = shop.parent / "home" / name
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")

    return keep


def chosen(text: str) -> Callable[[Path], object]:
    """Prepare the user's own settings."""
    return at_home(".config/asbuilt/config.toml", text)


PLACEHOLDERS = {
    "PLAN": "rate-limit",
    "NAME": "rate-limit",
    "VALUE": "true",
    "FILE": "script.toml",
    "DIR": ".",
    "URL": "https://ntfy.test/topic",
    "MODEL": "opus",
}


class Outcome(NamedTuple):
    """A refusal as the terminal showed it."""

    texts: tuple[str, str, str]
    commands: list[str]


def refused(case: Case, shop: Path, environ: dict[str, str]) -> Outcome:
    case.prepare(shop)
    there = {**environ, **case.environ}
    code, said = on_terminal(shop / case.at, there, *shlex.split(case.typed), columns=80)
    assert code in (1, 2, 3, 4), said
    bold = re.findall(r"\x1b\[1m(.*?)\x1b\[0m", said)
    plain = " ".join(re.sub(r"\x1b\[\d*m", "", said).split())
    found = re.search(r"error: (.*) Why: (.*) Next: (.*)", plain)
    assert found, said
    what, why, next_step = found.groups()
    return Outcome((what, why, next_step), [one for one in bold if one.startswith(("asbuilt", "git "))])


def typed(command: str, folder: Path, environ: dict[str, str]) -> str:
    """Type a command; returns what it complained of if it was no such command."""
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(command)]
    program = [sys.executable, "-m", "asbuilt"] if words[0] == "asbuilt" else [words[0]]
    done = subprocess.run(
        [*program, *words[1:]],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    is_wrong = done.returncode in (70, 128, 129) or (done.returncode == 2 and not done.stdout)
    return f"{command}: {done.stderr.decode('utf-8', 'replace')}" if is_wrong else ""
