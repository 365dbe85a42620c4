"""Test the test run itself: canaries beside the tests, the phase's tests on its base, runner files restored.

Rule: a trial can only take a PASS away. The exception is `again`: flaky tests that pass then count as passed.
"""

from __future__ import annotations

import copy
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.flows.environments.trees import Trees
from asbuilt.flows.trials.allowance import Allowance, limit_of
from asbuilt.git.repository import Repository
from asbuilt.policy.shell.judge import argv_of
from asbuilt.proof.change.restored_test_settings import is_cache
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.judgement import has_as_many
from asbuilt.proof.projects.index import below, is_within
from asbuilt.proof.runner_command_lines import (
    Call,
    Runner,
    failing_fast,
    narrowed,
    only,
    real_argv,
    reporting,
    runner_of,
)
from asbuilt.proof.suites.path_roles import Role, is_in_tests, is_test_code, is_test_file, role_of
from asbuilt.proof.trials.canaries import Canary, Sung, canaries, canary_state, no_canary
from asbuilt.proof.trials.depth import Trial
from asbuilt.proof.trials.emptied import sorted_out, word_of
from asbuilt.proof.trials.new_tests import Compared, added_names, compared, names_any, without_checks
from asbuilt.proof.trials.recorders import names_of
from asbuilt.proof.trials.test_text import is_changed_inside
from asbuilt.proof.trials.weakened_tests import with_old_inline

if TYPE_CHECKING:
    from asbuilt.flows.environments.check_environment import CheckEnvironment
    from asbuilt.flows.environments.results import Ran
    from asbuilt.proof.counts import Counts

_AMONG_TESTS: Final = (Role.TEST, Role.AROUND, Role.DATA, Role.GOLDEN)
_ALONE: Final = ("node", "vitest", "jest", "ava", "tap", "go")
"""Runners with a process per file or package: no file can change what another does."""
_AMONG: Final = ("*test*", "*Test*", "*spec*")
"""Patterns of files that are searched for mentions of a product file."""
_NEAR: Final = 30
"""Most test files that run before the whole suite does."""


class Order(NamedTuple):
    """What a tree is proven against: the tree it started from, and the phase's frozen text."""

    base: str
    text: str
    compared: bool = False
    """True: the tests that differ were compared one by one, so fewer tests may be right."""
    earlier: tuple[str, ...] = ()
    """Trees that the phases before started from, oldest first, if their work lands with this one."""
    landed: tuple[str, ...] = ()
    """The same of the plan's phases that are landed, and last the tree after them."""
    was_tried: bool = False
    """True: the trials ran in the phase's lane, before its work was merged."""


class Trials:
    """The trials of one tree in one check environment."""

    def __init__(  # noqa: PLR0913 - the parts of a trial
        self,
        environment: CheckEnvironment,
        repository: Repository,
        tree: str,
        order: Order | None,
        *,
        command: str = "",
        folder: str = "",
        floor: Sequence[Evidence] | None = (),
    ) -> None:
        """Keep the parts; `command` starts the tests, in `folder`; `floor`: see `Proving.prove`."""
        self.environment = environment
        self.order = order
        self.trees = Trees(repository, order.base if order else "", tree)
        self.put_back = self.trees.restored(command, order.text if order else "")
        self.folder = folder
        self.floor = floor

    def within(self, folder: str) -> Trials:
        """Return the same trials for the suite of a folder."""
        inside = copy.copy(self)
        inside.folder = folder
        return inside

    def since(self, base: str, tree: str = "") -> Trials:
        """Return the same trials with another base, and another tree if given."""
        other = copy.copy(self)
        other.order = self.order and self.order._replace(base=base, earlier=(), landed=())
        other.trees = self.trees.since(base, tree)
        return other

    def weakenable(self, suite: Ran) -> list[str]:
        """List the earlier starts whose tests a phase since may have weakened, of landed phases too.

        The first one if any of its files among tests differs at the start of this phase. A later one costs as
        much again: only if the phase that started there changed more of a file than it added tests.
        """
        if self.order is None or self.order.was_tried:
            return []
        starts = [*self.order.earlier, self.base]
        *landed, after = self.order.landed or ("",)
        # A test that the user has changed since is the user's.
        if landed and not self.since(after, starts[0]).changed_held(suite):
            starts[:0] = landed
        first, *later = starts
        found = [first] if later and self.since(first, self.base).changed_held(suite) else []
        for start, end in pairwise(later):
            step = self.since(start, end)
            held = step.changed_held(suite).items()
            now = step.trees.text_now
            if any(is_changed_inside(old, now(below(self.folder, path))) for path, old in held):
                found.append(start)
        return found

    @property
    def over_tests(self) -> dict[str, bytes | None]:
        """Files that replace those of the tree when the tests run."""
        return {restored.path: restored.content for restored in self.put_back}

    @property
    def over_checks(self) -> dict[str, bytes | None]:
        """Files that replace those of the tree when a phase's own check runs, which may need a new recipe."""
        return {restored.path: restored.content for restored in self.put_back if not restored.is_recipe}

    @property
    def without_caches(self) -> dict[str, bytes | None]:
        """Cache files that are removed from the tree in any case."""
        return {restored.path: restored.content for restored in self.put_back if is_cache(restored.path)}

    @property
    def base(self) -> str:
        """The tree that the phase started from; empty if there is no phase."""
        return self.order.base if self.order else ""

    def rerun(
        self, suite: Ran, over: Mapping[str, bytes | None], *, call: Call | None, limit_s: int | None = None
    ) -> Ran:
        """Run a suite's command again, as `call` if given, with `over` in place of files of the tree."""
        over = {**self.over_tests, **over}
        return self.environment.run(
            suite.tree, suite.command, over=over, call=call, limit_s=limit_s, folder=self.folder
        )

    def may_shrink(self, suite: Ran, baseline: Counts | None, name: str) -> bool:
        """Return whether fewer tests may be right: a proven tree had as many, or they are compared."""
        floor = () if self.floor is None else self.floor
        is_proven = any(has_as_many(proven, suite.counts) for proven in floor if proven.name == name)
        followed = bool(baseline and baseline.passed and suite.counts and suite.counts.passed)
        is_known = self.order is not None and (self.order.compared or followed)
        return self.floor is None or is_proven or (is_known and bool(self.changed_held(suite)))

    def changed_held(self, suite: Ran) -> dict[str, str]:
        """Return the changed files among tests that existed before, with their old contents."""
        before = self._inside(self.trees.before)
        held = [path for path in self.changed_around(suite) if path in before]
        return {path: self.trees.text(before[path]) for path in held}

    def changed_tests(self, suite: Ran) -> list[str]:
        """List the test files that the phase added, changed or removed."""
        runner = self.runner(suite)
        return sorted(path for path in self._mine if runner is not None and is_test_file(runner, path))

    def own_files(self, suite: Ran) -> list[str]:
        """List the test files that the phase added or changed."""
        return [path for path in self.changed_tests(suite) if self.trees.there[path]]

    def removed_files(self, suite: Ran) -> list[str]:
        """List the test files that the phase removed."""
        return [path for path in self.changed_tests(suite) if not self.trees.there[path]]

    def changed_around(self, suite: Ran) -> list[str]:
        """List these, and other changed files among tests, by their paths in the suite's folder."""
        among = {path for path in self._mine if role_of(path) in _AMONG_TESTS or self.trees.is_helper(path)}
        return sorted(self._inside(dict.fromkeys({*self.changed_tests(suite), *among}, "")))

    def of_base(self, suite: Ran) -> dict[str, bytes | None]:
        """Return the base's files among tests and runner settings that differ, for a run of its tests."""
        if self.order is None:
            return {}
        before = self.trees.before
        around = {below(self.folder, path) for path in self.changed_around(suite)}
        contents = {restored.path: restored.content for restored in self.trees.restored(suite.command, "")}
        for path in sorted(around):
            then = self.trees.content(before[path]) if path in before else None
            if not path.endswith(".rs") or is_in_tests(path):
                contents[path] = then
            elif then is not None and (old := with_old_inline(then, self.trees.text_now(path).encode())):
                contents[path] = old
        return contents

    def old_call(
        self, suite: Ran, over: Mapping[str, bytes | None], *, may_share: bool = False
    ) -> tuple[Call | None, bool]:
        """Return the call that runs the base's tests, and whether it is narrowed to the files that differ.

        It is narrowed only if no helper or setting differs, and each file or package has a process of its
        own. If files `may_share` a process, the tests that mention the phase's product files run too: another
        file may repair it.
        """
        runner = self.runner(suite)
        if runner is None or not (runner in _ALONE or may_share):
            return None, False
        alone = all(is_test_file(runner, path) or role_of(path) is Role.TEST for path in over)
        there = [path for path, content in over.items() if content is not None or runner == "go"]
        if runner not in _ALONE:
            there += [path for path in self._near_work(runner, suite) or () if path not in over]
        call = self._only(suite, there) if alone else None
        return (call, True) if call else (None, alone and not there)

    def held_around(self, suite: Ran) -> dict[str, str]:
        """Return all changed files among tests with their old contents; empty for new files."""
        return dict.fromkeys(self.changed_around(suite), "") | self.changed_held(suite)

    def changed_inline(self, suite: Ran) -> dict[str, str]:
        """Return changed product files that may contain tests (Rust unit tests), with their old contents."""
        before = self.trees.before
        is_rust = self.runner(suite) in ("cargo", "nextest")
        held = [path for path in self._mine if is_rust and path.endswith(".rs") and path in before]
        return self._inside({path: self.trees.text(before[path]) for path in held})

    def sing(self, suite: Ran, *, is_tight: bool = False) -> Sung:
        """Run the canaries alone, with everything that the suite loads and nothing else that it runs.

        If time is tight, pytest loads only the tests that mention the phase's files, provided each file is
        mentioned.
        """
        argv, runner = self._argv(suite)[0], self.runner(suite)
        if runner is None:
            return Sung("", None, "no canary: the runner is not known")
        files = {path: file for path, file in self.trees.now.items() if is_within(path, self.folder)}
        changed = self.own_files(suite)
        canary = _new()
        made = canaries(runner, files, lambda path: self.trees.text(files[path]), canary, changed)
        also = [path.rpartition("/")[2].removesuffix(".py") for path in changed]
        near = self._near_work(runner, suite) if is_tight and runner == "pytest" else None
        alone = self._only(suite, [*made, *changed, *near]) if near is not None else None
        call = narrowed(runner, alone.argv if alone else argv, canary.word, self.environment.report, also)
        if call is None or not made:
            return Sung("", None, no_canary(runner, can_narrow=call is not None))
        ran = self.rerun(suite, made, call=call)
        found = canary_state(canary, len(made), ran.ended.exit_code, ran.counts)
        return Sung(canary.name, found, f"canaries ({runner}): {found.why}")

    def compare(self, suite: Ran, counts: Counts, allowance: Allowance) -> Compared:
        """Run the phase's new and changed tests on its base, with only the files among tests replaced."""
        if self.order is None:
            return Compared()
        runner, files = self.runner(suite), self.trees.now
        tests = self.own_files(suite)
        if runner is None or not tests:
            return Compared(note="" if runner else "not tried on the base: the runner is not known")
        call = self.own_tests(suite)
        if call is None:
            return Compared(note=f"not tried on the base: {runner} cannot be told to run only some files")
        around = (below(self.folder, path) for path in self.changed_around(suite))
        over = {path: self.trees.content(files[path]) for path in around if path in files}
        base, folder, left_s = self.order.base, self.folder, allowance.seconds(Trial.NEW_TESTS)
        if not left_s:
            return Compared()
        limit_s = limit_of(left_s)
        ran = self.environment.run(base, suite.command, over=over, call=call, folder=folder, limit_s=limit_s)
        if ran.ended.exit_code is not None:
            return compared(ran.counts, counts, tests)
        allowance.leave_out(Trial.NEW_TESTS)
        return Compared()

    def without_checks(self, counts: Counts, base: Counts | None) -> tuple[tuple[str, str], ...]:
        """Return the tests that the phase adds and whose text checks nothing."""
        if self.order is None or base is None:
            return ()
        before, known = self.trees.before, {*base.ran_names}
        tests = [path for path in self._mine if self.trees.there[path] and is_test_code(path)]
        new = [test for test in counts.passed if test not in known]
        if not counts.passed:
            # The runner does not name passing tests: count each new file as one test.
            tests = [path for path in tests if path not in before]
            new = [path.rpartition("/")[2] for path in tests]
        return without_checks({path: self.trees.text_now(path) for path in tests}, new)

    def tests_name(self, sources: Mapping[str, tuple[bytes, bytes]], suite: Ran) -> bool:
        """Return whether the phase's new and changed tests name a function or class that it adds."""
        tests = self.own_files(suite)
        return names_any(added_names(sources), map(self.trees.text_now, tests))

    def own_tests(self, suite: Ran) -> Call | None:
        """Return the call that runs only the phase's new and changed tests; None if there are none."""
        return self._only(suite, self.own_files(suite))

    def runner(self, suite: Ran) -> Runner | None:
        """Return the runner of the suite; None if unknown."""
        return runner_of(*self._argv(suite))

    def product_files(self, suite: Ran) -> list[str]:
        """List the files of the tree that the suite's runner could run, largest first."""
        mine = [path for path in self.trees.now if is_within(path, self.folder)]
        found = sorted_out(mine, (self.runner(suite),)).product
        return self.trees.largest_first(found)

    def mentioning(self, words: Sequence[str], suite: Ran) -> list[str]:
        """List the test files that contain one of the words."""
        runner = self.runner(suite)
        found = self.trees.mentioning(words, _AMONG)
        mine = (path for path in found if is_within(path, self.folder))
        return [path for path in mine if runner is not None and is_test_file(runner, path)]

    def near(self, paths: Sequence[str], suite: Ran) -> Call | None:
        """Return the call that runs the changed tests and those that mention some files, until one fails."""
        found = (*self.own_files(suite), *self.mentioning([*map(word_of, paths)], suite))
        call = self._only(suite, [*dict.fromkeys(found)][:_NEAR])
        return call and self._fast(call, suite)

    def whole(self, suite: Ran) -> Call:
        """Return the call that runs the suite until a test fails."""
        return self._fast(reporting(argv_of(suite.command), self.environment.report), suite)

    def _fast(self, call: Call, suite: Ran) -> Call:
        # If tests failed before, the first failure shows nothing.
        if suite.ended.exit_code != 0:
            return call
        fast = failing_fast(self.runner(suite), call.argv)
        return call._replace(argv=fast.argv, environment={**call.environment, **fast.environment})

    @property
    def modules(self) -> tuple[str, ...]:
        """The Python modules in the suite's folder."""
        return names_of(self._inside(self.trees.now), sys.stdlib_module_names)

    def again(self, suite: Ran, names: Sequence[str]) -> Counts | None:
        """Run only the named tests again, or all tests if their files are unknown."""
        argv, runner = self._argv(suite)[0], self.runner(suite)
        files = self._inside(self.trees.now)
        held = [path for path in files if runner and is_test_file(runner, path) and _may_hold(path, names)]
        call = None
        if runner in ("node", "go", "ctest"):
            pattern = f"^({'|'.join(map(re.escape, names))})$"
            call = narrowed(runner, argv, pattern, self.environment.report)
        elif runner is not None and held:
            call = only(runner, argv, held, self.environment.report, [*files, *_folders(files)])
        call = call or reporting(argv_of(suite.command), self.environment.report)
        return self.rerun(suite, {}, call=call).counts

    def _near_work(self, runner: Runner, suite: Ran) -> list[str] | None:
        """List test files that mention the phase's product files; None unless each file is mentioned."""
        files = sorted_out(self.trees.changed, (runner,)).product
        near = [self.mentioning([word_of(path)], suite)[:_NEAR] for path in files]
        return [*dict.fromkeys(path for found in near for path in found)] if all(near) else None

    @property
    def _mine(self) -> list[str]:
        return [path for path in self.trees.there if is_within(path, self.folder)]

    def _inside(self, files: Mapping[str, str]) -> dict[str, str]:
        """Return the files of the suite's folder, by their paths in it."""
        cut = len(self.folder) + 1 if self.folder else 0
        return {path[cut:]: file for path, file in files.items() if is_within(path, self.folder)}

    def _only(self, suite: Ran, tests: Sequence[str]) -> Call | None:
        argv, runner = self._argv(suite)[0], self.runner(suite)
        if runner is None or not tests:
            return None
        files, mine = self._inside(self.trees.now), [*self._inside(dict.fromkeys(tests, ""))]
        return only(runner, argv, mine, self.environment.report, [*files, *_folders(files)])

    def _argv(self, suite: Ran) -> tuple[tuple[str, ...], str]:
        manifest = below(self.folder, "package.json")
        package = self.over_tests.get(manifest)
        if package is None:
            file = self.trees.now.get(manifest)
            package = b"" if file is None else self.trees.content(file)
        argv = real_argv(argv_of(suite.command), package.decode("utf-8", "replace"))
        return argv, suite.ended.output.decode("utf-8", "replace")


def _new() -> Canary:
    passes, fails = secrets.token_hex(3), secrets.token_hex(3)
    return Canary(f"z{secrets.token_hex(4)}", passes, fails) if passes != fails else _new()


def _may_hold(path: str, names: Sequence[str]) -> bool:
    module = f".{path.rpartition('/')[2].rpartition('.')[0]}."
    return any(path in name or module in f".{name.replace('::', '.')}." for name in names)


def _folders(files: Mapping[str, str]) -> set[str]:
    return {path[:at] for path in files for at, letter in enumerate(path) if letter == "/"}
