"""What in Python code lets a failure count no more: hooks, exits, replaced products, patched runners.

The one rule: a trace is told by what the code does to outcomes, not by what it is called.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.model import Kind, Severity, Trace
from asbuilt.proof.suites.python_failing import Function
from asbuilt.proof.suites.python_replacing import replacements, trace
from asbuilt.proof.suites.python_values import constant, dotted, imports_of, truth

if TYPE_CHECKING:
    from collections.abc import Iterator

_FAILS, _SIGN_OFF, _NOTE = Severity.FAILS, Severity.SIGN_OFF, Severity.NOTE
_OUTCOME_HOOKS: Final = re.compile(
    r"pytest_(runtest_\w+|pyfunc_call|report_\w+|sessionfinish|collection_\w+|collect_\w+|pycollect_\w+|ignore_collect|"
    r"itemcollected|deselected|exception_interact|cmdline_main|load_initial_conftests|unconfigure|terminal_summary|"
    r"fixture_setup|generate_tests|assertrepr_compare|assertion_pass|cmdline_parse|cmdline_preparse)"
)
_OUTCOME_FIELDS: Final = frozenset((
    "outcome", "exitstatus", "excinfo", "longrepr", "wasxfail", "testsfailed", "shouldfail", "shouldstop",
    "failed", "passed", "failures", "errors", "failureException", "result", "_result", "obj", "items",
    "runtest", "function",
))  # fmt: skip
_OUTCOME_CALLS: Final = frozenset(
    ["force_result", "force_exception", "deselected", "pytest_deselected", "addSuccess"]
)
_LISTS: Final = frozenset(["clear", "remove", "pop"])
_RUNNERS: Final = re.compile(
    r"^(_?pytest|unittest|_pytest|builtins|__builtins__|pluggy|sys\.modules|doctest|nose|hypothesis)(\.|$)"
)
_SUMMARY: Final = re.compile(r"\b\d+ (?:passed|tests? passed)\b|^Ran \d+ tests?\b|^OK$")
_TEST_ENVIRONMENT: Final = re.compile(r"^(PYTEST_\w+|(_?pytest|unittest)(\.\w+)*)$")
_PRINTS: Final = re.compile(r"^print$|\bstd(out|err)\w*\.write|\b(s?echo|write_line|write_sep)$|reporter\.")
_RETRIES: Final = frozenset(["flaky", "retry", "rerun_if_fails", "repeat_on_failure"])
_CALLERS: Final = ("inspect.stack", "inspect.currentframe", "sys._getframe", "traceback.extract_stack")
_ASSERT_METHOD: Final = re.compile(r"^(assert[A-Z_]\w*|fail)$")


def traces_in(
    tree: ast.Module, *, is_product: bool, is_loaded: bool, asserted: frozenset[str]
) -> tuple[Trace, ...]:
    """Read every trace of a file. `asserted` are the functions whose answers the suite judges."""
    reading = _Reading(tree, asserted, is_loaded=is_loaded)
    return tuple(reading.product() if is_product else reading.tests())


class _Reading:
    """One file, with its imports."""

    def __init__(self, tree: ast.Module, asserted: frozenset[str], *, is_loaded: bool) -> None:
        self.tree = tree
        self.imports = imports_of(tree)
        self.asserted = asserted
        self.is_loaded = is_loaded
        """True: a runner loads it by itself."""

    def product(self) -> Iterator[Trace]:
        """Read code that is to be proven: it must not know whether somebody looks."""
        quoted = {id(node.value) for node in ast.walk(self.tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quoted:
                if _TEST_ENVIRONMENT.match(node.value):
                    yield trace(Kind.KNOWS_THE_TESTS, _SIGN_OFF, node, f"the product looks for {node.value}")
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for name in _imported(node):
                    if name.partition(".")[0] in ("pytest", "_pytest"):
                        yield trace(Kind.KNOWS_THE_TESTS, _SIGN_OFF, node, f"the product imports {name}")
            elif isinstance(node, ast.Call) and dotted(node.func, self.imports) == "os._exit":
                yield trace(Kind.EXIT_FORCED, _SIGN_OFF, node)
            elif isinstance(node, ast.Call) and dotted(node.func, self.imports) in _CALLERS:
                yield trace(Kind.KNOWS_THE_TESTS, _SIGN_OFF, node, "the product asks who calls it")
            elif isinstance(node, ast.Assign | ast.Call):
                yield from self._runner_patched(node)
            elif isinstance(node, Function) and node.name.startswith("pytest_"):
                yield from self._hook(node)
        yield from self._equal_to_all()

    def tests(self) -> Iterator[Trace]:
        """Read tests and what stands around them."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield from self._exits(node)
                yield from self._calls(node)
            elif isinstance(node, Function):
                yield from self._hook(node)
            elif isinstance(node, ast.ClassDef):
                yield from self._class(node)
            elif isinstance(node, ast.Raise) and node.exc is not None:
                yield from self._raised_exit(node)
            elif isinstance(node, ast.Constant) and node.value in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
                yield trace(Kind.RUNNER_CHANGED, _FAILS, node, f"{node.value} is set by the tests")
            if isinstance(node, ast.Assign | ast.Call | ast.AugAssign):
                yield from self._runner_patched(node)
        yield from self._module()
        yield from replacements(self.tree, self.imports, self.asserted)
        yield from self._equal_to_all()

    def _exits(self, node: ast.Call) -> Iterator[Trace]:
        name = dotted(node.func, self.imports)
        first = constant(node.args[0]) if node.args else None
        options = {word.arg: constant(word.value) for word in node.keywords}
        if name in ("os._exit", "posix._exit") and first != 0 and isinstance(first, int):
            return
        if name in ("os._exit", "posix._exit") or name.startswith("os.exec"):
            # A program of its own may end as it likes; what a runner loads may not.
            yield trace(Kind.EXIT_FORCED, _FAILS if self.is_loaded else _SIGN_OFF, node)
        elif name in ("sys.exit", "exit", "quit", "builtins.exit") and (
            not node.args or first in (0, None, False)
        ):
            if not node.args or isinstance(node.args[0], ast.Constant):
                yield trace(Kind.EXIT_FORCED, _FAILS, node)
        elif name == "pytest.exit":
            yield trace(Kind.EXIT_FORCED, _FAILS if options.get("returncode") == 0 else _SIGN_OFF, node)
        elif name == "unittest.main" and options.get("exit") is False:
            yield trace(Kind.EXIT_FORCED, _FAILS, node)
        elif name == "atexit.register":
            yield trace(Kind.EXIT_FORCED, _SIGN_OFF, node)

    def _raised_exit(self, node: ast.Raise) -> Iterator[Trace]:
        exc = node.exc
        if (isinstance(exc, ast.Name) and exc.id == "SystemExit") or (
            isinstance(exc, ast.Call)
            and dotted(exc.func, self.imports) == "SystemExit"
            and (not exc.args or constant(exc.args[0]) == 0)
        ):
            yield trace(Kind.EXIT_FORCED, _FAILS, node)

    def _calls(self, node: ast.Call) -> Iterator[Trace]:
        name = dotted(node.func, self.imports)
        last = name.rpartition(".")[2]
        if name in ("exec", "eval", "compile"):
            yield trace(Kind.NOT_COMPARED, _SIGN_OFF, node, f"text is run as code: {ast.unparse(node)}")
        elif self._is_steering(name):
            yield trace(Kind.RUNNER_CHANGED, _SIGN_OFF, node)
        elif (
            name == "getattr" and len(node.args) > 1 and constant(node.args[1]) in ("_exit", "exit", "execv")
        ):
            yield trace(Kind.EXIT_FORCED, _FAILS, node)
        elif name == "__import__" and node.args and constant(node.args[0]) in ("os", "sys", "posix"):
            yield trace(Kind.NOT_COMPARED, _SIGN_OFF, node)
        elif _PRINTS.search(name):
            said = [str(constant(one)) for one in node.args if isinstance(one, ast.Constant)]
            if any(_SUMMARY.search(text.strip()) for text in said):
                yield trace(Kind.OUTCOME_REWRITTEN, _FAILS, node)
        elif last == "settings" and any(word.arg == "max_examples" for word in node.keywords):
            few = next(constant(word.value) for word in node.keywords if word.arg == "max_examples")
            if isinstance(few, int) and few < 10:
                yield trace(Kind.TOLERANCE_LOOSENED, _SIGN_OFF, node)

    def _is_steering(self, name: str) -> bool:
        """Tell whether a call decides which code is loaded."""
        if name in ("sys.path.insert", "sys.path.append", "site.addsitedir"):
            return self.is_loaded
        return name.endswith("register") and "plugin" in name

    def _hook(self, node: Function) -> Iterator[Trace]:
        for one in node.decorator_list:
            last = dotted(one.func if isinstance(one, ast.Call) else one, self.imports).rpartition(".")[2]
            if last in _RETRIES:
                yield trace(Kind.FAILURE_SWALLOWED, _SIGN_OFF, one, f"a failure is tried again: {last}")
        if _OUTCOME_HOOKS.fullmatch(node.name):
            kind, severity = Kind.OUTCOME_REWRITTEN, _FAILS if self._changes_outcomes(node) else _SIGN_OFF
            if node.name == "pytest_terminal_summary" and severity is _SIGN_OFF:
                severity = _NOTE
            yield trace(kind, severity, node, f"def {node.name}")
        elif node.name == "load_tests":
            yield trace(Kind.NOT_COLLECTED, _SIGN_OFF, node, "load_tests chooses what is collected")
        elif node.name.startswith("pytest_") and self._changes_outcomes(node):
            yield trace(Kind.OUTCOME_REWRITTEN, _FAILS, node, f"def {node.name}")
        elif self._is_fixture(node):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and dotted(inner.func, self.imports) in (
                    "pytest.skip",
                    "pytest.xfail",
                ):
                    severity = (
                        _FAILS if "autouse" in "".join(map(ast.unparse, node.decorator_list)) else _SIGN_OFF
                    )
                    yield trace(
                        Kind.TEST_SKIPPED, severity, inner, f"fixture {node.name}: {ast.unparse(inner)}"
                    )

    def _is_fixture(self, node: Function) -> bool:
        return any(
            dotted(one.func if isinstance(one, ast.Call) else one, {}).rpartition(".")[2] == "fixture"
            for one in node.decorator_list
        )

    def _changes_outcomes(self, node: Function) -> bool:
        """Tell whether a hook writes where outcomes or the list of tests are kept."""
        for one in ast.walk(node):
            match one:
                case ast.Assign(targets=targets):
                    if any(_is_outcome(target) for target in targets):
                        return True
                case ast.AugAssign(target=target) if _is_outcome(target):
                    return True
                case ast.Delete(targets=targets) if any("items" in ast.unparse(target) for target in targets):
                    return True
                case ast.Return(value=value) if value is not None and truth(value) is True:
                    if node.name in (
                        "pytest_pyfunc_call",
                        "pytest_runtest_protocol",
                        "pytest_ignore_collect",
                    ):
                        return True
                case ast.Call(func=func):
                    name = dotted(func, self.imports)
                    last = name.rpartition(".")[2]
                    said = ast.unparse(one)
                    if last in _OUTCOME_CALLS or name in (
                        "os._exit",
                        "sys.exit",
                        "pytest.exit",
                        "pytest.skip",
                    ):
                        return True
                    if last == "setattr" and len(one.args) > 1 and constant(one.args[1]) in _OUTCOME_FIELDS:
                        return True
                    if last in _LISTS and "items" in dotted(func, {}):
                        return True
                    if last == "add_marker" and re.search(
                        r"\b(skip|skipif|xfail)\b", said + self._made_marks(node)
                    ):
                        return True
        return False

    def _made_marks(self, node: Function) -> str:
        return " ".join(ast.unparse(one.value) for one in ast.walk(node) if isinstance(one, ast.Assign))

    def _class(self, node: ast.ClassDef) -> Iterator[Trace]:
        is_case = any("Test" in dotted(base, self.imports) for base in node.bases)
        for one in node.body:
            if isinstance(one, ast.Assign) and is_case and any(map(_is_assertion, one.targets)):
                yield trace(Kind.FAILURE_SWALLOWED, _FAILS, one, f"{ast.unparse(one)}: it is replaced")
            if not isinstance(one, Function):
                continue
            checks = any(isinstance(inner, ast.Raise | ast.Assert | ast.Call) for inner in ast.walk(one))
            if _ASSERT_METHOD.match(one.name) and is_case and not checks:
                yield trace(Kind.FAILURE_SWALLOWED, _FAILS, one, f"{one.name} is replaced and cannot fail")
            elif is_case and one.name in (
                "run",
                "__call__",
                "_callTestMethod",
                "_feedErrorsToResult",
                "debug",
            ):
                yield trace(Kind.OUTCOME_REWRITTEN, _FAILS, one, f"{node.name}.{one.name} is replaced")
            elif one.name in ("__exit__", "__aexit__") and any(
                isinstance(inner, ast.Return) and inner.value is not None and truth(inner.value) is True
                for inner in ast.walk(one)
            ):
                yield trace(Kind.FAILURE_SWALLOWED, _FAILS, one, f"{node.name}.{one.name} returns True")

    def _equal_to_all(self) -> Iterator[Trace]:
        for node in ast.walk(self.tree):
            if isinstance(node, Function) and node.name == "__eq__":
                returns = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
                if returns and (
                    all(value is not None and truth(value) is True for value in returns)
                    or not _uses_itself(node)
                ):
                    yield trace(
                        Kind.EQUALS_ANYTHING, _FAILS, node, "__eq__ does not look at what it belongs to"
                    )
                elif any(isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for one in ast.walk(node)):
                    yield trace(Kind.EQUALS_ANYTHING, _SIGN_OFF, node, "__eq__ holds for what is only near")

    def _runner_patched(self, node: ast.Assign | ast.AugAssign | ast.Call) -> Iterator[Trace]:
        targets: list[str] = []
        if isinstance(node, ast.Call):
            if dotted(node.func, self.imports) in ("setattr", "delattr") and node.args:
                targets = [dotted(node.args[0], self.imports)]
        else:
            listed = node.targets if isinstance(node, ast.Assign) else [node.target]
            targets = [
                dotted(one.value, self.imports)
                for one in listed
                if isinstance(one, ast.Attribute | ast.Subscript)
            ]
            for one in listed:
                if isinstance(one, ast.Attribute) and one.attr in ("failureException", "excepthook"):
                    yield trace(Kind.OUTCOME_REWRITTEN, _FAILS, node)
                    return
                if isinstance(one, ast.Attribute) and _ASSERT_METHOD.match(one.attr):
                    yield trace(Kind.FAILURE_SWALLOWED, _FAILS, node)
                    return
        is_module = "sys.modules" in targets and not re.search(
            r"modules\[.(_?pytest|unittest)", ast.unparse(node)
        )
        if any(_RUNNERS.match(target) for target in targets):
            kind = Kind.PRODUCT_REPLACED if is_module else Kind.RUNNER_REPLACED
            yield trace(kind, _SIGN_OFF if is_module else _FAILS, node)

    def _module(self) -> Iterator[Trace]:
        """Read what a module says to the runner by names at its top."""
        for node in self.tree.body:
            for one in node.targets if isinstance(node, ast.Assign) else ():
                if isinstance(one, ast.Name) and one.id in ("collect_ignore", "collect_ignore_glob"):
                    yield trace(Kind.NOT_COLLECTED, _FAILS, node)
                elif isinstance(one, ast.Name) and one.id == "pytest_plugins":
                    yield trace(Kind.RUNNER_CHANGED, _SIGN_OFF, node)
            if isinstance(node, ast.For | ast.Delete | ast.Expr | ast.If) and re.search(
                r"\b(globals|vars|locals)\(\)", ast.unparse(node)
            ):
                yield trace(Kind.NOT_COLLECTED, _SIGN_OFF, node)


def _is_outcome(target: ast.expr) -> bool:
    if isinstance(target, ast.Attribute):
        return target.attr in _OUTCOME_FIELDS
    return isinstance(target, ast.Subscript) and "items" in ast.unparse(target.value)


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""] if not node.level else []
    return [alias.name for alias in node.names]


def _uses_itself(function: Function) -> bool:
    """Tell whether a method looks at the object that it belongs to."""
    mine = function.args.args[0].arg if function.args.args else ""
    return any(isinstance(one, ast.Name) and one.id == mine for one in ast.walk(function))


def _is_assertion(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and _ASSERT_METHOD.match(target.id) is not None
