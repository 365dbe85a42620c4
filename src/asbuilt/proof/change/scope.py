"""Check whether a phase stayed in its scope, and its changes to files with effects beyond it.

Rule: a file that the phase names is its own; for any other such file the user's `scope` setting decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from asbuilt.errors import PlanUnreadable
from asbuilt.plan.reader import read
from asbuilt.proof.change.boundaries import LINK_WORDS, PLACES, SEVERITY, WORDS, Boundary, link_of
from asbuilt.proof.change.loosened_linters import loosened, suppressions
from asbuilt.proof.change.restored_test_settings import is_cache
from asbuilt.proof.items import wanted_and_checked, without_criteria
from asbuilt.proof.projects.index import is_vendored
from asbuilt.proof.projects.manifests import table, toml
from asbuilt.proof.remarks import Remark, cited_words, content_of
from asbuilt.proof.suites.model import Change, Citation, Order, Severity
from asbuilt.proof.suites.ordered_changes import ordered
from asbuilt.proof.suites.path_roles import WORDS_ONLY, Role, is_called_test, is_in_tests, parents, role_of

_MANIFEST: Final = re.compile(
    r"^(pyproject\.toml|setup\.(py|cfg)|requirements[^/]*|Pipfile|package\.json|Cargo\.toml|go\.mod|Gemfile|composer\.json|"
    r"build\.gradle(\.kts)?|flake\.nix|mix\.exs|pubspec\.yaml|Podfile)$"
)
_TEST_NAME: Final = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|[^/]*[.-](test|spec))\.\w+$")
_HEADING: Final = re.compile(r"^\s*#{1,6}\s+([^:]+):?(.*)$")
_LABEL: Final = re.compile(
    r"^\s*([-*+]\s+)?(?:(?:\*\*|__)([^*_:]{3,40}):?(?:\*\*|__):?|([A-Za-z][A-Za-z -]{2,40}):)(.*)$"
)
_WITHIN: Final = re.compile(
    r"(?i)^(scope|(affected |touched |changed )?files( to (change|modify|touch|create|edit|add))?|touches)$"
)
_WITHOUT: Final = re.compile(r"(?i)^(non-? ?scope|out of scope|not in scope|do not touch|off limits)$")
_ALLOWS: Final = re.compile(r"(?i)\*\*Allows:?\*\*")
_SEARCHES: Final = frozenset("grep egrep rg test [ [[ wc jq head tail ls stat awk sed cat !".split())
"""Programs that search a file; the file is the result of the work, not an input of the check."""
_CHECKS: Final = re.compile(
    r"(?i)(^|/)(scripts?|tools?|ci|checks?|hack|dev)/|(check|verif|valid|smoke|compare|lint)\w*\.\w+$"
)
_UNORDERED: Final = "the phase does not order it"
_STRICTEST: Final = (Severity.FAILS, Severity.SIGN_OFF, Severity.NOTE, Severity.ALLOWED)
_WITHOUT_IT: Final = "checks run without what programs leave for their next run"
_PATH: Final = re.compile(
    r"`([^`\s]+)`|(?<![\w/.])((?:[\w.@*?-]+/)+[\w.@*?-]*|[\w@*?-][\w.@*?-]*\.[A-Za-z]\w{0,5})(?![\w/])"
)


def beyond(
    changes: Iterable[Change], order: Order, rules: Mapping[str, str], *, around: str = ""
) -> tuple[Remark, ...]:
    """Return remarks on changed files that are outside the phase's scope or have effects beyond it.

    `around` is the plan's text outside its phases; its out-of-scope paths apply to every phase.
    """
    every = [change for change in changes if change.before != change.after or link_of(change)]
    touched = {change.path for change in every}
    within, without = stated(order.text, _WITHIN), stated(order.text, _WITHOUT) + stated(around, _WITHOUT)
    # A path under an out-of-scope title is not ordered by being named there.
    left_out = {at for at, _ in _under(order.text, _WITHOUT)}
    lines = ("" if at in left_out else line for at, line in enumerate(order.text.splitlines()))
    order = order._replace(text="\n".join(lines))
    left = {change.path for change in every if is_cache(change.path) and link_of(change) is None}
    made = [change for change in every if change.after is not None and change.path in left]
    found = [_remark("cache-kept", Severity.NOTE, change, _WITHOUT_IT) for change in made[:1]]
    for change in every:
        if change.path in left:
            continue
        placed = [*_at_a_place(change, order, rules, touched)]
        found += placed or _outside(change, order, rules, within, without)
    return (*found, *_silenced(every, order, rules), *_read_by_checks(every, order, rules))


def plan_changed(path: str, before: bytes, after: bytes | None, rules: Mapping[str, str]) -> Remark | None:
    """Remark on an agent's change to the plan, which was restored; a change of marks only is a note."""
    if before == after:
        return None
    content = content_of(Change(path, before, after))
    if _intent(before) == _intent(after):
        reason = "marks are asbuilt's to set"
        return Remark("plan-marked", Severity.NOTE, path, now=reason, content=content, identity="")
    now = "it is gone; it was put back" if after is None else "it wants something else; it was put back"
    severity = SEVERITY[rules[Boundary.PLAN]]
    return Remark("plan-changed", severity, path, now=now, content=content, identity="")


def strayed(before: Mapping[str, str], after: Mapping[str, str], *, is_shared: bool) -> list[Remark]:
    """Return what changed outside the workspace while an agent worked without a sandbox.

    A shared file may have been changed by the user, so it needs a sign-off. Any other file fails until the
    user restores it.
    """
    rule, severity = ("changed-in-your-checkout", Severity.SIGN_OFF) if is_shared else (
        "changed-outside-the-workspace", Severity.FAILS
    )  # fmt: skip
    why = "while an agent worked and no ring held it; was it you?" if is_shared else "put it back"
    changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    states = {name: (before.get(name, ""), after.get(name, "")) for name in changed}
    return [
        Remark(rule, severity, name, was=was, now=f"{now or 'gone'}; {why}", identity=f"{was} {now}")
        for name, (was, now) in states.items()
    ]


def stated(text: str, title: re.Pattern[str] = _WITHIN) -> tuple[str, ...]:
    """List the paths under a title or after it on its line; empty if no line has the title."""
    found = (pair for _, line in _under(text, title) for pair in _PATH.findall(line))
    return tuple(dict.fromkeys((quoted or bare).removeprefix("./").rstrip(".,") for quoted, bare in found))


def _under(text: str, title: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines under a title with their indexes; code blocks are left out."""
    is_open = is_code = False
    for at, line in enumerate(text.splitlines()):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        name, rest = (None, "") if is_code else _titled(line)
        if name is not None:
            is_open = title.match(name) is not None
        if is_open and not is_code:
            yield at, rest


def _titled(line: str) -> tuple[str | None, str]:
    """Return a line's title and the text after it; None for a line without a title."""
    heading = _HEADING.match(line)
    if heading is not None:
        return heading[1].strip(), heading[2]
    label = _LABEL.match(line)
    if label is None:
        return None, line
    name = (label[2] or label[3]).strip()
    # A bullet with another label continues the list that it is in.
    is_title = not label[1] or _WITHIN.match(name) or _WITHOUT.match(name)
    return (name, label[4]) if is_title else (None, line)


def covers(patterns: Iterable[str], path: str) -> bool:
    """Return whether a path is one of the patterns, is below one, or matches a glob."""
    return any(
        path == pattern
        or path.startswith(f"{pattern.rstrip('/')}/")
        or fnmatchcase(path, pattern.replace("**/", "*"))
        or ("/" not in pattern and path.rpartition("/")[2] == pattern)
        for pattern in patterns
    )


def _at_a_place(
    change: Change, order: Order, rules: Mapping[str, str], touched: set[str]
) -> Iterator[Remark]:
    """Judge a change by its path. Of several boundaries only the strictest counts, so that one is asked."""
    found = [*_linked(change, order, rules)]
    for boundary, place in PLACES.items():
        if not _is_beyond(boundary, change):
            continue
        cited = ordered(order, change.path, re.compile(place.words) if place.words else None)
        if cited is not None:
            found.append(_remark(place.rule, Severity.ALLOWED, change)._replace(cited=cited_words(cited)))
        elif boundary is Boundary.LOCKS and any(
            _MANIFEST.match(name) and folder in ("", *parents(change.path))
            for folder, _, name in (other.rpartition("/") for other in touched)
        ):
            found.append(_remark(place.rule, Severity.NOTE, change, "together with its manifest"))
        else:
            found.append(_remark(place.rule, SEVERITY[rules[boundary]], change, _UNORDERED))
    yield from sorted(found, key=lambda remark: _STRICTEST.index(remark.severity))[:1]


def _linked(change: Change, order: Order, rules: Mapping[str, str]) -> Iterator[Remark]:
    """Find a link that leaves the tree; naming the path does not order that it is a link."""
    link = link_of(change)
    if link is None:
        return
    rule, why = link
    cited = _ordered_in_words(order, change.path, LINK_WORDS, is_named=True)
    if cited is not None:
        yield _remark(rule, Severity.ALLOWED, change, why)._replace(cited=cited_words(cited))
    else:
        yield _remark(rule, SEVERITY[rules[Boundary.LINKS]], change, f"{why}; {_UNORDERED}")


def _silenced(every: Sequence[Change], order: Order, rules: Mapping[str, str]) -> Iterator[Remark]:
    """Find silenced warnings and loosened limits that the phase does not order."""
    ours = [change for change in every if not is_cache(change.path) and not is_vendored(change.path)]
    own = [change for change in ours if not any(_is_beyond(boundary, change) for boundary in PLACES)]
    contents = {change.path: content_of(change) for change in own}
    found = [(Boundary.SUPPRESSIONS, "suppression-added", suppression) for suppression in suppressions(own)]
    settings = [change for change in own if not is_in_tests(change.path)]
    found += [(Boundary.LIMITS, "setting-loosened", loosening) for loosening in loosened(settings)]
    for boundary, rule, loosening in found:
        is_test = boundary is Boundary.SUPPRESSIONS and (
            is_in_tests(loosening.path) or _TEST_NAME.search(loosening.path)
        )
        severity = (
            Severity.NOTE if is_test or WORDS_ONLY.search(loosening.path) else SEVERITY[rules[boundary]]
        )
        cited = _ordered_in_words(order, loosening.path, WORDS[boundary])
        severity = severity if cited is None else Severity.ALLOWED
        yield Remark(
            rule,
            severity,
            loosening.path,
            "",
            loosening.line,
            loosening.was,
            loosening.now,
            cited_words(cited),
            contents[loosening.path],
        )


def _ordered_in_words(
    order: Order, path: str, words: re.Pattern[str], *, is_named: bool = False
) -> Citation | None:
    """Find where a phase orders a change by more than the file's name; paths on an `Allows` line restrict it.

    With `is_named` the line has to name the path as well.
    """
    lines = []
    for line in wanted_and_checked(order.text)[0].splitlines():
        paths = [quoted or bare for quoted, bare in _PATH.findall(line)] if _ALLOWS.search(line) else []
        lines.append(line if words.search(line) and (not paths or covers(paths, path)) else "")
    return ordered(order._replace(text="\n".join(lines)), path, None if is_named else words)


def _read_by_checks(every: Sequence[Change], order: Order, rules: Mapping[str, str]) -> Iterator[Remark]:
    """Find files that the phase changes and its checks read, though no item names them."""
    given = [word for check in order.checks for word in _given_to(check)]
    # A criterion states what a check must find, not that its script changes.
    wanted = order._replace(text=without_criteria(wanted_and_checked(order.text)[0]))
    for change in every:
        if change.before is None or change.path not in given or not _is_input(change.path):
            continue
        cited = ordered(wanted, change.path)
        severity = SEVERITY[rules[Boundary.CHECKED]] if cited is None else Severity.ALLOWED
        why = "one of the phase's checks reads it, and no item names it"
        yield _remark("check-input-changed", severity, change, why)._replace(cited=cited_words(cited))


def _given_to(check: str) -> Iterator[str]:
    """Yield the words of a check's commands, except of programs that only search."""
    for part in re.split(r"&&|\|\||[;|\n]", check):
        words = [word.strip("\"'()<").removeprefix("./") for word in part.split()]
        program = next((word for word in words if "=" not in word), "")
        if program.rpartition("/")[2] not in _SEARCHES:
            yield from words


def _is_input(path: str) -> bool:
    """Return whether a file is data or a checking script; tests are compared, and the product is the work."""
    is_text = WORDS_ONLY.search(path) is not None and not path.endswith(".txt")
    if is_text or is_called_test(path) or _MANIFEST.match(path.rpartition("/")[2]):
        return False
    is_data = role_of(path) in (Role.DATA, Role.OTHER)
    return is_data or (role_of(path) is Role.PRODUCT and _CHECKS.search(path) is not None)


def _is_beyond(boundary: Boundary, change: Change) -> bool:
    if boundary is Boundary.SETTINGS and change.path == "pyproject.toml":
        before, after = (table(toml(text), "tool").get("asbuilt") for text in (change.old, change.new))
        return before != after
    return re.search(PLACES[boundary].where, change.path) is not None


def _outside(
    change: Change, order: Order, rules: Mapping[str, str], within: tuple[str, ...], without: tuple[str, ...]
) -> list[Remark]:
    path, severity = change.path, SEVERITY[rules[Boundary.OUTSIDE]]
    if ordered(order, path) is not None:
        return []
    if covers(without, path):
        return [_remark("out-of-scope", severity, change, "the plan leaves it out")]
    if not within or covers(within, path) or is_in_tests(path):
        return []
    if _TEST_NAME.search(path) or WORDS_ONLY.search(path) or change.after == b"":
        severity = Severity.NOTE
    return [_remark("outside-the-scope", severity, change, f"the phase names only {', '.join(within[:3])}")]


def _remark(rule: str, severity: Severity, change: Change, why: str = "") -> Remark:
    now = "it is new" if change.before is None else "it is gone" if change.after is None else "it is changed"
    words = f"{now}; {why}" if why else now
    return Remark(rule, severity, change.path, now=words, content=content_of(change), identity="")


def _intent(data: bytes | None) -> str | None:
    try:
        return None if data is None else read(data).intent
    except PlanUnreadable:
        return None
