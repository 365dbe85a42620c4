"""Find changes without real work: only comments, stubs, or answers made for the tests.

Rule: what only looks like work fails; what may be work but looks like a trick needs a sign-off.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from asbuilt.proof.change.made_for_tests import made_for_tests
from asbuilt.proof.change.promised_functions import not_written, unwired
from asbuilt.proof.change.promised_names import unkept
from asbuilt.proof.items import Asks, asks_of, wanted_and_checked
from asbuilt.proof.suites.functions import braced_functions, functions_of
from asbuilt.proof.suites.model import MAX_BYTES, Change, Finding, Kind, Order, Severity, shortened
from asbuilt.proof.suites.parsing import BRACED, Code, dotted, lexed, parsed
from asbuilt.proof.suites.path_roles import Role, is_test, language_of, role_of
from asbuilt.proof.suites.same_code import But, is_same_code, is_text, uncommented

_OUTSIDE: Final = frozenset(("open", "input", "globals", "locals", "vars", "eval", "exec", "hash", "id"))
_SAME: Final = frozenset(dir(builtins)) - _OUTSIDE
"""Names whose value is the same in every call."""
_IDLE: Final = re.compile(
    r"^(set\b|echo\b|printf\b|true$|:$|exit( 0)?$|pass$|import\b|from\b|print\(|sys\.exit\(0?\)$|exit\(0?\)$)"
)
_MARKER: Final = re.compile(r"\b(TODO|FIXME)\b")
_ADDRESSED: Final = re.compile(
    r"(?i)\b(?:reviewers?|verifiers?|judges?|graders?|auditors?|(?:AI|LLM) (?:model|agent)s?)\b.{0,120}"
    r"\b(?:mark|treat|consider|report|rate|count|accept|approve|ignore|skip|do not|pass|passed|verified)\b"
)
"""A line that instructs the reviewer of the work."""
_UNFINISHED: Final = re.compile(
    r"(?i)not (yet )?implemented|unimplemented|todo|UnsupportedOperation|NotImplemented"
)
_WORD: Final = re.compile(r"-?[\w%]+(?:\.\w+)*")
_CODE: Final = re.compile(r"`([^`]+)`")


def hollow(changes: Iterable[Change], order: Order, there: Collection[str]) -> tuple[Finding, ...]:
    """Return findings for a phase's changes. Pass every file that differs and every path of the tree."""
    asks = asks_of(order.text)
    every = [file for file in changes if file.before != file.after and len(file.after or b"") <= MAX_BYTES]
    acting = [file for file in every if not is_same_code(file.path, file.before, file.after)]
    if every and not acting and Asks.WORDS not in asks:
        return (Finding(Kind.COMMENTS_ONLY, Severity.FAILS, every[0].path, ""),)
    tests = [file for file in every if is_test(file.path)]
    _, checks = wanted_and_checked(order.text)
    found = [
        Finding(Kind.EXIT_FORCED, Severity.FAILS, file.path, "the plan's own check does nothing any more")
        for file in every
        if file.path in checks and _is_gutted(file)
    ]
    wants_markers = _MARKER.search(order.text) is not None
    for file in every:
        if file.after is None or is_test(file.path) or role_of(file.path) not in (Role.PRODUCT, Role.TEST):
            continue
        found += _stubs(file, order.text)
        found += () if wants_markers else _lines_with(_MARKER, Kind.TODO_LEFT, file)
        found += made_for_tests(file, tests, order.text)
    for file in every:
        found += _lines_with(_ADDRESSED, Kind.ADDRESSES_THE_JUDGE, file) if language_of(file.path) else ()
    found += _only_parameters(every, order.text)
    # A file in which only comments differ is as it was.
    acts = every if Asks.WORDS in asks else acting
    return (
        *found,
        *unkept(acts, order, there),
        *not_written(every, order.text),
        *unwired(every, order, there),
    )


def _only_parameters(changes: Iterable[Change], text: str) -> Iterator[Finding]:
    """Find a phase that changes only parameter lists in the product's code."""
    code = [file for file in changes if language_of(file.path) == "python" and not is_test(file.path)]
    for file in code:
        # Where a parameter has another default, what runs differs.
        then, now = (_defaults(parsed(side)) for side in (file.before or b"", file.after or b""))
        if any(then[name] != now[name] for name in then.keys() & now.keys()):
            return
    if Asks.WORDS not in asks_of(text) and _are_the_same(code, But.PARAMETERS):
        # Files that are no code may have changed, too: else the whole change would fail.
        what = "" if _are_the_same(code) else "only parameters changed"
        yield Finding(Kind.COMMENTS_ONLY, Severity.SIGN_OFF, code[0].path, what)


def _are_the_same(files: Sequence[Change], but: But = But.NOTHING) -> bool:
    return bool(files) and all(is_same_code(file.path, file.before, file.after, but) for file in files)


def _defaults(tree: ast.Module | None) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            by_place = [*node.args.posonlyargs, *node.args.args]
            given = [*zip(by_place[::-1], node.args.defaults[::-1], strict=False)]
            given += [
                (arg, value)
                for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                if value
            ]
            found |= {(node.name, argument.arg): ast.dump(value) for argument, value in given}
    return found


def _is_gutted(change: Change) -> bool:
    """Return whether a script that did something now only succeeds."""
    is_both = change.before is not None and change.after is not None
    return is_both and _acting(change.path, change.old) and not _acting(change.path, change.new)


def _acting(path: str, text: str) -> bool:
    language = language_of(path)
    if language == "shell":
        return any(not _IDLE.match(line) for line in uncommented(text.encode()) if not line.startswith("#!"))
    tree = parsed(text.encode()) if language == "python" else None
    return tree is None or any(not _IDLE.match(ast.unparse(node)) for node in tree.body if not is_text(node))


class _Written(NamedTuple):
    name: str
    line: int
    says: str
    is_stub: bool
    is_constant: bool
    unread: tuple[str, ...] = ()
    """Parameters that the function never reads."""
    takes: tuple[str, ...] = ()


def _stubs(change: Change, text: str) -> Iterator[Finding]:
    """Find functions that the phase promises by name and that do nothing, or depend on no promised input."""
    if Asks.STUB in asks_of(text):
        return
    before = {written.name: written for written in _functions(change.path, change.old) if not written.is_stub}
    promised = {name for code in _CODE.findall(wanted_and_checked(text)[0]) for name in _WORD.findall(code)}
    for written in _functions(change.path, change.new):
        if written.name not in promised:
            continue
        if (then := before.get(written.name)) is not None:
            ignored = ", ".join(name for name in written.unread if name not in then.takes)
            if ignored and then.takes:
                now = f"never reads {ignored}, which is new"
                yield Finding(
                    Kind.INPUT_IGNORED, Severity.SIGN_OFF, change.path, now, "", written.name, written.line
                )
            continue
        if written.is_stub:
            yield Finding(
                Kind.STUB, Severity.FAILS, change.path, written.says, "", written.name, written.line
            )
            continue
        unread = [name for name in written.unread if name in promised]
        if written.is_constant or unread:
            kind = Kind.CONSTANT_ANSWER if written.is_constant else Kind.INPUT_IGNORED
            now = written.says if written.is_constant else f"never reads {', '.join(unread)}"
            yield Finding(kind, Severity.SIGN_OFF, change.path, now, "", written.name, written.line)


def _functions(path: str, text: str) -> list[_Written]:
    language = language_of(path)
    if language == "python":
        tree = parsed(text.encode())
        return [] if tree is None else list(_of_python(tree))
    return list(_of_braces(text, language)) if language in BRACED else []


def _of_python(tree: ast.Module) -> Iterator[_Written]:
    # Constants of the module are the same in every call, too.
    fixed = _SAME | {
        name
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and not _names([node], ast.Load) - _SAME
        for name in _names([node], ast.Store)
    }
    for _, node in functions_of(tree):
        body = node.body[1:] if is_text(node.body[0]) else node.body
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = [argument.arg for argument in given if argument.arg not in ("self", "cls")]
        last = body[-1] if body else None
        says = shortened(ast.unparse(last)) if last is not None else "nothing"
        is_stub = not body or (len(body) == 1 and _does_nothing(body[0]))
        reads = _names(body, ast.Load)
        is_constant = bool(names) and _answers_something(body) and not reads - _names(body, ast.Store) - fixed
        unread = () if "locals" in reads else tuple(name for name in names if name not in reads)
        yield _Written(node.name, node.lineno, says, is_stub, is_constant, unread, tuple(names))


def _names(body: Iterable[ast.AST], context: type[ast.expr_context]) -> set[str]:
    nodes = (node for part in body for node in ast.walk(part))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def _answers_something(body: Iterable[ast.AST]) -> bool:
    """Return whether a function returns or yields a value; a predicate may always have the same."""
    nodes = (node for part in body for node in ast.walk(part) if isinstance(node, ast.Return | ast.Yield))
    values = [node.value for node in nodes if node.value is not None]
    plain = (isinstance(value, ast.Constant) and isinstance(value.value, bool | None) for value in values)
    return not all(plain)


def _does_nothing(node: ast.stmt | None) -> bool:
    match node:
        case ast.Pass() | ast.Return(value=None | ast.Constant(value=None)) | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.expr() as raised):
            name = raised.func if isinstance(raised, ast.Call) else raised
            return dotted(name).rpartition(".")[2] == "NotImplementedError"
        case _:
            return False


def _of_braces(text: str, language: str) -> Iterator[_Written]:
    code = lexed(text, language)
    for name, line, at, opening, begin in braced_functions(code):
        body = code.tokens[begin + 1 : min(code.closing(begin), begin + 2 * _SHORT)]
        says = " ".join(word.text for word in body)
        # An empty function in the place of a value is a default, not a stub.
        is_value = not body and code.word(at + 1) in ("=", ":") and code.word(at - 1) in ("{", ",", "(")
        is_stub = not is_value and len(body) <= _SHORT and (not body or _UNFINISHED.search(says) is not None)
        takes = code.closing(opening) > opening + 1
        is_constant = takes and says.startswith("return ") and _is_display(code, begin)
        yield _Written(name, line, shortened(says) or "nothing", is_stub, is_constant)


def _is_display(code: Code, begin: int) -> bool:
    """Return whether a body holds only literals, in lists and records of any depth."""
    is_any = False
    for at in range(begin + 2, code.closing(begin)):
        token = code.tokens[at]
        is_literal = token.kind in ("number", "text") and not (token.text[0] == "`" and "${" in token.text)
        # The name of a field, of a type before its values, or of a macro.
        is_label = token.kind == "name" and code.word(at + 1) in (":", "{", "!")
        if not (is_literal or is_label or token.text in _DISPLAY):
            return False
        is_any |= is_literal
    return is_any


_DISPLAY: Final = frozenset(";-[]{}(),:!")
_SHORT: Final = 12
"""Most tokens in the body of a stub."""


def _lines_with(pattern: re.Pattern[str], kind: Kind, change: Change) -> Iterator[Finding]:
    for number, line in change.added:
        if pattern.search(line):
            yield Finding(kind, Severity.SIGN_OFF, change.path, shortened(line), line=number)
