"""List what no entry point reaches: functions that no process executes, and fields that nothing fills.

`make` copies the environment and the sources to `.tools/reach`, with a mark at the start of each function.
Tests that run from that environment (`just reach`) note a function when a process of asbuilt executes it for
the first time. What runs only inside pytest's own process does not count. Without an argument, the notes are
compared with `tests/reach.toml`, which names what one machine cannot reach, with the reason.

Slices add up: `make` keeps the notes on a module until its source changes.
"""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT: Final = Path(__file__).parent.parent
COPY: Final = ROOT / ".tools" / "reach"
NOTES: Final = COPY / "notes"
SOURCES: Final = COPY / "sources.json"
"""Digests of the modules that the notes are about."""
ACCEPTED: Final = ROOT / "tests" / "reach.toml"
_IMPORT: Final = """\
try:
    from asbuilt_reach import note as __note__
except ImportError:
    def __note__(name): pass"""
_RECORDER: Final = '''\
"""Note each function once, in a file that outlives kill -9. A sandbox that hides the file loses its notes."""
import os, sys
_seen = set()
def note(name):
    if name in _seen or "pytest" in sys.modules: return
    _seen.add(name)
    try:
        file = os.open({notes!r}, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        os.write(file, (name + "\\n").encode())
        os.close(file)
    except OSError: pass
'''


@dataclass(frozen=True, slots=True)
class Function:
    """A function with a body, and the line before which its mark goes."""

    name: str
    line: int
    indent: int


def functions(module: str, tree: ast.AST, prefix: str = "") -> Iterator[Function]:
    """Find the functions of a module, without stubs and one-line bodies."""
    for node in ast.iter_child_nodes(tree):
        inside = prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{prefix}{node.name}."
            statement = _first_statement(node)
            if statement is not None and statement.lineno > node.lineno:
                decorators = getattr(statement, "decorator_list", [])
                line = min(one.lineno for one in (statement, *decorators))
                yield Function(f"{module}:{prefix}{node.name}", line, statement.col_offset)
        elif isinstance(node, ast.ClassDef):
            inside = f"{prefix}{node.name}."
        yield from functions(module, node, inside)


def _first_statement(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt | None:
    for statement in function.body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            return statement
    return None


def marked(module: str, text: str) -> str:
    """Put a mark at the start of each function."""
    tree = ast.parse(text)
    marks = [(one.line, f"{' ' * one.indent}__note__({one.name!r})") for one in functions(module, tree)]
    if not marks:
        return text
    first: list[ast.stmt] = [
        node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    first = first or [node for node in tree.body[:1] if isinstance(node, ast.Expr)]
    marks.append((1 + (first[-1].end_lineno or 0) if first else 1, _IMPORT))
    lines = text.splitlines()
    for line, mark in sorted(marks, reverse=True):
        lines.insert(line - 1, mark)
    return "\n".join(lines) + "\n"


def never_filled(files: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Find fields with a default that no call names and no string spells: they always have the default.

    Positional arguments count for the first fields of a class. A list or a table can be filled in place;
    classes that a file or the journal fills are left out.
    """
    classes: list[tuple[str, list[ast.AnnAssign]]] = []
    filled: set[str] = set()
    positional: dict[str, int] = {}
    for module, text in files:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                filled.update(one.arg for one in node.keywords if one.arg)
                called = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                positional[called] = max(positional.get(called, 0), len(node.args))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                filled.add(node.value)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                filled.add(node.attr)
            elif isinstance(node, ast.ClassDef) and not module.startswith(
                ("asbuilt.events", "asbuilt.settings")
            ):
                fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
                classes.append((f"{module}:{node.name}", fields))
    for name, fields in classes:
        given = positional.get(name.rpartition(":")[2], 0)
        for field in fields[given:]:
            target = field.target.id if isinstance(field.target, ast.Name) else ""
            is_constant = "Final" in ast.unparse(field.annotation) or "ClassVar" in ast.unparse(
                field.annotation
            )
            may_stay = is_constant or field.value is None or "default_factory" in ast.unparse(field.value)
            if not may_stay and target not in filled:
                yield f"{name}.{target}"


def recorder(notes: Path) -> str:
    """Return the module that the marks import."""
    return _RECORDER.format(notes=str(notes))


def _modules(source: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(source.rglob("*.py")):
        yield ".".join(file.relative_to(source).with_suffix("").parts), file


def make() -> int:
    """Copy the environment and the sources, put in the marks, and keep the notes on unchanged modules."""
    COPY.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(COPY / "src", ignore_errors=True)
    shutil.copytree(ROOT / "src", COPY / "src", ignore=shutil.ignore_patterns("__pycache__"))
    texts = {module: file.read_text(encoding="utf-8") for module, file in _modules(COPY / "src")}
    for module, file in _modules(COPY / "src"):
        file.write_text(marked(module, texts[module]), encoding="utf-8")
    (COPY / "src" / "asbuilt_reach.py").write_text(recorder(NOTES), encoding="utf-8")
    for beside in ("plugin", "tests"):  # what the sources read from their repository
        (COPY / beside).unlink(missing_ok=True)
        (COPY / beside).symlink_to(ROOT / beside)
    if not (COPY / "venv").exists():
        _copy_environment()
    digests = {module: hashlib.sha256(text.encode()).hexdigest() for module, text in texts.items()}
    before = json.loads(SOURCES.read_text(encoding="utf-8")) if SOURCES.exists() else {}
    notes = NOTES.read_text(encoding="utf-8") if NOTES.exists() else ""
    NOTES.write_text(still_true(notes, before, digests), encoding="utf-8")
    NOTES.chmod(0o666)
    SOURCES.write_text(json.dumps(digests), encoding="utf-8")
    return 0


def still_true(notes: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the notes on modules whose source is the same, each once."""
    return "".join(
        f"{name}\n"
        for name in sorted(set(notes.split()))
        if (module := name.partition(":")[0]) in now and before.get(module) == now[module]
    )


def _copy_environment() -> None:
    shutil.copytree(ROOT / ".venv", COPY / "venv", symlinks=True)
    paths = {str(ROOT / "src"): str(COPY / "src"), str(ROOT / ".venv"): str(COPY / "venv")}
    for file in (*(COPY / "venv" / "bin").iterdir(), *(COPY / "venv" / "lib").rglob("*.pth")):
        if file.is_symlink() or file.stat().st_size > 100_000:
            continue
        text = before = file.read_bytes()
        for old, new in paths.items():
            text = text.replace(old.encode(), new.encode())
        if text != before:
            file.write_bytes(text)


def unreached(texts: Iterable[tuple[str, str]], noted: set[str]) -> set[str]:
    """Name the functions without a note and the fields that nothing fills."""
    texts = tuple(texts)
    every = {one.name for module, text in texts for one in functions(module, ast.parse(text))}
    return (every - noted) | set(never_filled(texts))


def accepted() -> dict[str, dict[str, str]]:
    """Return what counts as reached, with its reason: `fields` and `functions`."""
    return tomllib.loads(ACCEPTED.read_text(encoding="utf-8"))


def sources() -> list[tuple[str, str]]:
    """Return the modules of the product and their texts."""
    return [(module, file.read_text(encoding="utf-8")) for module, file in _modules(ROOT / "src")]


def report() -> int:
    """Print what is not reached and not accepted, and what is accepted but reached or gone."""
    found = unreached(sources(), set(NOTES.read_text(encoding="utf-8").split("\n")))
    known = {name for table in accepted().values() for name in table}
    problems = [f"not reached: {name}" for name in sorted(found - known)]
    problems += [f"remove it from {ACCEPTED.name}: {name}" for name in sorted(known - found)]
    print(*problems, f"{len(found)} names are not reached, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1:] == ["make"] else report())
