"""Find what a phase silences or loosens: warnings by comments, linters and coverage by settings. Pure.

Settings are read line by line, whatever their format. Rule: settings of a new tool loosen nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from asbuilt.proof.suites.model import Change

_SUPPRESSES: Final = re.compile(
    r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore|pylint:\s*disable\S*|pragma:\s*no\s?cover|nosec|mypy:\s*ignore-errors|"
    r"ruff:\s*noqa|flake8:\s*noqa|rubocop:disable|shellcheck disable)\b"
    r"|(?://|/\*|<!--|\{/\*)\s*(eslint-disable\S*|@ts-(?:ignore|nocheck|expect-error)|tslint:disable\S*|"
    r"biome-ignore(?! format)|istanbul ignore|c8 ignore|v8 ignore|stylelint-disable\S*|nolint|noinspection|"
    r"NOLINT\w*|NOSONAR)"
    r"|(#!?\[allow\(|@SuppressWarnings\b|@Suppress\(|#\[coverage\(off|#pragma warning disable)"
)
_TOOLS: Final = re.compile(
    r"(^|/)(pyproject\.toml|setup\.cfg|tox\.ini|(mypy|pytest|pylint|ruff|clippy|rustfmt|bandit)\.(ini|toml)|package\.json|"
    r"Cargo\.toml|tsconfig[^/]*\.json|biome\.jsonc?|deno\.jsonc?|codecov\.ya?ml|detekt\.ya?ml|phpstan\.neon|Rakefile|"
    r"sonar-project\.properties|noxfile\.py|\.?[Jj]ustfile|GNUmakefile|[Mm]akefile|[^/]*\.(mk|sh)|[^/]*\.config\.[cm]?[jt]s|"
    r"\.[\w-]*(rc|lint|coverage|flake8|golangci|rubocop|prettier|jscpd|codecov|codeclimate|markdownlint|yamllint|swiftlint|"
    r"clang-tidy|bandit)[\w-]*(\.\w+)?)$"
)
_OF_PACKAGES: Final = re.compile(
    r"^(tool\.(poetry|setuptools|hatch|pdm|uv|flit|asbuilt|scikit-build|cibuildwheel)|metadata|options|project|build-system|"
    r"(dev-|build-)?dependencies|package|workspace|files|exports|bundledDependencies)\b"
)
"""Settings of a package's contents."""
_BY_SECTIONS: Final = re.compile(r"\.(toml|ini|cfg|neon|properties)$|(^|/)\.?[\w-]+$|rc$")
_SECTION: Final = re.compile(r"^\[+\s*([^\[\],]+?)\s*\]+\s*(?:[#;].*)?$")
_PAIR: Final = re.compile(r"[\"']?([A-Za-z@][\w@./*-]*)[\"']?\s*[:=]\s*")
_FLAG: Final = re.compile(r"(?<![\w-])--([a-z][\w-]+)[= ]\"?(\d+(?:\.\d+)?)")
_WORD: Final = re.compile(r"[\w@./*%+:-]+")
_COMMENT: Final = re.compile(r"^\s*(?:#|//|;|\*|/\*).*$|\s(?:#|//)\s.*$")
_FORGIVES: Final = re.compile(r"\|\|\s*(?:true|:|exit 0)|--exit-zero|--no-error\S*|continue-on-error:\s*true")
_NOT_LOWER: Final = re.compile(
    r"(?i)fail[-_]?under|threshold|min(imum)?[-_]?(coverage|covered|cov|lines|branches|statements|functions|score|msi|test)|"
    r"(coverage|threshold|nyc|c8).*\.(lines|branches|functions|statements|target|minimum)$"
)
_NOT_HIGHER: Final = re.compile(
    r"(^|[.-])max[-_A-Z]|complexity|cyclop|funlen|timeout|(errors?|warnings?|failures?)[-_]?(allowed|limit)|jscpd.*threshold"
)
_OPERATIONAL: Final = re.compile(
    r"(?i)max[-_]?(old|workers?|parallel|concurren|retries|fail|procs|jobs|memory|age|heap|instances|forks|threads|version)"
)
_LEAVES_OUT: Final = re.compile(
    r"(^|\.)(extend-)?(per-file-ignores\..*|ignores?|exclude[sd]?|excluded_?lines|exclude_(lines|also)|omit|disable[sd]?|skips?|"
    r"disable_error_code|ignorePatterns|coveragePathIgnorePatterns|exclusions|sonar\.\w*\.?exclusions)$"
)
_LOOKS_FOR: Final = re.compile(r"^(extend-)?(select|enable[sd]?|linters|rules|checks)$")
_DEMANDS: Final = re.compile(r"(?i)strict|disallow|^no[A-Z_]|warn_|check|enabled?$|fail|require|error")
_FORGIVING: Final = re.compile(r"(?i)ignore|^allow|skip|continue.on.error|exit.zero|disabled?$")
_RANKS: Final = {"off": 0, "allow": 0, "none": 0, "warn": 1, "warning": 1, "error": 2, "deny": 2, "forbid": 2}
_ALL: Final = frozenset(("ALL", "all", "*"))
_NAMED: Final = 3
_EVERYTHING: Final = " everything"


class Loosened(NamedTuple):
    """What one file silences or loosens, in words."""

    path: str
    line: int | None
    was: str
    now: str


_Found = list[tuple[int, str]]
"""Suppressions with their line numbers."""


def suppressions(changes: Sequence[Change]) -> Iterator[Loosened]:
    """Find new comments that silence a warning; a comment that only moved is not new."""
    lost = {file.path: _gained(file._replace(before=file.after, after=file.before)) for file in changes}
    left = {
        file.path: _uncovered(_gained(file), Counter(_kind(text) for _, text in lost[file.path]))
        for file in changes
    }
    gone: Counter[str] = sum((lost for _, lost in left.values()), Counter())
    for path, (gained, _) in left.items():
        fresh, gone = _uncovered(gained, gone)
        if fresh:
            more = f" and {len(fresh) - 1} more" if len(fresh) > 1 else ""
            yield Loosened(path, fresh[0][0], "", f"{fresh[0][1]}{more}")


def _uncovered(gained: _Found, lost: Counter[str]) -> tuple[_Found, Counter[str]]:
    """Cancel each new suppression against a lost one of its kind or a wider kind; return the rest of both."""
    fresh, left = [], Counter(lost)
    for number, text in gained:
        wider = f"{_kind(text).removesuffix(_EVERYTHING)}{_EVERYTHING}"
        covered = next((kind for kind in (_kind(text), wider) if left[kind] > 0), None)
        if covered is None:
            fresh.append((number, text))
        else:
            left[covered] -= 1
    return fresh, left


def _gained(change: Change) -> _Found:
    before = Counter(text for _, text in _found(change.old))
    fresh = []
    for number, text in _found(change.new):
        before[text] -= 1
        if before[text] < 0:
            fresh.append((number, text))
    return fresh


def _found(text: str) -> _Found:
    lines = text.splitlines()
    return [
        (number, " ".join(line[found.start() :].split())[:80])
        for number, line in enumerate(lines, 1)
        if (found := _SUPPRESSES.search(line))
    ]


def _kind(text: str) -> str:
    """Name a suppression without its subject: `# noqa: E501` may become `# noqa: E502`."""
    found = _SUPPRESSES.search(text)
    bare = "" if found is None else found[0]
    return f"{bare}{_EVERYTHING}" if bare == text else bare


def loosened(changes: Sequence[Change]) -> Iterator[Loosened]:
    """Find settings of linters, coverage and checks that demand less than before, file by file."""
    files = [file for file in changes if _TOOLS.search(file.path)]
    now = {file.path: _settings(file.path, file.new) for file in files}
    is_new = any(file.before is None for file in files)
    for change in files:
        before, others = _settings(change.path, change.old), now | {change.path: {}}
        moved = {_known_by(*setting) for settings in others.values() for setting in settings.items()}
        found = [*_less(before, now[change.path], moved)]
        if change.before is not None:
            then, forgiving = (Counter(_FORGIVES.findall(side)) for side in (change.old, change.new))
            found += [("", words) for words in forgiving - then]
        if change.after is None:
            is_kept = is_new or not before or any(_known_by(*pair) in moved for pair in before.items())
            found = [] if is_kept else [("", "the settings are gone")]
        if found:
            was, became = (", ".join(filter(None, side)) for side in zip(*found[:_NAMED], strict=True))
            more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            yield Loosened(change.path, None, was, f"{became}{more}")


_Values = tuple[str, ...]


def _less(
    before: dict[str, _Values], after: dict[str, _Values], moved: set[_Values]
) -> Iterator[tuple[str, str]]:
    tools = {_tool(name) for name in before}
    for name in sorted({*before, *after}):
        old, new = before.get(name, ()), after.get(name, ())
        if old == new or _tool(name) not in tools or _known_by(name, old) in moved:
            continue
        if _is_less(name, old, new):
            leaves_out = _LEAVES_OUT.search(name)
            gained = [value for value in new if value not in old] if leaves_out else new
            was = f"{name} {' '.join(old)}" if old and not leaves_out else ""
            yield was[:80], f"{name} {' '.join(gained) or 'is gone'}"[:80]


def _known_by(name: str, values: _Values) -> _Values:
    """Identify a setting without its parents: it may have moved to another file."""
    return (name.rpartition(".")[2], *values)


def _is_less(name: str, old: _Values, new: _Values) -> bool:
    leaf = name.rpartition(".")[2]
    if _LEAVES_OUT.search(name):
        return bool({*new} - {*old})
    if _LOOKS_FOR.search(leaf) and {*old} - {*new} and not _ALL & {*new}:
        return True
    first, now = _number(old), _number(new)
    if first is not None and not _OPERATIONAL.search(name):
        if _NOT_HIGHER.search(name):
            return now > first if now is not None else "warnings" in name
        if _NOT_LOWER.search(name):
            return now is None or now < first
    was, says = (" ".join(pair[:1]).lower() for pair in (old, new))
    if was in _RANKS and (says in _RANKS or ".rules." in f".{name}"):
        return _RANKS[was] > _RANKS.get(says, 0)
    if says in ("true", "false") and was != says:
        is_forgiving = _FORGIVING.search(leaf) is not None
        if _DEMANDS.search(leaf) and not is_forgiving:
            return says == "false" and was == "true"
        return says == "true" and is_forgiving
    return False


def _number(values: _Values) -> float | None:
    found = (value.rstrip("%") for value in values)
    return next((float(value) for value in found if re.fullmatch(r"-?\d+(\.\d+)?", value)), None)


def _tool(name: str) -> str:
    """Name the part of a file that a setting belongs to: settings of a new tool loosen nothing."""
    first, *more = re.split(r"[.-]", name)
    return f"tool.{more[0]}" if first == "tool" and more else first if "." in name else ""


def _settings(path: str, text: str) -> dict[str, _Values]:
    """Read settings of any format: each dotted name and the words it is set to."""
    found: dict[str, list[str]] = {}
    section, above = "", list[tuple[int, str]]()
    has_sections = _BY_SECTIONS.search(path) is not None
    for raw in text.splitlines():
        line = _COMMENT.sub("", raw).rstrip()
        for flag, number in _FLAG.findall(line):
            found.setdefault(f"--{flag}", []).append(number)
        line = _FLAG.sub("", line)
        head = _SECTION.match(line.strip()) if has_sections else None
        if head is not None:
            section, above = head[1].replace('"', "").replace(":", "."), []
            continue
        if not line.strip() or path.endswith((".sh", ".mk", "akefile", "ustfile")):
            continue
        indent = len(line) - len(line.lstrip(" \t"))
        while above and above[-1][0] >= indent:
            above.pop()
        names = [section, *(name for _, name in above)]
        for name, words in _pairs(line.strip().removeprefix("- "), names):
            found.setdefault(name, []).extend(words)
        opened = _PAIR.match(line.strip().removeprefix("- "))
        if opened is not None and (
            line.endswith(("[", "{", "(", ":", "=")) or line.strip() == opened[0].strip()
        ):
            above.append((indent, opened[1]))
    return {
        name: tuple(words) for name, words in found.items() if not _OF_PACKAGES.search(name) or "--" in name
    }


def _pairs(line: str, above: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Split a line at the names in it; words before the first name belong to the parent."""
    names = [value for value in above if value]
    at = 0
    for found in _PAIR.finditer(line):
        if words := _WORD.findall(line[at : found.start()]):
            yield ".".join(names), words
        is_inside = "{" in line[at : found.start()]
        names = [*names, found[1]] if at == 0 or is_inside else [*names[:-1], found[1]]
        at = found.end()
    if words := _WORD.findall(line[at:]):
        yield ".".join(names), words
