"""Find names that tests imported from the product and now import from their own folder: a fake.

Rule: only a name that changed its origin is reported; one that always came from the tests is not.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.model import Change, Finding, Kind, Severity
from asbuilt.proof.suites.places import is_in_tests, language_of
from asbuilt.proof.suites.python_code import imports_of, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TAKEN: Final = re.compile(
    r"\b(?:const|let|var)\s+(\{[^}]*\}|\w+)\s*=\s*require\(\s*['\"](\.[^'\"]+)['\"]|"
    r"\bimport\s+(?:type\s+)?(\{[^}]*\}|\w+)\s+from\s+['\"](\.[^'\"]+)['\"]"
)


def redirected(changes: Iterable[Change]) -> Iterator[Finding]:
    """Find names that tests imported from elsewhere and now import from a test folder."""
    for change in changes:
        if change.before is None or change.after is None or not is_in_tests(change.path):
            continue
        before, after = _taken(change.path, change.before), _taken(change.path, change.after)
        for name in sorted(before.keys() & after.keys()):
            was, now = before[name], after[name]
            if is_in_tests(now) and not is_in_tests(was):
                line = change.after.decode("utf-8", "replace").partition(name)[0].count("\n") + 1
                yield Finding(
                    Kind.PRODUCT_REPLACED, Severity.SIGN_OFF, change.path, "", None, line,
                    f"{name} from {was}", f"{name} from {now}",
                )  # fmt: skip


def _taken(path: str, data: bytes) -> dict[str, str]:
    """Return every name that a file imports, with its origin."""
    match language_of(path):
        case "python":
            tree = parsed(data)
            origins = imports_of(tree) if tree is not None else {}
            return {name: _place(path, origin) for name, origin in origins.items()}
        case "javascript":
            found: dict[str, str] = {}
            for one, at, other, there in _TAKEN.findall(data.decode("utf-8", "replace")):
                where = posixpath.normpath(posixpath.join(posixpath.dirname(path), at or there))
                found |= dict.fromkeys(re.findall(r"\w+", one or other), where)
            return found
        case _:
            return {}


def _place(path: str, origin: str) -> str:
    """Return the path of a dotted import, from the top or relative to the file."""
    beyond = len(origin) - len(origin.lstrip("."))
    folder = posixpath.dirname(path) if beyond else ""
    for _ in range(beyond - 1):
        folder = posixpath.dirname(folder)
    return posixpath.join(folder, origin.lstrip(".").replace(".", "/"))
