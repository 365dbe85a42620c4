"""Find added lines that no process of a test run executed: Python by a recorder, node by V8. Pure.

Rule: a file of which no process reported anything is not judged; other code may have run in its place.
"""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from asbuilt.proof.trials.mutants import MAX_BYTES, added_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

RECORDER: Final = ".asbuilt-lines/sitecustomize.py"
"""Path of the recorder in a checkout: Python imports a module of this name at every start."""
_NEAR: Final = 2
_COMMENT: Final = ("//", "/*", "*")
# Each line is written when it first runs, because a process may be killed. No file stays open, because
# programs close file descriptors that they do not know.
_SOURCE: Final = """\
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


def recorder(root: str, paths: Iterable[str], out: str) -> bytes:
    """Return the module that appends to `out` which lines of the files below `root` a Python process runs."""
    files = {f"{root}/{path}": path for path in paths}
    source = _SOURCE.replace("{files}", repr(files)).replace("{out}", repr(out))
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
                ranges = [one for function in script["functions"] for one in function["ranges"]]
                told = [(int(one["startOffset"]), int(one["endOffset"]), int(one["count"])) for one in ranges]
                yield path[len(root) + 1 :], told
    except (ValueError, KeyError, TypeError, RecursionError):
        return


def _in_script(source: bytes, processes: Iterable[list[_Range]]) -> set[int]:
    """Return the lines that no process ran; empty if a process ran another text than the file's."""
    # V8 counts UTF-16 units; a character outside the BMP has two.
    text = "".join(one if ord(one) < 1 << 16 else "__" for one in source.decode("utf-8", "replace"))
    every: list[set[int]] = []
    for ranges in processes:
        if not any(one[:2] == (0, len(text)) for one in ranges):
            return set()
        ran = bytearray(len(text))
        for first, end, count in sorted(ranges, key=lambda one: (one[0], -one[1])):
            ran[first:end] = bytes([count > 0]) * len(ran[first:end])
        every.append({*_without_count(text, ran)})
    return set.intersection(*every) if every else set()


def _without_count(text: str, ran: bytearray) -> Iterator[int]:
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        is_code = any(map(str.isalnum, line)) and not line.strip().startswith(_COMMENT)
        if is_code and not any(ran[start + at] for at, one in enumerate(line) if not one.isspace()):
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
    return [str(one[0]) if len(one) == 1 else f"{one[0]}-{one[-1]}" for one in hunks]
