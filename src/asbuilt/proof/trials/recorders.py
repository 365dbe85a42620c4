"""Record which lines and modules the processes of a check ran: Python by a module of ours, node by V8. Pure.

Rules: a file of which no process reported anything is not judged: other code may have run in its place.
A module is reported only if every process of the check loaded it from outside the checkout.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from asbuilt.proof.suites.path_roles import is_in_tests
from asbuilt.proof.trials.mutants import MAX_BYTES, added_lines

RECORDER: Final = ".asbuilt-lines/sitecustomize.py"
"""Path of the recorder in a checkout: Python imports a module of this name at every start."""
_NEAR: Final = 2
_COMMENT: Final = ("//", "/*", "*")
# Each line is written when it first runs, because a process may be killed. No file stays open, because
# programs close file descriptors that they do not know.
_LINES_SOURCE: Final = """\
import os, sys, threading

_FILES, _OUT, _seen = {files}, {out}, set()
_open, _write, _close, _how = os.open, os.write, os.close, os.O_WRONLY | os.O_APPEND | os.O_CREAT


def _line(frame, event, _):
    ran = (frame.f_code.co_filename, frame.f_lineno)
    if event == "line" and ran not in _seen:
        _seen.add(ran)
        try:
            to = _open(_OUT, _how, 0o600)
            _write(to, ("%d %s\\n" % (ran[1], _FILES[ran[0]])).encode("utf-8", "surrogateescape"))
            _close(to)
        except OSError:
            pass
    return _line


def _call(frame, event, _):
    return _line if frame.f_code.co_filename in _FILES else None


threading.settrace(_call)
sys.settrace(_call)
"""
FILE: Final = "sitecustomize.py"
"""Python imports a module of this name at every start, from the first folder of its path that has one."""
LISTED: Final = ".modules"
"""Extension of the file in which one process lists its modules."""
_MODULE: Final = re.compile(r"^(?P<root>(?:src/|lib/)?)(?P<name>[A-Za-z_]\w*)(?:/__init__)?\.py$")
_BESIDE: Final = frozenset(
    {"setup", "conftest", "noxfile", "tasks", "docs", "doc", "examples", "test", "tests"}
)
_INSTALLED: Final = ("site-packages", "dist-packages")
# Runs on Python 2 and every Python 3. The project's own sitecustomize runs after it, under its name.
_SOURCE: Final = """\
import atexit, os, sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_NAMES = set({names!r})


def _list_modules():
    found = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _NAMES:
            file = getattr(module, "__file__", None)
            if isinstance(file, str):
                found.add(name.partition(".")[0] + "\\t" + os.path.realpath(file))
    try:
        with open(os.path.join(_HERE, "%d{ending}" % os.getpid()), "a") as listing:
            listing.write("".join(line + "\\n" for line in sorted(found)))
    except (OSError, IOError, UnicodeError):
        pass


atexit.register(_list_modules)
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
try:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
except ImportError:
    pass
else:
    _spec = PathFinder.find_spec("sitecustomize", sys.path)
    if _spec is not None and _spec.loader is not None:
        _module = module_from_spec(_spec)
        sys.modules["sitecustomize"] = _module
        _spec.loader.exec_module(_module)
"""


class Loaded(NamedTuple):
    """A top-level module of the project, and a file that a process loaded for it."""

    name: str
    file: str


def recorder(root: str, paths: Iterable[str], out: str) -> bytes:
    """Return the module that appends to `out` which lines of the files below `root` a Python process runs."""
    files = {f"{root}/{path}": path for path in paths}
    source = _LINES_SOURCE.replace("{files}", repr(files)).replace("{out}", repr(out))
    return source.encode("utf-8", "backslashreplace")


def unrun(
    sources: Mapping[str, tuple[bytes, bytes]], recorded: bytes, reports: Iterable[bytes], root: str
) -> tuple[str, ...]:
    """List the added lines that no process ran, as `path:first-last`.

    `sources` has the bytes of each file before and after, `recorded` the output of Python's recorder, and
    `reports` the files that node wrote (NODE_V8_COVERAGE).
    """
    ran = _recorded(recorded)
    scripts = [script for report in reports for script in _scripts(report, root)]
    found: list[str] = []
    for path, (before, after) in sorted(sources.items()):
        if len(after) > MAX_BYTES:
            continue
        ranges = [ranges for name, ranges in scripts if name == path]
        lines = _in_python(after, ran.get(path)) if path.endswith(".py") else _in_script(after, ranges)
        found += [f"{path}:{hunk}" for hunk in _hunks(added_lines(before, after) & lines)]
    return tuple(found)


def _recorded(recorded: bytes) -> dict[str, set[int]]:
    """Parse the recorder's lines; the code under test may have written anything there."""
    ran: dict[str, set[int]] = {}
    for row in recorded.decode("utf-8", "surrogateescape").splitlines():
        line, _, path = row.partition(" ")
        if line.isdecimal() and path:
            ran.setdefault(path, set()).add(int(line))
    return ran


def _in_python(source: bytes, ran: set[int] | None) -> set[int]:
    """Return the first lines of the statements that did not run; empty if nothing of the file ran."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _is_silent(node)}
    return lines - ran if ran else set()


def _is_silent(node: ast.stmt) -> bool:
    """Return whether a statement may run without a trace event."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Global | ast.Nonlocal | ast.Pass | ast.Continue | ast.Break | ast.AnnAssign)


_Range = tuple[int, int, int]


def _scripts(report: bytes, root: str) -> Iterator[tuple[str, list[_Range]]]:
    """Yield each script of a V8 report below the root, with its ranges: start, end, count."""
    try:
        whole: Any = json.loads(report)
        for script in whole["result"]:
            path = unquote(urlsplit(script["url"]).path)
            if path.startswith(f"{root}/"):
                ranges = [span for function in script["functions"] for span in function["ranges"]]
                counted = [
                    (int(span["startOffset"]), int(span["endOffset"]), int(span["count"])) for span in ranges
                ]
                yield path[len(root) + 1 :], counted
    except (ValueError, KeyError, TypeError, RecursionError):
        return


def _in_script(source: bytes, processes: Iterable[list[_Range]]) -> set[int]:
    """Return the lines that no process ran; empty if a process ran another text than the file's."""
    # V8 counts UTF-16 units; a character outside the BMP has two.
    text = "".join(char if ord(char) < 1 << 16 else "__" for char in source.decode("utf-8", "replace"))
    every: list[set[int]] = []
    for ranges in processes:
        if not any(pair[:2] == (0, len(text)) for pair in ranges):
            return set()
        ran = bytearray(len(text))
        for first, end, count in sorted(ranges, key=lambda pair: (pair[0], -pair[1])):
            ran[first:end] = bytes([count > 0]) * len(ran[first:end])
        every.append({*_without_count(text, ran)})
    return set.intersection(*every) if every else set()


def _without_count(text: str, ran: bytearray) -> Iterator[int]:
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        is_code = any(map(str.isalnum, line)) and not line.strip().startswith(_COMMENT)
        if is_code and not any(ran[start + at] for at, char in enumerate(line) if not char.isspace()):
            yield number
        start += len(line) + 1


def _hunks(lines: Iterable[int]) -> list[str]:
    """Join consecutive lines, with at most one other line between them."""
    hunks: list[list[int]] = []
    for line in sorted(lines):
        if hunks and line - hunks[-1][-1] <= _NEAR:
            hunks[-1].append(line)
        else:
            hunks.append([line])
    return [str(hunk[0]) if len(hunk) == 1 else f"{hunk[0]}-{hunk[-1]}" for hunk in hunks]


def names_of(paths: Iterable[str], stdlib: Collection[str]) -> tuple[str, ...]:
    """Return the modules at a tree's top or below `src` or `lib`, without the standard library's."""
    found = {match["name"] for path in paths if not is_in_tests(path) and (match := _MODULE.match(path))}
    return tuple(sorted(name for name in found if name not in _BESIDE and name not in stdlib))


def source_of(names: Iterable[str]) -> bytes:
    """Return the module that lists, at the end of each process, where it loaded these from."""
    return _SOURCE.format(names=sorted(names), ending=LISTED).encode()


def read_loaded(listing: str) -> tuple[Loaded, ...]:
    """Parse the listings of processes; an agent's code may have written anything there."""
    split = (line.partition("\t") for line in listing.splitlines())
    return tuple(dict.fromkeys(Loaded(name, file) for name, tab, file in split if tab and file))


def strays(loaded: Iterable[Loaded], checkout: str) -> tuple[Loaded, ...]:
    """Return one file for each module that was loaded and never from the checkout."""
    root = f"{checkout.rstrip('/')}/"
    inside: set[str] = set()
    outside: dict[str, Loaded] = {}
    for script in loaded:
        if script.file.startswith(root):
            inside.add(script.name)
        else:
            outside.setdefault(script.name, script)
    return tuple(script for name, script in sorted(outside.items()) if name not in inside)


def cause_of(stray: Loaded) -> str:
    """Explain what is wrong with the environment that loaded it."""
    copied = any(part in _INSTALLED for part in stray.file.split("/"))
    how = "an installed copy of the package" if copied else "an editable install of another checkout"
    return f"`{stray.name}` was imported from {stray.file}, not from this tree: {how}"
