"""Find the line where a plan orders a change of the tests, to cite it.

Rules: naming a test is not an order; the same clause has to state what happens to it, without a negation. An
order to merge or to rewrite tests is about their form: it allows neither a failure nor a lost case.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from asbuilt.proof.suites.model import LITERAL, Citation, Finding, Kind, Order, Severity, shortened


def _verbs(words: str, *phrases: str) -> str:
    forms = []
    for word in words.split():
        stem = word.removesuffix("e")
        twice = stem + stem[-1] if word[-1] in "pt" else stem
        forms += [word, f"{word}s", f"{word}es", f"{stem}ed", f"{stem}ing", f"{twice}ed", f"{twice}ing"]
    return "|".join([*forms, *phrases])


_REMOVE: Final = _verbs(
    "remove delete drop retire discard eliminate purge strip",
    "gets? rid of", "take out", "goes", "go away", "no longer", "obsolete", "superseded",
)  # fmt: skip
_JOIN: Final = _verbs("merge fold")
"""What is joined may leave nothing under its own name: this can order an absence, but no failure."""
_FORM: Final = _JOIN + "|" + _verbs(
    "combine consolidate unify collapse parametrise parametrize parameterise parameterize rewrite",
    "rewritten", "written (?:anew|again)", "(?:into|as) one", "cases of one",
    r"(?:(?:in|are|is)(?: now)? (?:one|a single)|(?:into|as|becomes?) (?:one|a)) "
    r"(?:[\w-]+ ){0,2}(?:test|table|loop)",
)  # fmt: skip
_CHANGE: Final = _verbs(
    "change update rewrite adjust replace rename move regenerate refresh re-?record re-?baseline adapt edit "
    "convert migrate switch bump raise lower increase reduce expect become",
    "rewritten", "written (?:anew|again)", "anew", "now", "instead of", "from", "(?:is|are) called",
)  # fmt: skip
_LOOSEN: Final = _verbs(
    "relax loosen widen soften raise increase allow accept", "tolerances?", "approximate(?:ly)?", "within"
)
_SKIP: Final = _verbs("skip disable quarantine ignore", "xfail", "expected to fail", "only (?:on|in|with)")
_ADD: Final = _verbs("add introduce configure register create write enable implement use", "sets?", "put")
_ABOUT_TESTS: Final = (
    r"under tests?|test modes?|(?:in|by|while|when|during|for) (?:the )?test(?:s|ed|ing)?|plug-?ins?|"
    r"fixtures?|pytest|unittest|jest|vitest|call(?:er|ing)|stack|frames?"
)
"""Words by which a plan states that a product depends on tests or on its caller."""
_HOLD: Final = _verbs("show contain include list hold gain", "has", "have", "gets?")
_DENIED: Final = re.compile(
    r"(?i)\b(?:do not|don't|does not|doesn't|never|not|without|no need to|rather than|instead of|cannot|nor|"
    r"no|avoid)\s+(?:\w+\s+){0,2}$"
)
_FORBIDS: Final = re.compile(r"(?i)\b(?:do not|don't|must not|never|without|leave|untouched|unchanged)\b")
_BORDER: Final = re.compile(
    r"(?i)[.;](?=\s|$)|\b(?:so that|but|while|keep(?:s|ing)?|still|stays?|staying|pass(?:es|ing)?|until|"
    r"unless|except|(?:must|should|will) (?:not|pass|keep|stay|still|work|continue)|ma[dk]e)\b"
)
_BULLET: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)]|#+|\|)\s")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w.-]*")
_COMMON: Final = frozenset(
    (
        "test tests testing spec specs suite suites file files code function functions module modules class "
        "method remove delete drop change update rename move old new case cases check checks with from that "
        "this their them into for the and its only when then also should must which have does returns return "
        "value values should raises skip assert"
    ).split()
)

_VERBS: Final[dict[Kind, str]] = {
    Kind.TEST_REMOVED: _REMOVE,
    Kind.TEST_EMPTIED: _REMOVE,
    Kind.NOT_COLLECTED: f"{_REMOVE}|{_SKIP}|renam(?:e[sd]?|ing)",
    Kind.TEST_SKIPPED: _SKIP,
    Kind.ASSERTION_REMOVED: _REMOVE,
    Kind.TOLERANCE_LOOSENED: _LOOSEN,
    Kind.EXPECTATION_CHANGED: f"{_CHANGE}|{_REMOVE}",
    Kind.GOLDEN_CHANGED: f"{_CHANGE}|{_REMOVE}|{_HOLD}",
    Kind.RUNNER_CHANGED: f"{_CHANGE}|{_ADD}|{_REMOVE}",
    Kind.OUTCOME_REWRITTEN: _ADD,
    Kind.PRODUCT_REPLACED: f"{_ADD}|{_CHANGE}",
    Kind.KNOWS_THE_TESTS: _ABOUT_TESTS,
    Kind.NOT_COMPARED: f"{_CHANGE}|{_ADD}|{_REMOVE}|{_FORM}",
}
"""What a plan can order. A kind that is missing here is never allowed: what cannot fail checks nothing."""
_KEPT_BY_FORM: Final = (
    *(Kind.TEST_REMOVED, Kind.TEST_EMPTIED, Kind.ASSERTION_REMOVED),
    *(Kind.TOLERANCE_LOOSENED, Kind.EXPECTATION_CHANGED),
)
"""What an order about the form of tests does not allow."""
_OF_TESTS: Final = re.compile(r"(?i)\b(?:tests?|sub-?tests?|specs?|cases?|test_\w+|\w+_test)\b")


_ALLOWS: Final = re.compile(r"(?i)\*\*Allows:?\*\*:?\s+(removal|skip|change)\s+(?:of\s+)?(.+)")
_ALLOWED: Final[dict[str, tuple[Kind, ...]]] = {
    "removal": (Kind.TEST_REMOVED, Kind.NOT_COLLECTED, Kind.ASSERTION_REMOVED, Kind.NOT_COMPARED),
    "skip": (Kind.TEST_SKIPPED, Kind.NOT_COLLECTED),
    "change": (Kind.EXPECTATION_CHANGED, Kind.GOLDEN_CHANGED, Kind.NOT_COMPARED),
}
"""What a plan allows by one word, followed by a path or the name of a test."""


class _Clause(NamedTuple):
    line: int
    text: str
    whole: str


def settled(finding: Finding, order: Order) -> Finding:
    """Return a finding with the plan's order for it, if there is one."""
    if finding.severity is Severity.NOTE or finding.kind not in _VERBS:
        return finding
    allowed = _allowed(order, finding)
    if allowed is not None:
        return finding._replace(severity=Severity.ALLOWED, cited=allowed)
    is_merged = finding.kind in _LESS and _form_clause(finding, order, by_name=True) is not None
    verbs = _VERBS[finding.kind] if finding.severity is Severity.FAILS else f"{_VERBS[finding.kind]}|{_JOIN}"
    for clause in _clauses(order):
        named = _names(clause, finding)
        # A plan that states the new value has ordered it, whatever its verb.
        is_given = named == "value" and finding.kind is Kind.EXPECTATION_CHANGED
        if named == "" or not (is_given or (not is_merged and _says(clause.text, verbs))):
            continue
        if finding.kind in _KEPT_BY_FORM and not is_given and _is_form(clause, finding):
            continue
        cited = Citation(clause.line, shortened(clause.whole, 120))
        # Naming a file does not name a test: the user decides what was meant.
        vague = named == "file" and finding.severity is Severity.FAILS and finding.kind not in _OF_FILES
        return finding._replace(severity=Severity.SIGN_OFF if vague else Severity.ALLOWED, cited=cited)
    return finding


def ordered_form(finding: Finding, order: Order) -> Citation | None:
    """Find where a plan orders another form of a test: merged, parametrised, written again."""
    clause = _form_clause(finding, order)
    return clause and Citation(clause.line, shortened(clause.whole, 120))


def _form_clause(finding: Finding, order: Order, *, by_name: bool = False) -> _Clause | None:
    names = _is_called if by_name else _names
    clauses = (clause for clause in _clauses(order) if names(clause, finding) and _is_form(clause, finding))
    return next(clauses, None)


def _is_form(clause: _Clause, finding: Finding) -> bool:
    """Return whether a clause orders another form of tests; one about the product does not."""
    is_of_tests = _OF_TESTS.search(clause.text) is not None or _is_called(clause, finding)
    return is_of_tests and _says(clause.text, _FORM)


def _allowed(order: Order, finding: Finding) -> Citation | None:
    """Find the line by which a plan allows it formally: `**Allows:** removal tests/test_gift.py`."""
    own = finding.test.rpartition(".")[2]
    for at, line in enumerate(order.text.splitlines()):
        allowance = _ALLOWS.search(line)
        if allowance is None or finding.kind not in _ALLOWED[allowance[1].lower()]:
            continue
        for named in re.split(r"[,\s]+", allowance[2].replace("`", "")):
            is_it = named in (finding.path, finding.test, own) or finding.path.startswith(
                f"{named.rstrip('/')}/"
            )
            if named and is_it:
                return Citation(order.first_line + at, shortened(line, 120))
    return None


def ordered(order: Order, path: str, words: re.Pattern[str] | None = None) -> Citation | None:
    """Find where a plan orders a change of a file that is not a test: by file, folder, or `words`."""
    folders = [path[: at + 1] for at, letter in enumerate(path) if letter == "/"]
    for clause in _clauses(order):
        text = clause.text
        if _FORBIDS.search(text):
            continue
        is_below = any(
            re.search(rf"(?<![\w./-]){re.escape(folder)}(?:\*|(?![\w.-]))", text) for folder in folders
        )
        if _names_file(text, path) or is_below or (words is not None and words.search(text)):
            return Citation(clause.line, shortened(clause.whole, 120))
    return None


_TESTS: Final = re.compile(r"(?i)\b(?:tests?|specs?|cases?)\b")
_GOLDENS: Final = re.compile(
    r"(?i)\b(?:snapshots?|goldens?|cassettes?|fixtures?|recordings?|expected (?:output|files?))\b"
)
_LESS: Final = (Kind.TEST_REMOVED, Kind.ASSERTION_REMOVED)
_OF_FILES: Final = frozenset((Kind.RUNNER_CHANGED, Kind.GOLDEN_CHANGED, Kind.TEST_REMOVED, Kind.NOT_COMPARED))


def _clauses(order: Order) -> list[_Clause]:
    statements: list[tuple[int, str]] = []
    for at, line in enumerate(order.text.splitlines()):
        if statements and line.strip() and not _BULLET.match(line) and statements[-1][1]:
            statements[-1] = (statements[-1][0], f"{statements[-1][1]} {line.strip()}")
        else:
            statements.append((order.first_line + at, line.strip()))
    return [
        _Clause(line, clause, text)
        for line, text in statements
        for clause in _BORDER.split(text)
        if clause.strip()
    ]


def _says(clause: str, verbs: str) -> bool:
    found = re.finditer(rf"\b(?:{verbs})\b", clause, re.IGNORECASE)
    return any(not _DENIED.search(clause[: match.start()]) for match in found)


def _names(clause: _Clause, finding: Finding) -> str:
    """Return how a clause names a finding: `test`, `file`, `value`, or empty."""
    words = _words_in(clause)
    if _is_called(clause, finding):
        return "test"
    if finding.kind is Kind.EXPECTATION_CHANGED and _gives_the_value(clause.text, finding):
        return "value"
    fresh = _literals(finding.now) - _literals(finding.was)
    if finding.kind is Kind.TOLERANCE_LOOSENED and fresh & _literals(clause.text):
        return "value"
    if finding.kind in (*_LESS, Kind.EXPECTATION_CHANGED, Kind.TEST_SKIPPED):
        codes = re.findall(r"`([^`]+)`", clause.text)
        quoted = {name for text in codes for name in _IDENTIFIER.findall(text)}
        if (quoted | {name.rpartition(".")[2] for name in quoted}) & finding.words - _COMMON:
            return "test"
        if _TESTS.search(clause.text) and _shared(clause.text, finding):
            return "test"
    if finding.kind is Kind.OUTCOME_REWRITTEN and words & {*_IDENTIFIER.findall(finding.now)[1:]}:
        return "test"
    is_golden = finding.kind is Kind.GOLDEN_CHANGED and _GOLDENS.search(clause.text)
    return "file" if is_golden or _names_file(clause.text, finding.path) else ""


def _is_called(clause: _Clause, finding: Finding) -> bool:
    words, own = _words_in(clause), finding.test.rpartition(".")[2]
    is_title = " " in own and own.casefold() in clause.text.casefold()
    return bool(own) and (own in words or finding.test in words or is_title)


def _words_in(clause: _Clause) -> set[str]:
    words = set(_IDENTIFIER.findall(clause.text))
    return words | {word.strip(".-") for word in words} | {word.rpartition(".")[2] for word in words}


def _names_file(text: str, path: str) -> bool:
    """Return whether a text names a file: by its path, an end of its path, or its name alone.

    In a repository with several projects many files share a name: `api/package.json` does not name
    `web/package.json`.
    """
    name = re.escape(path.rpartition("/")[2])
    named = re.finditer(rf"(?<![\w./@*+-])(?:\.?/)?((?:[\w.@*+-]+/)*){name}(?![\w-])", text)
    return path in text or any(
        "*" in match[1] or f"/{path}".endswith(f"/{match[1]}{match[0].rpartition('/')[2]}") for match in named
    )


def _shared(text: str, finding: Finding) -> set[str]:
    """Return the significant words that a clause and a test's name have in common."""
    stem = finding.path.rpartition("/")[2].partition(".")[0]
    return (_split(text) & (_split(finding.test) | _split(stem))) - _COMMON


def _split(text: str) -> set[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text.replace("_", " "))
    return {word.casefold().removesuffix("s") for word in words if len(word) > 3}


def _literals(text: str) -> set[str]:
    return {found.strip("\"'") for found in LITERAL.findall(text)}


def _gives_the_value(text: str, finding: Finding) -> bool:
    old, new = _literals(finding.was), _literals(finding.now)
    literals = _literals(text) | set(re.findall(r"[\w.%-]+", text))
    fresh = {value for value in new - old if value and value in literals}
    if not fresh:
        return False
    telling = any(len(value) > 1 for value in fresh) and bool(
        _shared(text, finding) or _split(text) & _split(finding.was)
    )
    return telling or bool((old - new) & literals)


def orders_removal(order: Order, path: str) -> Citation | None:
    """Find where a plan removes a test file's subject: a clause with all significant words of its name."""
    about = _split(path.rpartition("/")[2].partition(".")[0]) - _COMMON
    for clause in _clauses(order):
        is_of_tests = _OF_TESTS.search(clause.text) is not None and _says(clause.text, _FORM)
        if (
            about
            and about <= _split(clause.text)
            and not is_of_tests
            and _says(clause.text, f"{_REMOVE}|{_JOIN}")
        ):
            return Citation(clause.line, shortened(clause.whole, 120))
    return None
