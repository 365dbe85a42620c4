"""`asbuilt plan refine`: change the open phases of a plan, show the change, and approve it.

Completed phases keep every byte.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, assert_never

import click

from asbuilt import wiring
from asbuilt.cli.runs.check_trial import show_tried, trying
from asbuilt.cli.runs.drafts import change_rows
from asbuilt.cli.runs.inbox import question_in
from asbuilt.cli.runs.next_step import has_agent
from asbuilt.cli.runs.plan_approval import decide, refinements_of
from asbuilt.cli.runs.run_terms import with_team
from asbuilt.cli.shell.options import Door, script_option, subcommand
from asbuilt.cli.shell.plan_context import complete_plan, problem_counts
from asbuilt.cli.shell.run_context import Site, asker, open_site
from asbuilt.cli.ui.editor import edit
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, GATE_STOPPED, PARKED, AsbuiltError, GateStopped, UsageWrong
from asbuilt.events.options import RunOptions
from asbuilt.flows.authoring.redraft import AgentRedrafting
from asbuilt.flows.authoring.refinement import Refinements, Refining, Wish
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.read_plan import Opened
from asbuilt.lifecycle.approval import Ask, Await, File, GiveUp, Rewrite
from asbuilt.pages.drafts import changes
from asbuilt.plan.editing.refinement import changed_phases
from asbuilt.plan.model import Plan
from asbuilt.plan.problems import Problem, Severity
from asbuilt.plan.reader import read
from asbuilt.ports import Redrafting
from asbuilt.proof.checks_before_work import Tried, problems_of
from asbuilt.settings.running import command_in, with_sandbox

_SHOWN = 200
"""Lines of a difference that are shown; the whole text is in the inbox."""


class _FromFile(NamedTuple):
    """A text that is already written."""

    by: str
    file: str

    def redraft(self, text: bytes, change: str) -> bytes:
        del text, change
        if self.file == "-":
            return sys.stdin.buffer.read()
        return read_bytes(Path(self.file), name=self.file)


class _FromEditor(NamedTuple):
    """A text that the user edits now, in a copy. A copy that was refused before is edited again."""

    by: str
    door: Door
    copy: Path

    def redraft(self, text: bytes, change: str) -> bytes:
        del change
        if not self.copy.exists():
            self.copy.parent.mkdir(mode=0o700, exist_ok=True)
            self.copy.write_bytes(text)
        edit(self.door, self.copy, name=str(self.copy))
        return self.copy.read_bytes()


class _Work(NamedTuple):
    """What a command works on."""

    door: Door
    site: Site
    opened: Opened
    refinements: Refinements

    @property
    def name(self) -> str:
        """What can be typed for the plan."""
        return self.site.desk.name_of(self.opened.at)

    @property
    def copy(self) -> Path:
        """Where the user's text is kept until it is a draft."""
        return self.site.journal.home.edits / f"refine-{self.site.repo}-{self.opened.at.slug}.md"


@subcommand(
    "refine",
    ('asbuilt plan refine rate-limit "Redis, not memcached"', "write it in your editor"),
    ('asbuilt plan refine rate-limit -m "Redis, not memcached"', "let the agent that plans write it"),
    ('asbuilt plan refine rate-limit "one phase more" --from new.md', "take the new text from a file"),
    ("asbuilt plan refine rate-limit", "continue: ask again, or write what was approved"),
)
@click.argument("plan", shell_complete=complete_plan)
@click.argument("change", required=False, metavar="[WHAT CHANGES]")
@click.option(
    "--from", "source", metavar="FILE", help="the new text of the plan; -: standard input", type=click.Path()
)
@click.option("-m", "wanted", metavar="WHAT CHANGES", help="let the agent that plans write it (roles.plan)")
@click.option("--agent", metavar="NAME", help="with -m: another agent")
@script_option("with -m: file with the scripted agent's actions")
@click.option("--try", "is_trial", is_flag=True, help="run the checks of open phases before you are asked")
def command(
    door: Door,
    plan: str,
    *,
    is_trial: bool,
    **given: Any,  # noqa: ANN401 - click passes each option by its name
) -> int:
    """Change the open phases of a plan. Completed ones keep their text and their marks, whatever is written.

    What changes is shown and waits for a yes; the file is written then, and a run accepts only that text.
    """
    site = open_site(door)
    opened = site.desk.open(plan)
    work = _Work(door, site, opened, refinements_of(site, opened.at.shown))
    change, source, wanted = (given[name] for name in ("change", "source", "wanted"))
    if wanted is not None:
        if change is not None or source is not None or not wanted.strip():
            raise UsageWrong(
                "-m says what changes, and the agent writes it",
                why="Only one text or one request can be used.",
                next_step=f'`asbuilt plan refine {plan} -m "what changes"`',
            )
        return _propose(work, wanted, _agent(work, given["agent"], given["script"]), is_trial=is_trial)
    if not (change or "").strip():
        if source is not None:
            raise UsageWrong(
                "say in a few words what changes",
                why="The approver sees it, and the journal records it.",
                next_step=f'`asbuilt plan refine {plan} "what changes" --from {source}`',
            )
        return _go_on(work)
    return _propose(work, change or "", _author(work, source), is_trial=is_trial)


def _author(work: _Work, source: str | None) -> Redrafting:
    by = asker(work.door).actor
    if source is not None:
        return _FromFile(by, source)
    if not work.door.may_ask:
        raise UsageWrong(
            "writing the new text needs a terminal",
            why="It opens your editor, and there is no terminal here.",
            next_step=f'`asbuilt plan refine {work.name} -m "what changes"` lets an agent write it, or from'
            f' a file: `asbuilt plan refine {work.name} "what changes" --from FILE`'
            if has_agent(work.site.desk.settings, work.door.environ)
            else f'`asbuilt plan refine {work.name} "what changes" --from FILE` takes it from a file.',
        )
    return _FromEditor(by, work.door, work.copy)


def _agent(work: _Work, agent: str | None, script: str | None) -> Redrafting:
    """Let the planning agent write the text, in a checkout of the last commit."""
    door, site, settings = work.door, work.site, work.site.desk.settings
    options = with_team(RunOptions(), settings, door.environ, agent=agent, script=script)
    door.screen.talk(printable(f"{options.agent_of('plan')} writes it, read-only."))
    return AgentRedrafting(
        attempts=wiring.attempts(site.journal.home),
        home=site.journal.home,
        repository=site.repository,
        repo=site.repo,
        options=with_sandbox(options, settings),
        environ=door.environ,
        done=work.refinements.done(work.opened.plan),
        judge=lambda text: _need_change(work, _refined(work, text)),
        write_down=partial(work.refinements.write_down, work.opened.at.slug),
    )


def _need_change(work: _Work, after: Plan) -> None:
    if after.intent == work.opened.plan.intent:
        raise GateStopped(
            "the new text does not change the plan's requirements",
            why="The request asks for a change, and a completed phase cannot change.",
            next_step="Change an open phase, or add one.",
        )


def _propose(work: _Work, change: str, author: Redrafting, *, is_trial: bool) -> int:
    before = work.opened.plan
    text = author.redraft(before.source.data, change)
    try:
        after = _refined(work, text)
        tried = _tried(work, after) if is_trial else None
    except AsbuiltError:
        if work.copy.exists():
            work.door.screen.talk(
                printable(f"Your text is kept: {work.copy}. The same command opens it again.")
            )
        raise
    _report_left_aside(work, text)
    if after.intent == before.intent:
        work.copy.unlink(missing_ok=True)
        return _report(work, "unchanged", "the requirements are unchanged; nothing was written.", DONE)
    if not work.door.json:
        _show(work.door, before, after)
    actor, root = asker(work.door).actor, str(work.site.repository.root)
    wish = Wish(work.opened.at.slug, change, actor, root)
    asked = work.refinements.propose(before, after, wish, by=author.by, tried=tried)
    work.copy.unlink(missing_ok=True)
    return _put(work, asked.number, phases=changed_phases(before, after))


def _report_left_aside(work: _Work, text: bytes) -> None:
    """Name the completed phases that the new text would change or leave out."""
    before, given = work.opened.plan, {phase.id: phase.intent for phase in read(text).phases}
    done = work.refinements.done(before)
    kept = [part.id for part in before.phases if part.id in done and given.get(part.id) != part.intent]
    if kept and not work.door.json:
        work.door.screen.talk(
            printable(f"Completed, so your text of it is left aside: phase {', '.join(kept)}.")
        )


def _refined(work: _Work, text: bytes) -> Plan:
    desk = work.site.desk
    data = work.refinements.refined(work.opened.plan, text)
    after = read(data, ui_patterns=desk.ui_patterns, length=desk.length)
    _need_no_error(after.problems)
    return after


def _tried(work: _Work, after: Plan) -> list[Tried]:
    desk, done = work.site.desk, work.refinements.done(work.opened.plan)
    with trying(work.door, desk) as trial:
        tried = trial.tried(after, setup=command_in(desk.settings, "checks.setup"), done=done)
    if not work.door.json:
        show_tried(work.door, tried)
    _need_no_error(problems_of(tried))
    return tried


def _need_no_error(problems: Sequence[Problem]) -> None:
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise GateStopped(
            f"the new text has {counted(len(errors), 'error')}: line {errors[0].line}: {errors[0].message}",
            why="The plan has errors, so asbuilt cannot tell when a phase is done.",
            next_step=errors[0].advice,
        )


def _show(door: Door, before: Plan, after: Plan) -> None:
    pen = door.screen.out
    found = [f"{phase} {word}" for phase, word in changed_phases(before, after).items()]
    answer(door, "Phases  ", ", ".join(found) or "none; only the text around them")
    door.screen.answer_all(change_rows(pen, changes(before, after), most=_SHOWN))
    door.screen.talk(f"plan check: {problem_counts(after) or 'clean'}")


def _put(work: _Work, number: int, **more: Any) -> int:  # noqa: ANN401 - JSON values
    """Ask the user at the terminal, or leave the question in the inbox."""
    door, site = work.door, work.site
    is_here = door.may_ask and door.screen.err.is_live and not door.json
    if is_here and decide(door, site, question_in(site, number)):
        # A yes has already written the file and printed that.
        last = work.refinements.last()
        return DONE if last is None or last.step is None else _go_on(work)
    words = f"a{number} waits for a yes; the file is as it was."
    code = _report(work, "waits", words, PARKED, question=f"a{number}", **more)
    next_command(
        door, f"asbuilt approve show a{number}", other=f"approve it: `asbuilt approve yes a{number}`"
    )
    return code


def _go_on(work: _Work) -> int:
    """Continue the newest refinement: write it, ask again, or report how it ended."""
    last = work.refinements.last()
    if last is None or last.step is None:
        raise UsageWrong(
            f"no refinement of {work.name} waits",
            why="The command has no description of the change.",
            next_step=f'`asbuilt plan refine {work.name} {"" if work.door.may_ask else "-m "}"what changes"`',
        )
    match last.step:
        case File():
            return _file(work, last)
        case Await(question):
            return _put(work, int(question.name[1:]))
        case Rewrite(question) | GiveUp(question):
            reason = f": {question.note}" if question.note else ""
            return _report(work, "declined", f"{question.name} was declined{reason}.", GATE_STOPPED)
        case Ask():
            return _report(work, "declined", "it was declined, without a reason.", GATE_STOPPED)
        case _:
            assert_never(last.step)


def _file(work: _Work, last: Refining) -> int:
    at, actor = work.opened.at, asker(work.door).actor
    approved = work.refinements.file(last, work.opened.plan, at.file, name=at.shown, actor=actor)
    words = f"written as {approved.by if approved else actor} approved it, and not committed."
    return _report(work, "filed", words, DONE)


def _report(work: _Work, state: str, words: str, code: int, **more: Any) -> int:  # noqa: ANN401 - JSON values
    door, at = work.door, work.opened.at
    data = {"plan": at.shown, "state": state, **more, "exit": code}
    if not door.emitted("asbuilt.refinement/1", data):
        answer(door, "", f"{at.shown}: {words}")
    return code
