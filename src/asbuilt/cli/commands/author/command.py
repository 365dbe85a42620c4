"""`asbuilt author`: turn a prompt into a plan that the user approves. The worker does the authoring."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import structs

from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.commands.approve.reviewers import put_to_reviewers
from asbuilt.cli.commands.author import here as author_here
from asbuilt.cli.commands.author.choices import Wish, choosable
from asbuilt.cli.commands.plan.new import plans_folder
from asbuilt.cli.commands.run import ask_for, target_of
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.terms import with_team
from asbuilt.cli.runs.test_command import is_settled, settle
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, open_site
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, WAITS_FOR_APPROVAL, GateStopped, SettingInvalid, UsageWrong
from asbuilt.events.options import LENGTHS, RunOptions, one_of
from asbuilt.flows.requests import Declined, request
from asbuilt.git.forge.detect import open_forge
from asbuilt.git.repository import base_on
from asbuilt.journal import memory, runs
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries import plan_names
from asbuilt.library.reading import read_bytes
from asbuilt.library.shelves import describe
from asbuilt.lifecycle.authoring.modes import MODES, authoring_of, mode_for, name_for
from asbuilt.lifecycle.authoring.options import SKIPPABLE, choose
from asbuilt.lifecycle.authoring.session import Session, start
from asbuilt.lifecycle.critique.principles import TEMPLATE, read_principles
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.lifecycle.run.team import agent_of
from asbuilt.plan.markdown.sections import SECTIONS
from asbuilt.plan.names import slug_of_name
from asbuilt.settings.running import chosen_for_runs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from asbuilt.cli.shell.site import Site
    from asbuilt.events.options import Authoring
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.authoring.modes import Mode
    from asbuilt.settings import Settings

SETTING: Final = "author.principles"
_MOST: Final = 20_000
"""Largest principles file, in bytes; every critic reads all of it."""


_ALONE: Final = {"next": author_here.go_on, "status": author_here.show, "cancel": author_here.cancel}
"""Prompts that are subcommands if they are the only word."""
_LONGER: Final = {"light": "--staged for the long way", "standard": "--light is shorter"}


@click.command(
    "author",
    cls=Command,
    examples=[
        ('asbuilt author "add rate limiting to the public API"', "ends in your approval"),
        ('asbuilt author "move sessions to Redis" --staged', "every stage judged, with a critic"),
        ('asbuilt author "a settings page" --interview', "questions first, three at a time"),
        ('asbuilt author "drop Python 3.10" --name py311', "as plans/py311.md"),
        ('asbuilt author "a public API" --pr', "the draft is a pull request; its reviewers approve it"),
    ],
)
@click.argument("prompt", nargs=-1)
@choosable
@click.option("--foreground", is_flag=True, help="work in this process, without a worker")
@click.option("--here", is_flag=True, help="in the conversation of Claude Code around this command")
@shared(json=True)
def command(
    door: Door,
    prompt: tuple[str, ...],
    *,
    foreground: bool,
    here: bool,
    clear_memory: bool,
    principles: bool,
    **given: Any,  # noqa: ANN401 - click passes each option by its name
) -> int:
    """Turn what you want into a plan: agents read the code, asbuilt validates each draft, you approve it.

    Planning is read-only. The draft stays in the journal until you approve it.
    Without a terminal, questions and the approval wait in `asbuilt approve`.

    In a conversation (/asbuilt:author) `next` alone says what is due, `status` where it is, `cancel` ends it.
    """
    words, wish = " ".join(prompt), Wish(**given)
    if here or words in _ALONE:
        return _here(door, words, wish)
    site = open_site(door)
    if principles:
        return _show_principles(door, principles_text(site.desk.settings, site.repository.root))
    if clear_memory:
        _forget(door, site)
        if not words:
            return DONE
    mode = _mode(words, wish, mode_for(words, site.desk.settings.text("author.profile")))
    if wish.by_pull:
        # Fail before an agent works if no pull request can be opened.
        open_forge(site.repository, door.environ)
    address, slug, options = _wanted(door, site, words, mode, wish)
    _announce(door, mode, options)
    code = ask_for(door, site, address, slug, options, is_here=foreground)
    is_written = code == DONE and (site.repository.root / address.plan).is_file()
    is_due = is_written and door.may_ask and not door.json and not is_settled(site.desk)
    if is_due and settle(door, site.desk, plan=address.plan).seen:
        # Print the next command again: the output of `settle` has scrolled it away.
        next_command(door, f"asbuilt run {slug} --finish --auto")
    if not wish.by_pull or code != WAITS_FOR_APPROVAL:
        return code
    return put_to_reviewers(door, site, address, is_here=foreground)


def _wanted(door: Door, site: Site, words: str, mode: Mode, wish: Wish) -> tuple[Address, str, RunOptions]:
    """Return the plan's address, its slug, and the frozen options of its authoring. Nothing is started."""
    session = _session(words, mode, wish)
    _need_room(site)
    authoring = _authoring(mode, session, wish, principles_text(site.desk.settings, site.repository.root))
    before = _ended_before(site, authoring, wish.name)
    path, slug = (before.plan, before.options.slug) if before else _named(site, words, wish.name)
    if before is not None:
        said = f"Goes on with {slug}.{before.number}: what was accepted and answered there is kept."
        door.screen.talk(printable(f"{said} (another --name begins anew)"))
    options = structs.replace(
        _options(door, site, slug, wish),
        authoring=authoring,
        by_pull=wish.by_pull,
        continues=before.run if before else None,
    )
    return Address(LOCAL, site.repo, path), slug, options


def _typed(door: Door) -> int:
    """Run what the user typed after /asbuilt:author. The hook has stored the words."""
    context = click.get_current_context()
    line = author_here.typed(command, context, author_here.conversation_around(door))
    if line == ["--", "help"]:
        door.screen.answer(command.get_help(context))
        return DONE
    with command.make_context("author", ["--here", *(line or ["--", " "])], parent=context.parent) as again:
        done: int = command.invoke(again)
    return done


def _here(door: Door, words: str, wish: Wish) -> int:
    """Start or continue an authoring in the conversation; a worker starts its critics."""
    if words in _ALONE:
        return _ALONE[words](door)
    if not words:
        return _typed(door)
    if wish.by_pull:
        raise UsageWrong(
            "--pr does not go with a conversation",
            why="Its draft is put to the person who is there.",
            next_step="`asbuilt approve pr a1` puts a draft that waits to reviewers.",
        )
    mode = _mode(words, wish, MODES["staged"])
    if mode.stages is not None:
        raise UsageWrong(
            f"a conversation authors in stages, and --{mode.name} has others",
            why="Code judges every output, and another process criticises the plan.",
            next_step=f"Leave --{mode.name} out, or type it at a terminal.",
        )
    author_here.conversation_around(door)
    site = open_site(door)
    address, slug, options = _wanted(door, site, words, mode, wish)
    authoring = structs.replace(options.how_authored, in_conversation=True)
    options = structs.replace(options, authoring=authoring)
    journal = site.journal
    asked = request(journal.store, journal.home.runs, address, slug=slug, options=options, asker=asker(door))
    if isinstance(asked, Declined):
        return outcome.declined(door, slug, asked)
    return author_here.begin(door, site, asked)


def _options(door: Door, site: Site, slug: str, wish: Wish) -> RunOptions:
    """Build the options that an authoring shares with every run."""
    settings, branch = site.desk.settings, target_of(site.repository.root)
    base_on(site.repository, branch)
    chosen = chosen_for_runs(settings)
    options = RunOptions(
        kind="author",
        mode="author",
        checkout=str(site.repository.root),
        branch=branch,
        slug=slug,
        host=machine(),
        length=one_of(LENGTHS, wish.length or settings.text("plan.length")),
        setup=chosen.setup,
        ring_required=chosen.ring_required,
        sandbox=chosen.sandbox,
        services=chosen.services,
        env=chosen.env,
        credentials=chosen.credentials,
        desktop=chosen.desktop,
        approvers=tuple(settings.globs("approvals.plan")),
        caps=chosen.caps,
    )
    return with_team(options, settings, door.environ, agent=wish.agent, script=wish.script, model=wish.model)


def _authoring(mode: Mode, session: Session, wish: Wish, principles: str) -> Authoring:
    """Build the options of the authoring. Only the standard mode has several agents in parallel."""
    explorers, planners = (wish.explorers, wish.planners) if mode.name == "standard" else (1, 1)
    return authoring_of(
        mode, session, explorers=explorers, planners=planners, effort=wish.effort, principles=principles
    )


def _show_principles(door: Door, text: str) -> int:
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.principles/1", "text": text})
    else:
        for line in text.splitlines():
            door.screen.answer(printable(line))
    return DONE


def _forget(door: Door, site: Site) -> None:
    """Clear the memory of this repository, and print the count."""
    with site.journal.store.write() as session:
        known = memory.every(session, LOCAL, site.repo)
        memory.forget(session, LOCAL, site.repo, [one.number for one in known])
    what = counted(len(known), "memory", "memories")
    door.screen.talk(f"Forgotten: {what}." if known else "Nothing is remembered here.")


def _mode(prompt: str, wish: Wish, fitting: Mode) -> Mode:
    """Return the named mode. Options about stages select the staged mode."""
    chooses = wish.phases or wish.skip or wish.open_critique
    name = wish.mode or ("staged" if chooses else fitting.name)
    if chooses and name != "staged":
        raise UsageWrong(
            f"--{name} has its own stages",
            why="Stages that you choose would not be those that are done.",
            next_step=f'`asbuilt author "{prompt[:40]}" --staged`, or leave the choice of stages out.',
        )
    return MODES[name]


def _session(prompt: str, mode: Mode, wish: Wish) -> Session:
    """Create the session. Raise with every invalid option before an agent is started."""
    phases = None if wish.phases is None else _listed(wish.phases)
    options = choose(
        refine_iterations=wish.refine_iterations,
        phases=phases if mode.stages is None else [str(stage) for stage in mode.stages],
        skip=[one for one in wish.skip if one in SKIPPABLE],
        max_phases=wish.max_phases if mode.stages is None else len(mode.stages),
        critique_mode="open" if wish.open_critique else "principles",
        use_memory=not wish.no_memory,
        completion_promise=wish.completion_promise,
        attempt_limit=wish.attempts,
        required_sections=SECTIONS if wish.required_sections is None else _listed(wish.required_sections),
    )
    begun = start(prompt, options, started_at=datetime.now(UTC).isoformat())
    if isinstance(begun, Session):
        return begun
    raise _refused(begun)


def _refused(flaws: Iterable[Flaw]) -> UsageWrong:
    told = list(flaws)
    what = "; ".join(f"{one.what}: found {one.found}, needed {one.needed}" for one in told)
    return UsageWrong(
        f"nothing can be authored so: {what}",
        why="It is refused before any agent is called.",
        next_step=f"For example: {told[0].example}",
    )


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")]


def _need_room(site: Site) -> None:
    """Refuse a second authoring in one checkout: both would ask the same user about the same code."""
    here = str(site.repository.root)
    for run in site.open_runs():
        if run.options.kind == "author" and run.options.checkout == here:
            slug = run.options.slug
            raise GateStopped(
                f"a plan is being authored here already: {slug}",
                why="One authoring a checkout: two would plan past each other.",
                next_step=f"`asbuilt watch {slug}` looks on, `asbuilt stop {slug}` ends it; in a conversation"
                " `asbuilt author cancel` does.",
            )


def _ended_before(site: Site, authoring: Authoring, name: str | None) -> Run | None:
    """Return an authoring with the same prompt and options that ended here without a plan."""
    here = site.repository.root
    with site.journal.store.read() as session:
        newest = runs.unfinished(session, LOCAL, site.repo)
    return next(
        (
            run
            for run in newest
            if run.is_over
            and run.options.kind == "author"
            and run.options.checkout == str(here)
            and name in (None, run.options.slug)
            and _ways(run.options.how_authored) == _ways(authoring)
            and not (here / run.plan).exists()
        ),
        None,
    )


def _ways(authoring: Authoring) -> Authoring:
    """Return an authoring without its start time, for comparison."""
    return structs.replace(authoring, session=authoring.session | {"started_at": ""})


def _named(site: Site, prompt: str, name: str | None) -> tuple[str, str]:
    """Return a free path and slug for the plan: no file and no journal has them. Nothing is written yet."""
    folder = plans_folder(site.desk.library)
    slug = slug_of_name(name) if name else name_for(prompt)
    names = [slug] if name else chain([slug], (f"{slug}-{number}" for number in count(2)))
    for one in names:
        file = folder / f"{one}.md"
        path = describe(site.desk.library, file).shown
        with site.journal.store.read() as session:
            known = plan_names.called(session, LOCAL, site.repo, path=path, slug=one)
        if not file.exists() and not known:
            return path, one
    raise UsageWrong(
        f"{slug} is taken",
        why="Nothing is ever overwritten, and every plan keeps its own journal.",
        next_step="Choose another --name, or leave it out.",
    )


def _announce(door: Door, mode: Mode, options: RunOptions) -> None:
    """Print the mode, the agents and their confinement before anything starts."""
    longer = _LONGER.get(mode.name)
    way = f"{mode.name.capitalize()}: {mode.gist}." + (f" ({longer})" if longer else "")
    ring = probe().for_work
    held = f"gate on, {'no ring' if ring == 'none' else f'{ring} on'}"
    planner, critic = (agent_of(options, role) for role in ("plan", "critique"))
    who = f"{planner} plans read-only: {held}."
    if mode.name == "staged":
        who += f" {critic} criticises{', in another process' if critic == planner else ''}."
    for text in (way, who):
        for row in door.screen.err.hanging("", printable(text), commands=False):
            door.screen.talk(row)


def principles_text(settings: Settings, root: Path) -> str:
    """Return the principles that plans are judged by: the twelve built-in ones, or the user's file.

    Raise if the file holds no valid principles.
    """
    named = settings.text(SETTING)
    if not named:
        return TEMPLATE
    text = read_bytes(root / named, limit=_MOST, name=named).decode("utf-8", "replace")
    flaws = [one for one in read_principles(text) if isinstance(one, Flaw)]
    if flaws:
        first = flaws[0]
        raise SettingInvalid(
            f"{named} holds no principles: {first.what}: found {first.found}, needed {first.needed}",
            why=f"{SETTING} names it, and a critic would judge by something else than you meant.",
            next_step=f"For example: {first.example}",
        )
    return text
