"""`asbuilt author`: turn a prompt into a plan that the user approves. The worker does the authoring."""

from __future__ import annotations

from functools import partial
from itertools import chain, count
from typing import Any, Final

import click
from msgspec import UNSET, structs

from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.commands.approve.reviewers import put_to_reviewers
from asbuilt.cli.commands.author import choices
from asbuilt.cli.commands.author import in_conversation as author_here
from asbuilt.cli.commands.plan.new import plans_folder, template_text
from asbuilt.cli.commands.run.follow import ask_for, target_of
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.next_step import Next
from asbuilt.cli.runs.run_terms import with_team
from asbuilt.cli.runs.test_command import explain_setup, is_settled, is_setup_broken, settle
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.run_context import Site, asker, open_site
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import talk
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, PARKED, GateStopped, UsageWrong
from asbuilt.events.options import LENGTHS, Authoring, RunOptions, one_of
from asbuilt.flows.requests import Declined, request
from asbuilt.git.forge.github import open_forge
from asbuilt.journal import memory, runs
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries import plan_names
from asbuilt.journal.runs import Run
from asbuilt.library.search_path import describe
from asbuilt.lifecycle.authoring.modes import MODES, Mode, name_for, trivial_file
from asbuilt.plan.editing.template import TEMPLATE as PLAN_TEMPLATE
from asbuilt.plan.editing.template import sections_of
from asbuilt.plan.markdown.sections import SECTIONS
from asbuilt.plan.names import slug_of_name
from asbuilt.settings.running import chosen_for_runs

_ALONE: Final = {"next": author_here.go_on, "status": author_here.show, "cancel": author_here.cancel}
"""Prompts that are subcommands if they are the only word."""
_LONGER: Final = {"light": "--staged for the long way", "standard": "--light is shorter"}


@subcommand(
    "author",
    ('asbuilt author "add rate limiting to the public API"', "ends in your approval"),
    ('asbuilt author "move sessions to Redis" --staged', "eight validated stages, with a critic"),
    ('asbuilt author "a settings page" --interview', "questions first, three at a time"),
    ('asbuilt author "drop Python 3.10" --name py311', "as plans/py311.md"),
    ('asbuilt author "a public API" --pr', "the draft is a pull request; its reviewers approve it"),
)
@click.argument("prompt", nargs=-1)
@choices.choosable
@click.option("--foreground", is_flag=True, help="work in this process, without a worker")
@click.option("--here", is_flag=True, help="in the conversation of Claude Code around this command")
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

    `status` alone shows the stage of the plan that is being authored here, and `cancel` ends it. In a
    conversation (/asbuilt:author) `next` alone prints what is due.
    """
    words, wish = " ".join(prompt), choices.Wish(**given)
    if not here:
        _need_alone(prompt)
    if here or words in _ALONE:
        return _here(door, words, wish)
    site = open_site(door)
    if principles:
        text = choices.principles_text(site.desk.settings, site.repository.root)
        if not door.emitted("asbuilt.principles/1", {"text": text}):
            door.screen.answer_all(map(printable, text.splitlines()))
        return DONE
    if clear_memory:
        _forget(door, site)
        if not words:
            return DONE
    settings = site.desk.settings
    mode = choices.mode_of(words, wish, choices.preferred(words, settings))
    if not wish.mode and not _is_needed(door, words, settings.text("author.profile")):
        return DONE
    if wish.by_pull:
        # Fail before an agent works if no pull request can be opened.
        open_forge(site.repository, door.environ)
    address, slug, options = _wanted(door, site, words, mode, wish)
    _announce(door, mode, options)
    settle_tests = partial(_settle_tests, door, site, address)
    code = ask_for(door, site, address, slug, options, is_here=foreground, before_next=settle_tests)
    if not wish.by_pull or code != PARKED:
        return code
    return put_to_reviewers(door, site, address, is_here=foreground)


def _need_alone(prompt: tuple[str, ...]) -> None:
    if len(prompt) > 1 and prompt[0] in _ALONE:
        raise UsageWrong(
            f"author {prompt[0]} takes no more words",
            why="It applies to the plan that is being authored in this checkout. No agent was started.",
            next_step=f"`asbuilt author {prompt[0]}`; a request of several words goes into quotes.",
        )


def _settle_tests(door: Door, site: Site, address: Address) -> Next | None:
    """Ask for the test command once the first plan is written; return a next command if a setup failed."""
    is_written = (site.repository.root / address.plan).is_file()
    is_due = is_written and door.is_attended and not is_settled(site.desk)
    if not is_due:
        return None
    door.screen.talk("Before the first run: finding the command that runs the tests. Ctrl-C skips it.")
    try:
        seen = settle(door, site.desk, plan=address.plan).seen
    except KeyboardInterrupt:
        door.screen.err.line()
        return None
    if not seen:
        door.screen.talk("None found; only the plan's checks will run.")
    return explain_setup(door, seen) if is_setup_broken(seen) else None


def _is_needed(door: Door, words: str, profile: str) -> bool:
    """Return whether to author a plan. For a trivial change the user decides; a script continues."""
    file = trivial_file(words, profile)
    if file is None:
        return True
    hint = f"This looks like a small change of {file}, which an agent can make without a plan."
    door.screen.talk(printable(hint))
    return not door.may_ask or agreed(door, "Author a plan anyway?")


def _wanted(
    door: Door, site: Site, words: str, mode: Mode, wish: choices.Wish
) -> tuple[Address, str, RunOptions]:
    """Return the plan's address, its slug, and the frozen options of its authoring. Nothing is started."""
    settings, root = site.desk.settings, site.repository.root
    template = template_text(settings, root)
    is_own = template != PLAN_TEMPLATE
    session = choices.session_of(words, mode, wish, sections_of(template) if is_own else SECTIONS)
    _need_room(site)
    authoring = structs.replace(
        choices.authoring_options(mode, session, wish, settings),
        principles=choices.principles_text(settings, root),
        template=template if is_own else UNSET,
    )
    before = _ended_before(site, authoring, wish.name)
    path, slug = (before.plan, before.options.slug) if before else _named(site, words, wish.name)
    if before is not None:
        message = f"Continues {slug}.{before.number}; its accepted outputs and your answers are reused."
        door.screen.talk(printable(f"{message} (another --name starts again)"))
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


def _here(door: Door, words: str, wish: choices.Wish) -> int:
    """Start or continue an authoring in the conversation; a worker starts its critics."""
    if words in _ALONE:
        return _ALONE[words](door)
    if not words:
        return _typed(door)
    if wish.by_pull:
        raise UsageWrong(
            "--pr does not work in a conversation",
            why="The user of the conversation approves its draft.",
            next_step="`asbuilt approve pr a1` opens a pull request for a draft that waits.",
        )
    mode = choices.mode_of(words, wish, MODES["staged"])
    if mode.name not in ("staged", "interview"):
        raise UsageWrong(
            f"--{mode.name} does not work in a conversation",
            why="A conversation authors in stages, or as an interview.",
            next_step=f"Leave --{mode.name} out, or type the command at a terminal.",
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


def _options(door: Door, site: Site, slug: str, wish: choices.Wish) -> RunOptions:
    settings, branch = site.desk.settings, target_of(site.repository.root)
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
        sandbox_required=chosen.sandbox_required,
        sandbox=chosen.sandbox,
        services=chosen.services,
        env=chosen.env,
        credentials=chosen.credentials,
        desktop=chosen.desktop,
        approvers=tuple(settings.globs("approvals.plan")),
        caps=chosen.caps,
    )
    return with_team(options, settings, door.environ, agent=wish.agent, script=wish.script, model=wish.model)


def _forget(door: Door, site: Site) -> None:
    with site.journal.store.write() as session:
        known = memory.every(session, LOCAL, site.repo)
        memory.forget(session, LOCAL, site.repo, [lesson.number for lesson in known])
    what = counted(len(known), "memory", "memories")
    door.screen.talk(f"Deleted {what}." if known else "No memories of this repository.")


def _need_room(site: Site) -> None:
    run = author_here.authored_in(site)
    if run is not None:
        slug = run.options.slug
        raise GateStopped(
            f"a plan is being authored here already: {slug}",
            why="A checkout has one authoring at a time; `asbuilt author cancel` ends it.",
            next_step=f"`{author_here.following(site, run).command}`",
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
    for wanted in names:
        file = folder / f"{wanted}.md"
        path = describe(site.desk.library, file).shown
        with site.journal.store.read() as session:
            known = plan_names.called(session, LOCAL, site.repo, path=path, slug=wanted)
        if not file.exists() and not known:
            return path, wanted
    raise UsageWrong(
        f"{slug} is taken",
        why="asbuilt overwrites no plan, and every plan has its own journal.",
        next_step=f'`asbuilt author "what you want" --name {slug}-2`, or leave --name out.',
    )


def _announce(door: Door, mode: Mode, options: RunOptions) -> None:
    longer = _LONGER.get(mode.name)
    way = f"{mode.name.capitalize()}: {mode.gist}." + (f" ({longer})" if longer else "")
    sandbox = probe().for_work
    held = f"gate on, {'no sandbox' if sandbox == 'none' else f'{sandbox} sandbox on'}"
    planner, critic = (options.agent_of(role) for role in ("plan", "critique"))
    who = f"{planner} plans read-only: {held}."
    if mode.name == "staged":
        who += f" {critic} criticises{', in another process' if critic == planner else ''}."
    for text in (way, who):
        talk(door, "", printable(text))
