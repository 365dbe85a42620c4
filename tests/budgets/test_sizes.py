"""No file over 400 lines, of tests too, and no function over 60, because nobody holds more in mind."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "asbuilt"
FILE_LIMIT = 400
FUNCTION_LIMIT = 60

EXCEPTIONS: dict[str, str] = {}
"""`plan/reader.py` or `plan/reader.py::read` -> why it reads better in one piece."""


def long_files(root: Path) -> dict[str, str]:
    """Name every file that is too long, each with advice."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        length = len(path.read_text(encoding="utf-8").splitlines())
        if length > FILE_LIMIT:
            advice = f"{length} lines: find the second question it answers, and give that a file"
            found[path.relative_to(root).as_posix()] = advice
    return found


def long_functions(root: Path) -> dict[str, str]:
    """Name every function that is too long, each with advice."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            length = (node.end_lineno or node.lineno) - first + 1
            if length > FUNCTION_LIMIT:
                found[f"{name}::{node.name}"] = f"{length} lines: name the steps, and let it call them"
    return found


def oversized(root: Path) -> dict[str, str]:
    return long_files(root) | long_functions(root)


def test_every_file_and_function_can_be_held_in_mind() -> None:
    assert {name: advice for name, advice in oversized(SOURCE).items() if name not in EXCEPTIONS} == {}


@pytest.mark.parametrize("folder", ["tests", "scripts", "fuzz"])
def test_every_file_beside_the_sources_can_be_held_in_mind(folder: str) -> None:
    # A function may be long there: a screen that is compared as a whole is one value.
    assert long_files(ROOT / folder) == {}


def test_every_exception_is_still_needed_and_has_a_reason() -> None:
    assert set(EXCEPTIONS) - set(oversized(SOURCE)) == set()
    assert [name for name, reason in EXCEPTIONS.items() if not reason.strip()] == []


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_the_measure_sees_what_is_too_long(tmp_path: Path, kind: str) -> None:
    def function(name: str, lines: int) -> str:
        return f"{kind} {name}():\n" + "    pass\n" * (lines - 1)

    (tmp_path / "inner").mkdir()
    (tmp_path / "fits.py").write_text(function("fits", FUNCTION_LIMIT))
    (tmp_path / "inner" / "long.py").write_text(function("much", FUNCTION_LIMIT + 1))
    (tmp_path / "decorated.py").write_text("@cache\n" + function("worn", FUNCTION_LIMIT))
    (tmp_path / "file.py").write_text("pass\n" * (FILE_LIMIT + 1))
    assert set(oversized(tmp_path)) == {"inner/long.py::much", "decorated.py::worn", "file.py"}


def test_a_module_that_is_run_defines_everything_before_it_runs() -> None:
    early = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body[:-1]
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
    ]
    assert early == []
