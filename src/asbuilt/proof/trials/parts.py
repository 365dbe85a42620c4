"""Parts of a phase's work that are taken away one by one: a function, the change of one, a file. Pure.

Rule: a part that is taken away keeps its text, so that only a check that runs it can miss it; a search for a
word cannot.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from asbuilt.proof.items import Asks, items_of, without_criteria
from asbuilt.proof.suites.functions import Named, braced_functions, functions_of
from asbuilt.proof.suites.parsing import lexed, parsed
from asbuilt.proof.suites.path_roles import language_of
from asbuilt.proof.suites.same_code import But, is_same_code, is_same_tree
from asbuilt.proof.trials.emptied import emptied
from asbuilt.proof.trials.mutants import added_lines, is_probed, planned

_RAISES: Final = {
    "javascript": " throw new Error();",
    "go": ' panic("");',
    "rust": " panic!();",
    "java": " if (true) throw new RuntimeException();",
}
"""A statement that fails, for the start of a function's body."""
_FAILS: Final = {
    "python": b"raise RuntimeError\n",
    "javascript": b"throw new Error();\n",
    "shell": b"exit 97\n",
    "go": b'\nfunc init() { panic("") }\n',
    "rust": b"\n)\n",
    "java": b"\n)\n",
}
"""A text with which a file fails when it is built, loaded or run."""
_AT_ITS_END: Final = ("go", "rust", "java")
_VALUES: Final = re.compile(
    rb"\b(?:function|class|const|let|var|enum|await|export default)\b|=>|\bimport\s+[\"']"
)
_OF_FORM: Final = Asks.FORM | Asks.TESTS
"""Items after which the product does the same as before."""
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?![\w.]*\w)")
_PLAIN: Final = frozenset(("0", "1", "2", "100"))
"""Numbers that code has for other reasons than an item's."""
_MOST_RETURNS: Final = 4
_MOST_NUMBERS: Final = 6
_AS_IT_WAS: Final = "the work: the product as it was before"


class Part(NamedTuple):
    """One part of a phase's work, and the files without it."""

    path: str
    """Empty for all of the work."""
    name: str
    """The function; empty for a whole file."""
    words: str
    """How it is taken away."""
    without: Mapping[str, bytes]
    is_detail: bool = True
    """False: the phase is asked for it, whether an item names it or not."""

    @property
    def is_number(self) -> bool:
        """Whether the part is a number and no function."""
        return self.name.isdigit()

    def is_promised_in(self, text: str) -> bool:
        """Return whether the phase has to show the part: an item names it, or it is no detail."""
        if not self.is_detail:
            return True
        if not self.name:
            return self.path in text or self.path.rpartition("/")[2] in re.findall(r"[\w.-]+\w", text)
        return self.name in re.findall(r"[^\W\d][\w$]*", text)


def parts_of(
    sources: Mapping[str, tuple[bytes, bytes]], text: str, files: Iterable[str], others: Iterable[str] = ()
) -> tuple[Part, ...]:
    """List the parts: all of the work, the files, the functions that are new or changed, and the numbers.

    What the phase has to show comes first, because there may be no time for the others.
    `sources` has the contents of each changed code file before and after; each of `files` goes whole, and
    each of the `others`, which no runner of the project runs.
    """
    sources = {
        path: sides
        for path, sides in sources.items()
        if not sides[0] or not is_same_code(path, *sides, But.ANNOTATIONS)
    }
    work = {path: sides for path, sides in sources.items() if is_probed(path)}
    is_of_form = all(item.asks & _OF_FORM for item in items_of(without_criteria(text)))
    reverted = {path: before for path, (before, _) in work.items()}
    parts = (
        *(
            (Part("", "", _AS_IT_WAS, reverted, is_detail=False),)
            if any(reverted.values()) and not is_of_form
            else ()
        ),
        *(part._replace(is_detail=is_of_form) for part in _whole(sources, files)),
        *_whole(sources, others),
        *(part for path, sides in sorted(sources.items()) for part in _functions(path, *sides, text)),
        *_numbers(work, text),
    )
    return tuple(sorted(parts, key=lambda part: (part.is_detail, not part.is_promised_in(text))))


def _numbers(sources: Mapping[str, tuple[bytes, bytes]], text: str) -> Iterator[Part]:
    """Yield the numbers of new lines that an item promises, each replaced by one far from it."""
    promised = {
        number for item in items_of(without_criteria(text)) for number in _NUMBER.findall(item.text)
    } - _PLAIN
    found = [mutant for mutant in planned(sources, "") if mutant.old.decode("utf-8", "replace") in promised]
    for mutant in sorted(found)[:_MOST_NUMBERS]:
        other = mutant._replace(new=b"%d" % (3 * int(mutant.old) + 7))
        without = {mutant.path: other.applied(sources[mutant.path][1])}
        yield Part(mutant.path, mutant.old.decode(), other.words, without, is_detail=False)


def unborne(tried: Sequence[tuple[Part, bool]], text: str) -> tuple[Part, ...]:
    """Return the parts that no check misses and that the phase promises; each comes with whether one does.

    A part that no item names may be a detail, unless no part at all is missed. Of several numbers in an item
    one is enough.
    """
    has_number = any(is_missed and part.is_number for part, is_missed in tried)
    missed = [part for part, is_missed in tried if not is_missed and not (has_number and part.is_number)]
    named = tuple(part for part in missed if part.is_promised_in(text))
    return named or (tuple(missed) if len(missed) == len(tried) else ())


def broken(path: str, content: bytes) -> bytes | None:
    """Return a file that fails when it runs, with all of its text; None if there is nothing in it to run."""
    left, language = emptied(path, content), language_of(path)
    fails = _FAILS.get(language)
    if left is None or fails is None or (language == "javascript" and not _VALUES.search(content)):
        return None if left is None or language == "javascript" else left
    if language in _AT_ITS_END:
        return content + fails
    start = content.find(b"\n") + 1 if content.startswith(b"#!") else 0
    if language == "python":
        tree = parsed(content)
        first = next((node for node in tree.body if not _is_head(node)), None) if tree is not None else None
        if first is None:
            return None
        start = _offset(content, min([first.lineno, *_decorators(first)]))
    return content[:start] + fails + content[start:]


def _is_head(node: ast.stmt) -> bool:
    """Return whether a statement has to come first in its file: its docstring, an import of the future."""
    is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return is_future or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _decorators(node: ast.stmt) -> list[int]:
    return [expr.lineno for expr in getattr(node, "decorator_list", ())]


def _offset(content: bytes, line: int) -> int:
    return sum(map(len, content.splitlines(keepends=True)[: line - 1]))


def _whole(sources: Mapping[str, tuple[bytes, bytes]], paths: Iterable[str]) -> Iterator[Part]:
    for path in paths:
        without = broken(path, sources[path][1]) if path in sources else None
        if without is not None:
            yield Part(path, "", f"{path}: an error when it starts", {path: without})


def _functions(path: str, before: bytes, after: bytes, text: str) -> Iterator[Part]:
    language = language_of(path)
    if language == "python":
        yield from _of_python(path, before, after, text)
    elif language in _RAISES:
        then, now = (side.decode("utf-8", "surrogateescape") for side in (before, after))
        old = {function.name for function in braced_functions(lexed(then, language))}
        code = lexed(now, language)
        for name, line, _, _, begin in braced_functions(code):
            end = code.tokens[begin].end
            without = f"{now[:end]}{_RAISES[language]}{now[end:]}".encode("utf-8", "surrogateescape")
            yield from [_added(path, line, name, without)] if name not in old else []


def _of_python(path: str, before: bytes, after: bytes, text: str) -> Iterator[Part]:
    then, now = parsed(before), parsed(after)
    if then is None or now is None:
        return
    old = dict(_named(then))
    for name, node in _named(now):
        own = name.rpartition(".")[2]
        if name not in old:
            start = _offset(after, node.body[0].lineno) + node.body[0].col_offset
            indent = b"\n" + b" " * node.body[0].col_offset if node.body[0].lineno > node.lineno else b"; "
            yield _added(
                path, node.lineno, own, after[:start] + b"raise RuntimeError" + indent + after[start:]
            )
            yield from _returns(path, node, after, range(len(after)))
            continue
        if is_same_tree(old[name], node, But.ANNOTATIONS):
            continue
        if _is_changed_by(text, own):
            was = b"".join(before.splitlines(keepends=True)[_first(old[name]) - 1 : old[name].end_lineno])
            lines = after.splitlines(keepends=True)
            without = b"".join((*lines[: _first(node) - 1], was, *lines[node.end_lineno :]))
            yield Part(path, own, f"{path}:{node.lineno}: `{own}` as it was before", {path: without})
        failing = _failing(node, after, added_lines(before, after))
        if failing is not None:
            words = f"{path}:{node.lineno}: an error in each new statement of `{own}`"
            yield Part(path, own, words, {path: failing}, is_detail=False)
        yield from _returns(path, node, after, added_lines(before, after))


def _returns(path: str, node: Named, source: bytes, added: Collection[int]) -> Iterator[Part]:
    """Yield the new computed answers of a function that has several, each replaced by an error."""
    found = [part for part in ast.walk(node) if isinstance(part, ast.Return)]
    computed = [part for part in found if part.value and any(map(_is_computed, ast.walk(part.value)))]
    for part in sorted(computed, key=lambda part: part.lineno)[:_MOST_RETURNS] if len(found) > 1 else ():
        if part.lineno in added:
            start = _offset(source, part.lineno) + part.col_offset
            without = source[:start] + b"raise RuntimeError; " + source[start:]
            yield Part(
                path,
                node.name,
                f"{path}:{part.lineno}: an error for this answer of `{node.name}`",
                {path: without},
            )


def _is_computed(node: ast.AST) -> bool:
    return isinstance(node, ast.Call | ast.BinOp | ast.Subscript)


def _failing(node: ast.stmt, source: bytes, added: Collection[int]) -> bytes | None:
    """Return a file in which each new statement of a function fails; None if none of them has a value."""
    leaves = [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.stmt) and not hasattr(part, "body") and part.lineno in added
    ]
    if not any(isinstance(leaf, ast.Return | ast.Assign | ast.AugAssign | ast.AnnAssign) for leaf in leaves):
        return None
    for leaf in sorted(leaves, key=lambda leaf: -leaf.lineno):
        start = _offset(source, leaf.lineno) + leaf.col_offset
        source = source[:start] + b"raise RuntimeError; " + source[start:]
    return source


def _first(node: ast.stmt) -> int:
    return min([node.lineno, *_decorators(node)])


def _added(path: str, line: int, name: str, without: bytes) -> Part:
    return Part(path, name, f"{path}:{line}: an error at the start of `{name}`", {path: without})


def _named(tree: ast.Module) -> Iterator[tuple[str, Named]]:
    """Yield the functions that are in a module or in its classes and do something, with their names."""
    inside = [part for node in tree.body if isinstance(node, ast.ClassDef) for part in node.body]
    direct = {id(node) for node in (*tree.body, *inside)}
    for name, function in functions_of(tree):
        is_written = not all(isinstance(part, ast.Pass) or _is_head(part) for part in function.body)
        if id(function) in direct and is_written and not re.fullmatch(r"__\w+__", function.name):
            yield name, function


def _is_changed_by(text: str, name: str) -> bool:
    """Return whether an item names a function and says what it does, not how it is written."""
    return any(item.names(name) and not item.asks & _OF_FORM for item in items_of(text))
