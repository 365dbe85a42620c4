"""Run checks on a clean checkout of a tree and keep what they show. An agent's claims do not count here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from asbuilt.events.options import Depth, value_or
from asbuilt.flows.checks.outcomes import judged_check, outcome_of
from asbuilt.flows.checks.project import own_setup, ran_none
from asbuilt.flows.environments.results import Ran
from asbuilt.flows.trials.allowance import Allowance
from asbuilt.flows.trials.emptied import Emptying, Tested, held_to
from asbuilt.flows.trials.phase_trials import Further
from asbuilt.flows.trials.suite import Order, Trials
from asbuilt.flows.trials.weakened_tests import run_earlier_tests, run_old_tests
from asbuilt.git.commits import read_commit
from asbuilt.git.repository import Repository
from asbuilt.policy.shell.judge import argv_of
from asbuilt.proof.change.restored_test_settings import put_back_words
from asbuilt.proof.counts import Counts, from_output, from_report
from asbuilt.proof.evidence import SETUP, Evidence
from asbuilt.proof.judgement import (
    Judged,
    disagreement,
    has_as_many,
    judge_setup,
    judge_tests,
    left_out,
    naming_failures,
    removed_words,
)
from asbuilt.proof.projects.model import Setup, Suite
from asbuilt.proof.trials.canaries import with_canaries
from asbuilt.proof.trials.depth import covers
from asbuilt.proof.trials.flakiness import flaky_among, to_run_again
from asbuilt.proof.trials.recorders import cause_of

if TYPE_CHECKING:
    from asbuilt.flows.environments.check_environment import CheckEnvironment, CheckEnvironments
    from asbuilt.flows.run.record import Record

_NOTED: Final = 20
_NAMES: Final = 500
"""Most tests of a phase that evidence lists by name."""


@lru_cache(maxsize=256)
def tree_of(repository: Repository, commit: str) -> str:
    """Return the tree of a commit; cached, since a commit id fixes its content."""
    return read_commit(repository, commit).tree


class Proving:
    """The checks of one run. Environments are set up on its base, except for a tree with other packages."""

    def __init__(
        self, record: Record, repository: Repository, environments: CheckEnvironments, base: str
    ) -> None:
        self._record = record
        self.repository = repository
        self._environments = environments
        self.base = base

    def set_up(self, setup: Setup) -> Evidence | None:
        """Prepare the environment; None if it is ready already, or there is nothing to prepare."""
        with self._environments.take(setup) as environment:
            return self._made(environment)

    def baseline(self, name: str, suite: Suite) -> tuple[Evidence, Counts | None]:
        """Run a suite on the base. Failures are recorded; a suite without tests stops the run.

        The canaries run here too: a runner is judged only by canaries that it reports correctly before any
        work.
        """
        with self._environments.take(self._record.setup()) as environment:
            made = self._made(environment)
            if made is not None and made.outcome != "PASS":
                return made, None
            trials = Trials(environment, self.repository, self.base, None, folder=suite.folder)
            ran = _whole(
                lambda: environment.run(
                    self.base, suite.command, modules=trials.modules, folder=suite.folder, keeps_cache=True
                )
            )
            shown = naming_failures(self._tests(name, suite, ran, ran.counts), ran.counts)
            if not shown.ran and not shown.unusable and shown.outcome != "PASS":
                # An old setup may have stopped working: the next run prepares it again.
                environment.forget()
            elif shown.is_conclusive:
                sung = trials.sing(ran)
                shown = shown._replace(
                    canary=sung.canary, canaries=sung.result.state if sung.result else "", notes=(sung.note,)
                )
                shown = held_to(shown, Emptying(environment, [Tested(trials, ran, ran.counts)]).base())
        return shown, ran.counts

    def prove(
        self,
        tree: str,
        checks: Sequence[str] = (),
        *,
        order: Order | None = None,
        again: bool = False,
        suites: Mapping[str, Suite] | None = None,
        floor: Sequence[Evidence] | None = (),
    ) -> list[Evidence]:
        """Run the suites and a phase's own checks on a tree; reuse what this run showed of the same tree.

        `again` reuses nothing; `suites` replaces those of the run. With an `order`, files that configure a
        runner are those of its base, unless its text names them, and the phase's own tests run on that base
        too. `floor` is what other trees showed: as many tests as one of them has are enough; None: any
        number.
        """
        setup, of = self._setup_of(tree)
        suites = self._record.suites() if suites is None else suites
        known = {} if again else self._known(tree, suites, setup, probed=bool(order and not order.was_tried))
        if len(known) == len(suites) and not checks:
            return [*known.values()]
        with self._environments.take(setup) as environment:
            made = self._made(environment, of)
            if made is not None and made.outcome != "PASS":
                return [made]
            command = "\n".join(suite.command for suite in suites.values())
            trials = Trials(environment, self.repository, tree, order, command=command, floor=floor)
            shown: list[Evidence] = []
            tried: list[Tested] = []
            allowance = Allowance(self._depth)
            for name, suite in suites.items():
                if name in known:
                    shown.append(known[name])
                    continue
                inside = trials.within(suite.folder)
                ran, evidence = self._suite(environment, inside, tree, name, suite, allowance)
                if self._record.had_no_tests(name, trials.base) and ran_none(self.repository, evidence):
                    continue
                shown.append(evidence)
                tried.append(Tested(inside, ran, ran.counts))
            # Without suites, runner settings cannot fake a pass: only caches are left out.
            over = trials.over_checks if suites else trials.without_caches
            shown += self._checked(environment, tree, checks, over, tried)
            if order is None or order.was_tried or outcome_of(shown) != "PASS":
                return shown
            further = Further(self._record, environment, tried, allowance)
            return further.held(shown, checks, base=order.base, start=self.base)

    @property
    def _depth(self) -> Depth:
        return value_or(self._record.run.options.depth, "normal")

    def check(self, tree: str, checks: Sequence[str]) -> list[Evidence]:
        """Run a phase's own checks on a tree, without the tests."""
        if not checks:
            return []
        setup, of = self._setup_of(tree)
        with self._environments.take(setup) as environment:
            made = self._made(environment, of)
            if made is not None and made.outcome != "PASS":
                return [made]
            return self._checked(environment, tree, checks, {})

    def _setup_of(self, tree: str) -> tuple[Setup, str]:
        """Return the setup of a tree, and the tree it runs on: the base, unless other packages are needed."""
        own = own_setup(self._record, self.repository, self.base, tree) if tree != self.base else None
        return (own, tree) if own else (self._record.setup(), self.base)

    def _suite(
        self,
        environment: CheckEnvironment,
        trials: Trials,
        tree: str,
        name: str,
        suite: Suite,
        allowance: Allowance,
    ) -> tuple[Ran, Evidence]:
        """Run a suite, then test that run: a PASS holds only if every trial agrees."""
        earlier = [evidence for evidence in self._record.shown() if evidence.name == name]
        before_s = next((evidence.duration_s for evidence in earlier if evidence.is_suite), 0.0)
        ran = _whole(
            lambda: environment.run(
                tree,
                suite.command,
                over=trials.over_tests,
                modules=trials.modules,
                folder=suite.folder,
                limit_s=environment.limit_for(before_s),
            )
        )
        starts = trials.weakenable(ran)
        allowance.add_suite(ran.ended.duration_s, tests_differ=bool(starts or trials.of_base(ran)))
        shown = self._judged(trials, ran, suite, name, earlier, tight=allowance.is_tight)
        if shown.outcome == "PASS" and not (trials.order and trials.order.was_tried):
            shown = self._tried_suite(trials, ran, shown, earlier, starts, allowance)
        return ran, shown._replace(notes=(*shown.notes, *environment.notes), depth=allowance.depth)

    def _judged(
        self, trials: Trials, ran: Ran, suite: Suite, name: str, earlier: list[Evidence], *, tight: bool
    ) -> Evidence:
        known = {evidence.tree: evidence for evidence in earlier}
        before = known.get(self.base)
        counts, put_back = ran.counts, tuple(trials.over_tests)
        counted = self._record.baseline(name)
        may_shrink = trials.may_shrink(ran, counted, name) or has_as_many(known.get(trials.base), counts)
        shown = self._tests(name, suite, ran, counted, before, may_shrink=may_shrink)
        notes = tuple(f"{path} is the base's" for path in put_back[:_NOTED])
        shown = shown._replace(put_back=put_back[:_NAMES], notes=notes)
        if shown.new_failures and not shown.unusable:
            shown = self._tried_again(shown, trials, ran, known.get(trials.base))
        held = {**trials.changed_held(ran), **trials.changed_inline(ran)}
        gone = self._gone(known.get(trials.base), counts, held)
        if gone is not None and shown.outcome == "PASS":
            shown = shown._replace(outcome="FAIL", why=gone)
        if shown.outcome != "PASS":
            why = f"{shown.why}{removed_words(trials.removed_files(ran))}{put_back_words(put_back)}"
            return shown._replace(why=why)
        if counts is not None:
            has_canaries = before is None or before.canaries != "absent"
            shown = with_canaries(shown, before, trials.sing(ran, is_tight=tight) if has_canaries else None)
        return shown

    def _tried_suite(
        self,
        trials: Trials,
        ran: Ran,
        shown: Evidence,
        earlier: Sequence[Evidence],
        starts: Sequence[str],
        allowance: Allowance,
    ) -> Evidence:
        """Run the base's tests, and those of earlier starts, on the new code, and the phase's on its base."""
        counts, counted = ran.counts, self._record.baseline(shown.name)

        def counts_on(tree: str) -> Counts | None:
            before = next((check for check in reversed(earlier) if check.tree == tree), None)
            return (self._record.counts_of(before) if before else None) or counted

        olds = run_old_tests(trials, ran, counts_on(trials.base), allowance)
        before = run_earlier_tests(trials, ran, starts, counts_on, allowance)
        shown = shown._replace(old=olds.state, olds=tuple(map(tuple, (*olds.tests, *before[:_NAMES]))))
        notes = (*shown.notes, olds.note) if olds.note else shown.notes
        if counts is None:
            return shown._replace(notes=notes)
        compared = trials.compare(ran, counts, allowance)
        hollow = trials.without_checks(counts, counts_on(trials.base))
        shown = shown._replace(hollow=hollow[:_NAMES])
        notes = (*notes, compared.note) if compared.note else notes
        return shown._replace(proves=compared.proves[:_NAMES], idle=compared.idle[:_NAMES], notes=notes)

    def _tried_again(self, shown: Evidence, trials: Trials, ran: Ran, before: Evidence | None) -> Evidence:
        """Run failing tests again whose files did not change; if they are flaky, pass and name them."""
        counts, records = ran.counts, self._record.baselines(self.base, shown.name)
        of_phase = self._record.counts_of(before) if before and before.tree != self.base else None
        records += [of_phase] if of_phase else []
        names = to_run_again(shown, counts, records, trials.held_around(ran)) if counts else ()
        flaky = flaky_among(names, trials.again(ran, names), records) if names else None
        # Only a phase asks the user about flaky tests. Elsewhere they fail, unless they were flaky before.
        if flaky is None or not (trials.base or all(test.was_so for test in flaky)):
            return shown
        tallies = ", ".join(f"{test.name} passed {test.passed} of {test.runs}" for test in flaky[:3])
        why = f"{shown.ran} ran, {shown.skipped} skipped, {len(flaky)} by chance: {tallies}"
        notes = (*shown.notes, f"run again, and passed: {tallies}")
        return shown._replace(outcome="PASS", why=why, new_failures=(), flaky=flaky[:_NAMES], notes=notes)

    def _gone(self, before: Evidence | None, now: Counts | None, changed: Mapping[str, str]) -> str | None:
        """Return a reason if tests of the phase's base did not run though their files did not change."""
        then = self._record.counts_of(before) if before else None
        held = "\n".join(changed.values())
        gone = left_out(then.ran_names, now.ran_names, changed, held) if then and now else ()
        if not gone:
            return None
        missing = f"{len(gone)} tests that ran on the base did not run, and their files are the same"
        return f"{missing}: {', '.join(gone[:3])}"

    def _checked(
        self,
        environment: CheckEnvironment,
        tree: str,
        checks: Sequence[str],
        over: Mapping[str, bytes | None],
        tried: Sequence[Tested] = (),
    ) -> list[Evidence]:
        # Each check starts from the tree, not from what the check before it left behind.
        shown = []
        same = (tested for tested in tried if not tested.trials.folder and tested.trials.over_tests == over)
        known = {argv_of(tested.ran.command): tested.ran for tested in same}
        for check in checks:
            run = partial(environment.run, tree, over=over)
            ran = known.get(argv_of(check)) or _whole(partial(run, check))
            judged = judged_check(check, ran, run)
            if judged.outcome != "PASS":
                judged = judged._replace(why=f"{judged.why}{put_back_words(tuple(over))}")
            evidence = self.evidence(check, ran, judged)._replace(put_back=tuple(over))
            shown.append(evidence._replace(reused=argv_of(check) in known))
        return shown

    def _known(
        self, tree: str, suites: Mapping[str, Suite], setup: Setup, *, probed: bool
    ) -> dict[str, Evidence]:
        wanted = {(name, argv_of(suite.command), tree, setup.digest) for name, suite in suites.items()}
        found: dict[str, Evidence] = {}
        for check in self._record.shown():
            # A phase's PASS is reused only if its files were emptied too, at this depth or deeper.
            is_whole = (
                (check.emptied and covers(check.depth, self._depth)) or check.outcome != "PASS" or not probed
            )
            if (
                (check.name, check.argv, check.tree, check.setup) in wanted
                and check.is_conclusive
                and is_whole
            ):
                found.setdefault(check.name, check._replace(reused=True))
        return found

    def _made(self, environment: CheckEnvironment, tree: str = "") -> Evidence | None:
        """Run the setup. A tree with packages of its own is set up from files that an agent wrote."""
        of = tree or self.base
        is_own = of != self.base
        ran = environment.set_up(of, is_trusted=not is_own)
        if ran is not None and ran.cut_off is not None:
            ran = environment.set_up(of, is_trusted=not is_own)
        if ran is None:
            return None
        judged = judge_setup(ran.ended.exit_code, ran.cut_off)
        if is_own and ran.cut_off is None and ran.ended.exit_code:
            why = f"exit {ran.ended.exit_code}: the packages of this phase could not be installed"
            return self.evidence(SETUP, ran, judged._replace(outcome="FAIL", why=why))
        shown = self.evidence(SETUP, ran, judged)
        return shown._replace(unusable=shown.outcome != "PASS")

    def _tests(
        self,
        name: str,
        suite: Suite,
        ran: Ran,
        baseline: Counts | None,
        before: Evidence | None = None,
        *,
        may_shrink: bool = False,
    ) -> Evidence:
        """Judge a run of the suite; a contradiction that its runner also showed on the base is no failure."""
        ended, counts = ran.ended, ran.counts
        judged = judge_tests(
            ended.exit_code,
            counts,
            truncated=ended.truncated,
            baseline=baseline,
            may_shrink=may_shrink,
            by_exit_code=suite.counts == "exit-code",
            cut=ran.cut_off,
        )
        expected = bool(before and before.report)
        contradicts = disagreement(ended.exit_code, ran.printed, ran.reported, wants_report=expected)
        if (
            contradicts is not None
            and judged.outcome not in ("FAIL", "INDETERMINATE")
            and not self._contradicts(before)
        ):
            judged = judged._replace(outcome="FAIL", why=contradicts)
        counted = suite.counts if counts is None else "tests"
        shown = self.evidence(name, ran, judged, counts)._replace(folder=suite.folder, counted=counted)
        if ran.strays:
            return shown._replace(outcome="INDETERMINATE", why=cause_of(ran.strays[0]), unusable=True)
        return shown

    def _contradicts(self, before: Evidence | None) -> bool:
        if before is None or not before.report:
            return False
        printed = from_output(self._record.blobs.get(before.output).decode("utf-8", "replace"))
        reported = from_report(self._record.blobs.get(before.report))
        return disagreement(before.exit_code, printed, reported, wants_report=False) is not None

    def evidence(self, name: str, ran: Ran, judged: Judged, counts: Counts | None = None) -> Evidence:
        """Return the evidence of a command that ran."""
        return Evidence(
            name=name,
            argv=argv_of(ran.command),
            exit_code=ran.ended.exit_code,
            outcome=judged.outcome,
            why=judged.why,
            ran=counts.ran if counts else None,
            skipped=counts.skipped if counts else None,
            failed=counts.failed if counts else None,
            output=self._record.blobs.put(ran.ended.output),
            duration_s=ran.ended.duration_s,
            tree=ran.tree,
            new_failures=judged.new,
            old_failures=judged.old,
            setup=ran.setup,
            ring=ran.ended.sandbox_level,
            report="" if ran.report is None else self._record.blobs.put(ran.report),
            unusable=ran.cut_off is not None,
        )


def _whole(run: Callable[[], Ran]) -> Ran:
    """Run a command, and again if it was cut off: a cut-off run shows nothing of the tree."""
    ran = run()
    return ran if ran.cut_off is None else run()
