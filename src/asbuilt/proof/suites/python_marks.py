"""What the marks on a Python test say: that it does not run, cannot fail, or is many tests in one."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.model import Idle, Kind, shortened
from asbuilt.proof.suites.python_values import Scope, Value, dotted, truth, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_CASES: Final = 400
"""Cases of one test that are told apart."""
Cases = list[tuple[dict[str, Value], tuple[Idle, ...]]]
"""The names of every case with their values, and the marks of the case."""


class Collecting(NamedTuple):
    """What a runner takes for a test."""

    files: tuple[str, ...] = ("test_*.py", "*_test.py", "test*.py")
    classes: tuple[str, ...] = ("Test*",)
    functions: tuple[str, ...] = ("test*",)
    deselected: frozenset[str] = frozenset()
    """Marks that the command or the settings leave out."""


class Marks:
    """The marks of one file."""

    def __init__(
        self, constants: dict[str, ast.expr], imports: dict[str, str], collecting: Collecting
    ) -> None:
        self.constants = constants
        self.imports = imports
        self.collecting = collecting

    def idle(self, node: ast.expr | None) -> Iterator[Idle]:
        """Read a decorator or `pytestmark` that keeps a test from running or from failing."""
        for said in listed(node):
            one = self.constants.get(said.id, said) if isinstance(said, ast.Name) else said
            name = dotted(called(one), self.imports)
            last = name.rpartition(".")[2]
            args = (
                [*one.args, *(word.value for word in one.keywords if word.arg == "condition")]
                if isinstance(one, ast.Call)
                else []
            )
            conditional = last in ("skipif", "skipIf", "skipUnless") or (last == "xfail" and bool(args))
            if last not in ("skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"):
                if ".mark." in f".{name}" and last in self.collecting.deselected:
                    yield Idle(Kind.NOT_COLLECTED, "", said.lineno, f"{last} is left out by the command")
                continue
            condition = ""
            if conditional and args:
                settled = truth(args[0])
                if settled is not None and settled == (last == "skipUnless"):
                    continue
                if settled is None:
                    condition = f"{last} {value_of(args[0], Scope({}, self.imports)).text}"
            kind = Kind.TEST_EXPECTED_TO_FAIL if "ail" in last else Kind.TEST_SKIPPED
            yield Idle(kind, condition, said.lineno, shortened(ast.unparse(one)))

    def cases(self, decorators: tuple[ast.expr, ...]) -> Cases:
        """Give the names of every parametrised case with their values, and the marks of the case."""
        sets = [made for one in decorators if (made := self._parameters(one)) is not None]
        joined: Cases = []
        for chosen in itertools.islice(itertools.product(*sets), _CASES):
            names: dict[str, Value] = {}
            marks: tuple[Idle, ...] = ()
            for values, idle in chosen:
                names |= values
                marks += idle
            joined.append((names, marks))
        return joined if sets else [({}, ())]

    def are_open(self, decorators: tuple[ast.expr, ...]) -> bool:
        """Tell whether cases are computed, and so cannot be told from here."""
        made = [one for one in decorators if dotted(called(one), {}).rpartition(".")[2] == "parametrize"]
        return any(self._parameters(one) is None for one in made)

    def _parameters(self, node: ast.expr) -> Cases | None:
        if not isinstance(node, ast.Call) or dotted(node.func, {}).rpartition(".")[2] not in (
            "parametrize",
            "expand",
        ):
            return None
        args = [*node.args, *(word.value for word in node.keywords if word.arg == "argvalues")]
        if len(args) < 2:
            return None
        names = [name.strip() for name in _texts(args[0])]
        values = self.constants.get(args[1].id, args[1]) if isinstance(args[1], ast.Name) else args[1]
        if not isinstance(values, ast.List | ast.Tuple | ast.Set):
            return None
        return [self._case(names, one) for one in values.elts if not isinstance(one, ast.Starred)]

    def _case(self, names: list[str], node: ast.expr) -> tuple[dict[str, Value], tuple[Idle, ...]]:
        scope = Scope({}, self.imports)
        marks: tuple[Idle, ...] = ()
        row: list[ast.expr] | None = None
        if isinstance(node, ast.Call) and dotted(node.func, {}).rpartition(".")[2] == "param":
            said = next((word.value for word in node.keywords if word.arg == "marks"), None)
            marks, row = tuple(self.idle(said)), node.args
        elif len(names) > 1 and isinstance(node, ast.Tuple | ast.List):
            row = node.elts
        if row is None:
            row = [node]
        if len(row) != len(names):
            whole = value_of(node, scope)
            return {name: whole._replace(text=f"{whole.text}[{name}]", reaches=True) for name in names}, marks
        return {name: value_of(one, scope) for name, one in zip(names, row, strict=True)}, marks


def called(node: ast.expr) -> ast.expr:
    """Give what a call calls; anything else as it is."""
    return node.func if isinstance(node, ast.Call) else node


def listed(node: ast.expr | None) -> list[ast.expr]:
    """Give the marks of a list, or of one."""
    if node is None:
        return []
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def _texts(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split(",")
    if isinstance(node, ast.List | ast.Tuple):
        return [
            one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
    return []
