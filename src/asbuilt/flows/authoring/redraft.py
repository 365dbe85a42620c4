"""Let an agent rewrite a plan in a read-only checkout. Implements the port `Redrafting`."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from asbuilt.errors import AsbuiltError, GateStopped, GitFailed, NotLanded
from asbuilt.events.options import RunOptions
from asbuilt.flows.checks.outside_changes import need_unchanged
from asbuilt.flows.run import environment
from asbuilt.flows.run.briefs import opened, program_of
from asbuilt.git.first_use import first_commit
from asbuilt.git.repository import Repository, resolve
from asbuilt.git.user_name import committing
from asbuilt.git.workspace import workspaces
from asbuilt.journal.ids import new_id
from asbuilt.lifecycle.approval import AGENT
from asbuilt.plan.markdown.source import Source, encode
from asbuilt.ports import Attempts, Brief, Result, Workspace

if TYPE_CHECKING:
    from asbuilt.journal.home import Home

TRIES: Final = 3
"""Most texts of an agent that are judged."""
_LOOK_S: Final = 0.2
_NAME: Final = "refine"
_ASK: Final = """\
Write this plan anew so that it does what the block `prompt` asks for. Change what that needs and nothing
else: what stays is kept word for word. Keep the ids of phases that stay, and state no work as done.
The phases named in the block `done` are completed: leave them as they are, or leave them out.
Each phase that you write, or the whole plan, has a command under Verification, in backticks, that fails
before the work and passes after it.
Hand in the whole plan as one Markdown document that begins with its title, not inside a code block, and
nothing else."""


class AgentRedrafting(Struct, frozen=True, kw_only=True):
    """The planning agent, asked for a new text of a plan."""

    attempts: Attempts
    home: Home
    repository: Repository
    repo: str
    options: RunOptions
    """The options that choose the planning agent."""
    environ: Mapping[str, str]
    done: Collection[str]
    judge: Callable[[bytes], object]
    """Raises if a text has a problem."""
    write_down: Callable[[Brief, Result | None], object]
    """Records how a turn ended and what it used; None if the turn did not end."""

    @property
    def by(self) -> str:
        """The author: an agent, not a person."""
        return AGENT

    def redraft(self, text: bytes, change: str) -> bytes:
        """Return the first text that `judge` accepts; raise the last refusal after 3 tries."""
        run = new_id()
        kind = program_of(self.options, "plan").kind
        environment.keep(self.home.runs / run, self.environ, {kind})
        context = [("prompt", change), ("plan", Source(text).text), ("done", "\n".join(sorted(self.done)))]
        with self._workspace(run) as (workspace, base):
            refusal: tuple[str, str] | None = None
            for number in range(1, TRIES + 1):
                more = [] if refusal is None else [refusal]
                ended = self._ended(self._brief(run, number, workspace, (*context, *more)))
                if ended.ring == "none":
                    need_unchanged(self.repository, workspace, base)
                new = encode(ended.says.strip() + "\n")
                try:
                    _need_title(ended.says)
                    self.judge(new)
                except AsbuiltError as error:
                    if number == TRIES:
                        raise
                    refusal = ("refusal", f"{error.what}\n{error.why}\n{error.next_step}")
                else:
                    return new
        raise AssertionError(run)

    @contextmanager
    def _workspace(self, run: str) -> Iterator[tuple[Workspace, str]]:
        base = resolve(self.repository, "HEAD")
        if base is None:
            first = committing(first_commit(self.repository.root), self.repository.common)
            raise GateStopped(
                "nothing is committed here yet",
                why="An agent plans in a checkout of the last commit.",
                next_step=f"{first}, or write the text yourself.",
            )
        made = workspaces.make(self.repository, self.home.workspaces / self.repo, run, _NAME, base)
        try:
            yield made, base
        finally:
            # If the removal fails, `clean` reports it later.
            with suppress(NotLanded, GitFailed):
                workspaces.remove(self.repository, made)

    def _brief(
        self, run: str, number: int, workspace: Workspace, context: tuple[tuple[str, str], ...]
    ) -> Brief:
        program, script = program_of(self.options, "plan"), self.options.script
        return Brief(
            attempt=f"{run}.{_NAME}.{number}",
            role="plan",
            agent=self.options.agent_of("plan"),
            program=program,
            workspace=workspace.path,
            writable=False,
            phase=_NAME,
            title="Refine the plan",
            ask=_ASK,
            told=context,
            script=Path(script) if script else None,
            ring_required=self.options.requires_sandbox,
            opened=opened(self.options),
            environment=environment.kept_for(self.home.runs / run, program.kind),
        )

    def _ended(self, brief: Brief) -> Result:
        """Wait for the agent; cancel it if the wait is interrupted."""
        self.attempts.start(brief)
        result = None
        try:
            while result is None:
                self.attempts.heartbeat(brief.attempt)
                is_there = self.attempts.alive(brief.attempt)
                result = self.attempts.result(brief.attempt)
                if result is None and not is_there:
                    break
                time.sleep(0 if result else _LOOK_S)
        finally:
            if result is None:
                self.attempts.cancel(brief.attempt)
            self.write_down(brief, result)
        if result is None or result.ending != "done":
            raise GateStopped(
                f"{brief.agent} wrote no text: {result.reason if result else 'its host is gone'}",
                why="The plan has not changed.",
                next_step=f'`asbuilt plan refine {self.options.slug} -m "what changes"` tries again.',
            )
        return result


def _need_title(text: str) -> None:
    if not text.lstrip().startswith(("# ", "---\n")):
        raise GateStopped(
            "the new text does not begin with its title",
            why="Text before the title would become part of the plan.",
            next_step="Submit the document and nothing else, not inside a code block.",
        )
