"""The tests of a Python file as pytest and unittest collect them, each with what it checks.

The one rule: a test is what a runner would find, not what is named like one.
"""

from __future__ import annotations

import ast
import copy
import re
import warnings
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.model import Assertion, Idle, Kind, Test, shortened
from asbuilt.proof.suites.python_bodies import SWALLOWED, Aid, Body, read_body
from asbuilt.proof.suites.python_failing import Function, hides_failures
from asbuilt.proof.suites.python_fixtures import handed_to, is_literal
from asbuilt.proof.suites.python_marks import Collecting, Marks, called, listed
from asbuilt.proof.suites.python_values import Value, dotted, imports_of, truth

if TYPE_CHECKING:
    from collections.abc import Iterator

_CASES: Final = 400
_ENCODING: Final = re.compile(rb"coding[=:]")
_AROUND: Final = frozenset(
    [
        "setUp",
        "tearDown",
        "setUpClass",
        "tearDownClass",
        "asyncSetUp",
        "asyncTearDown",
        "setup_method",
        "teardown_method",
        "setup_class",
        "teardown_class",
        "setup_module",
        "teardown_module",
        "setUpModule",
        "tearDownModule",
        "setup_function",
        "teardown_function",
    ]
)
_HIDING: Final = frozenset(("fixture", "property", "cached_property", "contextmanager", "overload"))


def parsed(data: bytes) -> ast.Module | str:
    """Parse a file; a text says why that cannot be done."""
    if not _ENCODING.search(data[:400]) and not _is_utf8(data):
        return "it is not UTF-8"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(data)
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}"
        except ValueError as error:
            return str(error)
        except (RecursionError, MemoryError):
            return "it is nested too deeply"


def depth_of(tree: ast.Module) -> int:
    """Give how many levels a tree has."""
    depth, level = 0, list[ast.AST]((tree,))
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def aids_in(tree: ast.Module) -> dict[str, Aid]:
    """Give the functions that tests may call."""
    imports = imports_of(tree)
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, Function) and not node.name.startswith(("test", "pytest_")):
            found[node.name] = Aid(node, imports)
    return found


def tests_in(
    path: str, tree: ast.Module, aids: dict[str, Aid], collecting: Collecting, *, is_test_file: bool
) -> tuple[Test, ...]:
    """Read the tests of a file, and the code around them that asserts."""
    return tuple(_File(path, tree, aids, collecting).tests(is_test_file=is_test_file))


class _Found(NamedTuple):
    """A function that a runner may take for a test."""

    name: str
    function: Function
    idle: tuple[Idle, ...]
    cases: tuple[ast.expr, ...]
    """Decorators that make many of one."""


class _File:
    """One file as it is collected."""

    def __init__(self, path: str, tree: ast.Module, aids: dict[str, Aid], collecting: Collecting) -> None:
        self.path = path
        self.tree = tree
        self.imports = imports_of(tree)
        self.aids = {**aids, **aids_in(tree)}
        self.collecting = collecting
        constants: dict[str, ast.expr] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        for node in tree.body:
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                constants[node.targets[0].id] = node.value
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
        self.marks = Marks(constants, self.imports, collecting)

    def tests(self, *, is_test_file: bool) -> Iterator[Test]:
        names = self._namespace(self.tree.body)
        whole = self._module_idle(names)
        seen: set[int] = set()
        for name, (node, dead) in names.items():
            idle = (
                whole
                if not dead
                else (*whole, Idle(Kind.NOT_COLLECTED, "", node.lineno, f"{name} is never defined"))
            )
            if isinstance(node, ast.ClassDef):
                yield from self._class_tests(node, idle, seen, is_test_file=is_test_file)
            elif is_test_file and self._is_test_name(name) and not self._is_hidden(node):
                seen.add(id(node))
                yield self._test(self._found(name, node, idle, ()))
        yield from self._others(seen)

    def _namespace(
        self, body: list[ast.stmt], *, dead: bool = False
    ) -> dict[str, tuple[Function | ast.ClassDef, bool]]:
        """Give what a module or class holds when it is loaded: of two with one name, the last."""
        found: dict[str, tuple[Function | ast.ClassDef, bool]] = {}
        for node in body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    found.pop(node.name, None)
                    found[node.name] = (node, dead)
                case ast.If(test=test, body=inner, orelse=orelse):
                    settled = truth(test)
                    found |= self._namespace(inner, dead=dead or settled is False)
                    found |= self._namespace(orelse, dead=dead or settled is True)
                case ast.Try(body=inner, orelse=orelse, finalbody=final):
                    found |= self._namespace([*inner, *orelse, *final], dead=dead)
                case ast.With(body=inner):
                    found |= self._namespace(inner, dead=dead)
                case ast.Delete(targets=targets):
                    for target in targets:
                        found.pop(target.id if isinstance(target, ast.Name) else "", None)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in found:
                    if not any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value)):
                        found.pop(name)
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id=name), attr="__test__")], value=value
                ):
                    if truth(value) is False:
                        found.pop(name, None)
                case _:
                    pass
        return found

    def _is_test_name(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.collecting.functions)

    def _is_hidden(self, node: Function) -> bool:
        """Tell whether a decorator makes something else of a function than a test."""
        return any(
            dotted(called(one), self.imports).rpartition(".")[2] in _HIDING for one in node.decorator_list
        )

    def _module_idle(self, names: dict[str, tuple[Function | ast.ClassDef, bool]]) -> tuple[Idle, ...]:
        found = list(self.marks.idle(self.marks.constants.get("pytestmark")))
        silent = self.marks.constants.get("__test__")
        if silent is not None and truth(silent) is False:
            found.append(Idle(Kind.NOT_COLLECTED, "", silent.lineno, "__test__ = False"))
        module = ast.FunctionDef(name="module", args=_NO_ARGUMENTS, body=self.tree.body, decorator_list=[])
        for at in ("setUpModule", "setup_module"):
            if at in names and isinstance(names[at][0], Function):
                found += self._body(names[at][0], {}).idle  # type: ignore[arg-type] # checked on the line before
        return (*found, *self._body(module, {}).idle)

    def _class_tests(
        self, node: ast.ClassDef, idle: tuple[Idle, ...], seen: set[int], *, is_test_file: bool
    ) -> Iterator[Test]:
        members = self._members(node, 0)
        is_unit = self._is_unittest(node, 0)
        is_plain = any(fnmatchcase(node.name, pattern) for pattern in self.collecting.classes) and (
            "__init__" not in members
        )
        if not (is_test_file and (is_unit or is_plain)) or self._is_silenced(node):
            return
        seen.update(id(one) for one, _ in self._namespace(node.body).values())
        marks = [*node.decorator_list, *listed(_assigned(node, "pytestmark"))]
        idle = (*idle, *(one for mark in marks for one in self.marks.idle(mark)))
        for name in ("setUp", "setUpClass", "setup_method", "setup_class", "asyncSetUp"):
            if name in members and isinstance(members[name][0], Function):
                idle += self._body(members[name][0], {}).idle  # type: ignore[arg-type] # the same
        shared = _Shared(members)
        for name, (member, dead) in members.items():
            if isinstance(member, ast.ClassDef):
                if not is_unit:
                    yield from self._class_tests(member, idle, seen, is_test_file=is_test_file)
            elif (name.startswith("test") if is_unit else self._is_test_name(name)) and not self._is_hidden(
                member
            ):
                own = (
                    idle
                    if not dead
                    else (*idle, Idle(Kind.NOT_COLLECTED, "", member.lineno, f"{name} is never defined"))
                )
                if is_unit and isinstance(member, ast.AsyncFunctionDef) and not self._is_asyncio(node):
                    own = (*own, Idle(Kind.NOT_COLLECTED, "", member.lineno, "unittest does not await it"))
                told = shared.visit(copy.deepcopy(member)) if shared.values else member
                yield self._test(self._found(f"{node.name}.{name}", told, own, tuple(marks)))

    def _members(self, node: ast.ClassDef, depth: int) -> dict[str, tuple[Function | ast.ClassDef, bool]]:
        """Give a class's own and inherited members."""
        found: dict[str, tuple[Function | ast.ClassDef, bool]] = {}
        for base in reversed(node.bases):
            inner = self.classes.get(dotted(base, {}))
            if inner is not None and inner is not node and depth < 5:
                found |= self._members(inner, depth + 1)
        return found | self._namespace(node.body)

    def _is_unittest(self, node: ast.ClassDef, depth: int) -> bool:
        for base in node.bases:
            name = dotted(base, self.imports)
            inner = self.classes.get(dotted(base, {}))
            if inner is not None and inner is not node and depth < 5:
                if self._is_unittest(inner, depth + 1):
                    return True
            elif "Test" in name.rpartition(".")[2]:
                return True
        return False

    def _is_asyncio(self, node: ast.ClassDef) -> bool:
        names = [dotted(base, self.imports) for base in node.bases]
        return not any(name.rpartition(".")[2] == "TestCase" for name in names)

    def _is_silenced(self, node: ast.ClassDef) -> bool:
        said = _assigned(node, "__test__")
        return said is not None and truth(said) is False

    def _found(
        self, name: str, node: Function, idle: tuple[Idle, ...], inherited: tuple[ast.expr, ...]
    ) -> _Found:
        marks = [mark for one in node.decorator_list for mark in self.marks.idle(one)]
        if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in _own(node)):
            marks.append(Idle(Kind.NOT_COLLECTED, "", node.lineno, "a generator is made, and never run"))
        return _Found(name, node, (*idle, *marks), (*inherited, *node.decorator_list))

    def _body(self, function: Function, names: dict[str, Value]) -> Body:
        return read_body(function, self.imports, self.aids, names)

    def _test(self, found: _Found) -> Test:
        assertions: list[Assertion] = []
        idle = list(found.idle)
        for names, marks in self.marks.cases(found.cases):
            body = self._body(found.function, {**handed_to(found.function, self.aids), **names})
            inner = next(iter(marks), None)
            void = (
                (inner.kind, f"its case is marked {inner.text}") if inner else self._hidden_by(found.function)
            )
            case = ", ".join(f"{name}={value.text}" for name, value in names.items())
            assertions += [
                one._replace(
                    void=one.void or void, text=shortened(f"{one.text} for {case}") if case else one.text
                )
                for one in body.assertions
            ]
            idle += [one for one in body.idle if one not in idle]
        return Test(
            self.path,
            found.name,
            found.function.lineno,
            tuple(assertions),
            tuple(idle),
            _words(found.function),
            is_open=self.marks.are_open(found.cases),
        )

    def _hidden_by(self, function: Function) -> tuple[Kind, str] | None:
        names = [dotted(called(one), {}).rpartition(".")[2] for one in function.decorator_list]
        hides = any(name in self.aids and hides_failures(self.aids[name].function) for name in names)
        return SWALLOWED if hides else None

    def _others(self, seen: set[int]) -> Iterator[Test]:
        """Read code that is no test and asserts: what runs around tests, and what tests call."""
        for node in ast.walk(self.tree):
            if not isinstance(node, Function) or (id(node) in seen and node.name not in _AROUND):
                continue
            body = self._body(node, {})
            real = tuple(one for one in body.assertions if one.form != "runs")
            if not real:
                continue
            fixture = [
                one for one in node.decorator_list if dotted(called(one), {}).rpartition(".")[2] == "fixture"
            ]
            always = any(
                isinstance(one, ast.Call) and any(word.arg == "autouse" for word in one.keywords)
                for one in fixture
            )
            is_aid = not always and node.name not in _AROUND
            yield Test(self.path, node.name, node.lineno, real, (), _words(node), is_aid=is_aid)


class _Shared(ast.NodeTransformer):
    """Puts what `setUp` gives to every test where a test asks for it: `self.basket` is the list itself."""

    def __init__(self, members: dict[str, tuple[Function | ast.ClassDef, bool]]) -> None:
        self.values: dict[str, ast.expr] = {}
        made = [members[name][0] for name in ("setUp", "setup_method", "asyncSetUp") if name in members]
        for node in (inner for one in made for inner in one.body):
            match node:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                    self.values |= {name: value} if is_literal(value) else {}
                case _:
                    pass

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Give what an attribute of the test stands for."""
        is_own = (
            isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load)
        )
        return self.values.get(node.attr, node) if is_own else node


_NO_ARGUMENTS: Final = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _assigned(node: ast.ClassDef, name: str) -> ast.expr | None:
    for one in node.body:
        if isinstance(one, ast.Assign) and any(
            isinstance(at, ast.Name) and at.id == name for at in one.targets
        ):
            return one.value
    return None


def _own(node: Function) -> Iterator[ast.AST]:
    """Walk a function without the functions in it."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, Function | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(one))


def _words(node: Function) -> frozenset[str]:
    """Give the names and literals by which a test is known when it is renamed."""
    found: set[str] = set()
    for one in (inner for statement in node.body for inner in ast.walk(statement)):
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute):
            found.add(one.attr)
        elif isinstance(one, ast.Constant) and one.value is not None:
            found.add(repr(one.value)[:80])
    return frozenset(found)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
