"""Case files: a plan and its expected reading in one Markdown document. A bug report is one more file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from asbuilt.plan.lint import Length

FOLDER: Final = Path(__file__).parent / "cases"
_FENCE: Final = re.compile(r"^(`{3,})(\S*)[ ]?([^\n]*)\n(.*?)^\1[ ]*$", re.MULTILINE | re.DOTALL)


class Case(NamedTuple):
    """One plan, perhaps its progress document, and what must be read from them."""

    name: str
    path: str
    data: bytes
    progress_document: tuple[str, bytes] | None
    length: Length
    """Where its words say `cap`, the plan is read under that policy."""
    expected: dict[str, Any]


def load_all() -> list[Case]:
    """Read every case of every file."""
    return [case for file in sorted(FOLDER.glob("*.md")) for case in _load(file)]


def _load(file: Path) -> list[Case]:
    cases: list[Case] = []
    plan: tuple[str, bytes] | None = None
    progress_document: tuple[str, bytes] | None = None
    length = Length.CONTROL
    for fence in _FENCE.finditer(file.read_text(encoding="utf-8")):
        ticks, language, info, body = fence.groups()
        if language == "markdown" and len(ticks) >= 5:
            path, *words = info.split()
            data = _bytes(body, words)
            if "progress" in words:
                progress_document = (path, data)
            else:
                plan = (path, data)
                length = next((one for one in Length if one in words), Length.CONTROL)
        elif language == "json":
            assert plan is not None, f"{file.name}: an expected reading before its plan"
            name = file.stem if not cases else f"{file.stem}-{len(cases) + 1}"
            cases.append(Case(name, plan[0], plan[1], progress_document, length, json.loads(body)))
            plan = progress_document = None
    assert cases, f"{file.name}: no case in it"
    assert plan is None, f"{file.name}: a plan without an expected reading"
    return cases


def _bytes(body: str, words: list[str]) -> bytes:
    if "no-final-newline" in words:
        body = body.removesuffix("\n")
    if "crlf" in words:
        body = body.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if "bom" in words else b"") + body.encode()


def differences(expected: object, actual: object, where: str = "") -> list[str]:
    """Compare: objects may omit keys, lists are whole and in order, scalars are exact."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for key, value in expected.items():
            if key not in actual:
                found.append(f"{where}.{key}: missing")
            else:
                found += differences(value, actual[key], f"{where}.{key}")
        return found
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{where}: {len(expected)} expected, {len(actual)} read: {actual}"]
        return [
            line
            for at, (one, other) in enumerate(zip(expected, actual, strict=True))
            for line in differences(one, other, f"{where}[{at}]")
        ]
    return [] if expected == actual else [f"{where}: expected {expected!r}, read {actual!r}"]
