"""Files, functions, endpoints and migrations that a phase promises by name, and whether they exist.

Rule: a name is no promise if its item removes the file or only mentions it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from asbuilt.proof.items import Asks, Item, items_of, wanted_and_checked
from asbuilt.proof.suites.model import Change, Finding, Kind, Order, Severity, shortened
from asbuilt.proof.suites.path_roles import WORDS_ONLY, Role, is_test, language_of, role_of

_LIST: Final = r"((?:`[^`]+`(?:,\s*(?:and\s+)?|\s+and\s+)?)+)"
"""A list of names in backticks."""
_FILE: Final = re.compile(r"`(?:\./)?([\w.-]+(?:/[\w.-]+)*\.\w{1,5})(?:[\s:#][^`]*)?`")
OF_CLASS: Final = r"(?:[A-Z]\w*(?:\.|::|#))?"
"""The class before a method's name."""
_HAS: Final = re.compile(
    r"`(?:\./)?([\w./-]+\.\w{1,5})`\s+(?:has|gets|gains|defines|exports|offers|provides|contains)\s+"
    rf"{_LIST}"
)
"""A file and the names that an item says it has."""
_DECLARED: Final = re.compile(
    r"(?m)^\s*(?:export\s+)?declare\s+(?:async\s+)?(?:function|const|let|var|class)\b.*$"
)
"""TypeScript declarations; they contain no code that runs."""
_ADDS: Final = r"^\W*(?:add|create|write|introduce|implement|provide|define|expose|new)\s+"
_WANTED: Final = re.compile(
    rf"(?i){_ADDS}(?:(?:an?|the|new|function|method|async|public|endpoint|route|handler|file|page|template|schema)"
    rf"\s+)*{_LIST}(?!\s*(?:support|pars|handl|read|load|output|export))"
)
"""An item that wants something new, and its first names."""
_STATES: Final = re.compile(
    r"(?i)^\W*(?:(?:document|describe|explain|example|mention)\w*\b[^`]*\bin\s+(`[^`]+`)"
    r"|(`[^`]+`)\s+(?:\(new\)|(?!is\b)[a-z]+s\b))"
)
"""An item that describes a file's contents."""
_CHANGES: Final = re.compile(
    r"(?i)^\W*(?:(?:change|update|edit|modify|extend|adapt|adjust|rewrite|wire|make|let)\s+)?(?:in\s+)?"
    r"(`[^`]+`(?:(?:,|\s+and)\s+`[^`]+`)*)(?=\s*:|\s+[a-z]+)"
)
"""An item whose subject is a file, or that orders its change, and the files."""
_DOCUMENT: Final = re.compile(
    rf"(?i){WORDS_ONLY.pattern}|\.(?:html?|\d)$|(^|/)(docs?|man|changelog\.d|newsfragments)/|readme"
)
_NUMBER: Final = re.compile(r"(?<![\w.#-])\d{2,}(?![\w.%-]*\w)")
"""A number that is no version, issue or share; a single digit may be spelled out in code."""
_PLACED: Final = re.compile(r"/|\.(?:md|rst|adoc)$")
"""A bare `report.csv` may be the output of a program."""
_ENDPOINT: Final = re.compile(r"`(?:(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+)?(/[\w{}<>:./-]+)`")
_MIGRATION: Final = re.compile(
    r"(?i)\bmigrations?\b(?!\s+(?:guide|notes?|docs?|documentation|path|plan|instructions))"
)
_BY_MIGRATION: Final = re.compile(r"(?i)^\W*(?:an?|the|one)\s+(?:new\s+)?migration\s+[a-z]+s\b")
"""An item whose subject is a migration."""
_MIGRATES: Final = re.compile(r"(?i)migrat|alembic|\b(?:create|alter|drop)\s+(?:table|index|column)\b")
_NO_OPERATION: Final = re.compile(
    r"(?s)\boperations\s*=\s*\[\s*\]|\bdef upgrade\([^)]*\)[^:]*:\s*(?:\"\"\".*?\"\"\"\s*)?pass\b"
)
_COMMENTS: Final = re.compile(r"(?ms)^\s*(?:#(?!!)|//|--|;)[^\n]*$|/\*.*?\*/")
_PROSE: Final = re.compile(rf"(?i){WORDS_ONLY.pattern}|\.(?:html?|xml|svg)$")
_MAY_BE_EMPTY: Final = re.compile(r"(^|/)(__init__\.py|py\.typed|\.(git)?keep|\.nojekyll|[^/]*\.lock)$")
_ELSEWHERE: Final = re.compile(r"^(?:[\w-]+\.[\w.-]+|out|output|build|dist|tmp|target|coverage)/")
"""A path that starts with a host name or with an output folder."""
_ERROR: Final = re.compile(r"(?<![\w.])([A-Z]\w*(?:Error|Exception)|Err[A-Z]\w+)\b")
_UNTIL_NOW: Final = re.compile(
    r"(?i)\b(?:today|currently|so far|until now|at present|instead of|rather than|no longer)\b[^;]*"
)
"""The part of an item that describes the state before the work."""
_EXPECTS: Final = re.compile(
    r"\b(?:raises?\w*|assertRaises\w*|throws?\w*|toThrow\w*|rejects?\w*|should_panic|is_err|unwrap_err|err)\b"
)
"""How a test states that it expects an error."""
_CATCHES: Final = re.compile(r"(?m)^\s*(?:except\b|\}?\s*catch\b|.*\brecover\(|.*\.catch\()")


def unkept(changes: Iterable[Change], order: Order, there: Collection[str]) -> Iterator[Finding]:
    """Find promises that a phase does not keep: missing or empty files, names, endpoints, migrations, errors.

    A product file that was not touched counts if an item is about its change or if no product file changed.
    `there` has every path of the judged tree.
    """
    every = list(changes)
    touched = [change.path for change in every]
    works = any(is_product(path) for path in touched)
    empty = [file.path for file in every if file.after is not None and _is_empty(file)]
    for item, path in _promised(order.text):
        if _is_moved(path, item, every):
            continue
        if not any(_is_at(file, path) for file in there):
            yield finding(path, item, "the phase names it, and the tree has no such file")
        elif any(_is_at(file, path) for file in empty) and not (
            _MAY_BE_EMPTY.search(path) or re.search(r"\bempty\b", item.text)
        ):
            yield finding(path, item, "the phase names it, and the file is empty")
        elif any(_is_at(file, other) for other in _subject(item, path) for file in touched):
            continue
        elif not works and is_product(path) and Asks.LOOK not in item.asks:
            yield finding(path, item, "the phase names it, and no file of the product was changed")
        elif (is_product(path) and _is_changed_by(item, path)) or (
            _PROSE.search(path) and Asks.AS_IT_WAS not in item.asks
        ):
            yield finding(path, item, "the phase changes it by an item, and it is as it was")
    yield from _unnamed(every, order.text)
    yield from _not_added(every, order.text)
    yield from _not_documented(every, order.text)
    yield from _no_number(every, order.text)
    yield from _not_refused(every, order)


def _subject(item: Item, path: str) -> list[str]:
    """Return the files that an item is about, if the file is one of them; else every file that it names."""
    about = _changed(item)
    return about if path in about and is_product(path) else _FILE.findall(item.text)


def _changed(item: Item) -> list[str]:
    """Return the files that an item is about, or whose change it orders."""
    found = _CHANGES.match(item.text)
    return _FILE.findall(found[1]) if found is not None else []


def _is_changed_by(item: Item, path: str) -> bool:
    """Return whether an item is about the change of a file, and not only mentions it."""
    return path in _changed(item) and not item.asks & (Asks.AS_IT_WAS | Asks.LOOK)


def _is_moved(path: str, item: Item, changes: Sequence[Change]) -> bool:
    """Return whether a file was moved to a folder that its item names."""
    was_there = any(_is_at(file.path, path) and file.after is None for file in changes)
    name = path.rpartition("/")[2]
    made = (file.path for file in changes if file.before is None and file.path.rpartition("/")[2] == name)
    return was_there and any(f"`{file.removesuffix(name)}`" in item.text for file in made)


def _unnamed(changes: Sequence[Change], text: str) -> Iterator[Finding]:
    """Find names that an item says a file has and that the changed file lacks."""
    for item in items_of(text):
        for path, listed in _HAS.findall(item.text):
            found = next(
                (file for file in changes if _is_at(file.path, path) and file.after is not None), None
            )
            if found is None:
                continue
            held = {*re.findall(r"\w+", _DECLARED.sub("", found.new))}
            named = re.findall(rf"`{OF_CLASS}([^\W\d]\w*)(?![\w/]*[./])[^`]*`", listed)
            lacking = [name for name in named if name not in held]
            if lacking:
                why = f"the phase names {', '.join(lacking)}, which it does not have"
                yield finding(found.path, item, why)


def _not_added(changes: Sequence[Change], text: str) -> Iterator[Finding]:
    """Find functions, endpoints and migrations that an item wants added and no changed file has."""
    product = [file for file in changes if file.after is not None and not is_test(file.path)]
    held = {file.path: file.new for file in product}
    words = {*re.findall(r"[\w-]+", "\n".join((*held, *held.values())))}
    for item in items_of(text) if product else ():
        is_new = re.search(_ADDS, item.text, re.IGNORECASE) or _BY_MIGRATION.match(item.text)
        if not is_new or item.asks & (Asks.ABSENCE | Asks.CHOICE):
            continue
        path, wanted = product[0].path, _WANTED.search(item.text)
        named = wanted[1] if wanted else ""
        functions = re.findall(rf"`{OF_CLASS}([^\W\d]\w*)\([^`]*`", named)
        pairs = [(function, function) for function in functions]
        for endpoint in _ENDPOINT.findall(named):
            fixed = [part for part in endpoint.split("/") if part and not re.search(r"[{}<>:]", part)]
            pairs += [(endpoint, last) for last in fixed[-1:] if len(last) > 2]
        lacking = [whole for whole, word in pairs if word not in words]
        if lacking:
            yield finding(path, item, f"the phase names {', '.join(lacking)}, and no changed file has it")
        if _MIGRATION.search(item.plain):
            added = {file.path: "\n".join(line for _, line in file.added) for file in product}
            found = [held[name] for name, lines in added.items() if _MIGRATES.search(f"{name}\n{lines}")]
            if not found or all(
                _NO_OPERATION.search(sql) or not _COMMENTS.sub("", sql).strip() for sql in found
            ):
                yield finding(
                    path, item, "the phase wants a migration, and none that does anything was added"
                )


def _not_documented(changes: Sequence[Change], text: str) -> Iterator[Finding]:
    """Find an item that orders documentation, if the phase changes none."""
    touched = [change.path for change in changes]
    for item in items_of(text):
        is_ordered = Asks.DOCUMENTS in item.asks and not item.asks & (Asks.AS_IT_WAS | Asks.CHOICE)
        if not is_ordered or any(_is_at(file, path) for file in touched for path in _FILE.findall(item.text)):
            continue
        named = "readme" if "readme" in item.plain.lower() else ""
        if touched and not any(_DOCUMENT.search(path) and named in path.lower() for path in touched):
            yield finding(touched[0], item, "the phase orders documentation, and no document was changed")


def _no_number(changes: Sequence[Change], text: str) -> Iterator[Finding]:
    """Find an item with several numbers of which no line of the phase has one."""
    lines = "\n".join(line for file in changes for _, line in file.added)
    held = {*_NUMBER.findall(lines.replace("_", ""))}
    for item in items_of(text) if any(is_product(change.path) for change in changes) else ():
        numbers = dict.fromkeys(_NUMBER.findall(item.plain))
        if len(numbers) > 1 and not held & numbers.keys() and not item.asks & Asks.OTHER_THAN_WORK:
            why = f"no line of the phase has {' or '.join(numbers)}"
            yield finding(changes[0].path, item, why)


def _is_empty(change: Change) -> bool:
    """Return whether a file is empty or, unless it is prose, has only comments."""
    return not (change.new if _PROSE.search(change.path) else _COMMENTS.sub("", change.new)).strip()


def _not_refused(changes: Sequence[Change], order: Order) -> Iterator[Finding]:
    """Find errors that an item names for a refusal and that no test of the phase expects."""
    product, tests = (
        "\n".join(
            line
            for file in changes
            if is_product(file.path) is of_product and (of_product or language_of(file.path))
            for _, line in file.added
        )
        for of_product in (True, False)
    )
    _, checked = wanted_and_checked(order.text)
    for item in items_of(order.text):
        if Asks.REFUSAL not in item.asks:
            continue
        for name in dict.fromkeys(_ERROR.findall(_UNTIL_NOW.sub("", item.text))):
            is_raised = re.search(rf"\b(?:raise|throw new|throw|Err\(|return)\s*(?:\w+\.)*{name}\b", product)
            is_returned = re.search(rf"\breturn\s+(?:\w+\.)*{name}\(", product)
            expects = name in tests or name in checked
            # An error that is raised and never caught reaches the caller.
            is_seen = _EXPECTS.search(tests) or not _CATCHES.search(product)
            if expects or (is_raised and not is_returned and is_seen):
                continue
            path = next((file.path for file in changes if is_product(file.path)), "")
            if path:
                yield finding(path, item, f"the phase names {name}, and no test that it adds expects one")


def _is_at(path: str, named: str) -> bool:
    return path == named or path.endswith(f"/{named}")


def _promised(text: str) -> Iterator[tuple[Item, str]]:
    """Yield every file that a work item names, with the item."""
    seen = set()
    for item in items_of(text):
        if item.asks & (Asks.ABSENCE | Asks.CHOICE):
            continue
        for path in _FILE.findall(item.text):
            if path not in seen and (language_of(path) or _is_meant(item, path)):
                seen.add(path)
                yield item, path


def _is_meant(item: Item, path: str) -> bool:
    """Return whether an item wants a file that is not code: a program may read or write one when it runs."""
    found = _WANTED.search(item.text) or _STATES.search(item.text)
    named = _FILE.findall("".join(filter(None, found.groups()))) if found else []
    if _PROSE.search(path) and Asks.REPORT in item.asks:
        return not _ELSEWHERE.match(path)
    return path in named and _PLACED.search(path) is not None and not _ELSEWHERE.match(path)


def is_product(path: str) -> bool:
    """Return whether a file is code of the product, and no test."""
    return role_of(path) in (Role.PRODUCT, Role.TEST) and not is_test(path)


def finding(path: str, item: Item, why: str) -> Finding:
    """Return the finding that an item is not kept."""
    return Finding(Kind.PROMISE_UNKEPT, Severity.SIGN_OFF, path, why, shortened(item.text))
