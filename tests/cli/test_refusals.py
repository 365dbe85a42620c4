"""Each refusal says what, why and what next, and what it says to type can be typed there."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.plans import RATE_LIMIT, put
from tests.cli.refusals import places, shown
from tests.cli.refused import Case, at_home, chosen, foreign, refused, typed
from tests.cli.refused_elsewhere import ELSEWHERE, OURS, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Callable

PLACES = places()


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda shop: (shop / name).write_text(text, encoding="utf-8")


def _detach(shop: Path) -> None:
    subprocess.run(["git", "switch", "-q", "--detach"], cwd=shop, check=True)  # noqa: S607


OFF = "\n### Design & Constraints\n\n- 5 + 5 ms\n"
LAST = "### Work Items\n\n- [ ] A table of limits"
DELEGATED = f"### Execution: delegate plans/x.md\n\n{LAST}"
SCRIPTED = {"ASBUILT_AGENTS_IMPLEMENT": "scripted"}
CASES = [
    Case("author/choices.py the options do not work: {}", "author"),
    Case("author/choices.py the options do not work: {}", "author x --staged --refine-iterations 5"),
    Case(
        "author/choices.py {} holds no principles: {}: found {}, needed {}",
        "author x",
        lambda shop: (shop / "ours.md").write_text("Be good.\n") and None,
        environ={"ASBUILT_AUTHOR_PRINCIPLES": "ours.md"},
    ),
    Case("init/command.py --import takes no agent and no --remove", "init --import --claude"),
    Case("plan/refine.py -m says what changes, and the agent writes it", "plan refine rate-limit x -m y"),
    Case(
        "author/choices.py --{} has its own stages, so {} cannot change them",
        "author x --light --phases draft",
    ),
    Case("author/command.py {} is taken", "author x --name rate-limit"),
    Case("author/command.py author {} takes no more words", "author status rate-limit"),
    Case("author/command.py --{} does not work in a conversation", "author x --here --light"),
    Case(
        "author/in_conversation.py this command does not run inside a Claude Code conversation",
        "author x --here",
    ),
    Case("session/commands.py loop needs a prompt or --end, inside a conversation", "session loop x"),
    Case('session/note.py "{}" cannot name a note', "session note add ../x y"),
    Case("session/note.py a note needs a text", "session note add x ''"),
    Case("session/note.py a note has at most {} characters", f"session note add x {'y' * 100_001}"),
    Case('session/note.py no note "{}"', "session note show none"),
    Case(
        "session/commands.py no plan here is open",
        "session load",
        lambda shop: (shop / "plans" / "rate-limit.md").unlink(),
    ),
    Case("session/start.py no agent is named", "session --plan"),
    Case("author/command.py --pr does not work in a conversation", "author --here --pr shout"),
    Case("session/start.py {} is not installed, or not on your PATH", "session -- no-such-agent"),
    Case("session/start.py --plan starts claude, not {}", "session --plan -- sh"),
    Case(
        "session/start.py --plan and --settings do not go together",
        "session --plan -- claude --settings x.json",
    ),
    Case("shell/addresses.py {} has not been run here", "log --attempts rate-limit.1.1.1"),
    Case("shell/addresses.py {} has not been run here", "status rate-limit.1"),
    Case("report.py nothing has run here", "report"),
    Case(
        "gate.py gate check takes a command, or --jsonl and lines on standard input",
        "gate check",
    ),
    Case("plan_mode.py no conversation is known as {}", "mode show --conversation 1-2"),
    Case("plan_mode.py no conversation is known in this folder", "mode show"),
    Case("init/command.py {} needs the name of an agent", "init --remove"),
    Case(
        "init/command.py {} cannot be read as JSON: {}",
        "init --claude",
        at_home(".claude/settings.json", "{ // mine\n}"),
    ),
    Case(
        "init/command.py {} knows another marketplace that is named asbuilt",
        "init --claude",
        at_home(".claude/settings.json", '{"extraKnownMarketplaces": {"asbuilt": {"source": {}}}}'),
    ),
    Case(
        "init/placing.py {} exists, and it was changed since asbuilt wrote it",
        "init --opencode",
        at_home(".config/opencode/commands/asbuilt-run.md", "somebody's own"),
    ),
    Case('selftest/lies.py no case has "{}" in its name', "selftest lies --only truth"),
    Case('selftest/lies.py no case has "{}" in its name', "selftest lies --kind cobol"),
    Case("selftest/corpus.py {} has no folder {}/", "selftest lies --corpus ."),
    Case("runs/inbox.py there is no question {} here", "approve yes 7"),
    Case("runs/inbox.py there is no question {} here", "approve show a7"),
    Case("runs/inbox.py there is no question {} here", "approve yes a7"),
    Case("settings/values.py {}{}{} is not {}", "config set landing.mode merge"),
    Case('config/set.py "{}" is a placeholder, not a value of {}', "config set checks.tests '<command>'"),
    Case('settings/values.py no setting "{}"{}', "config set no.thing x"),
    Case(
        "shell/settings_files.py {} is locked to {} by {}",
        "config set plans.folder docs",
        _write("../organisation.toml", 'locked = ["plans.folder"]\n[plans]\nfolder = "ours"\n'),
    ),
    Case(
        "settings/values.py {}{}{} is not {}",
        "config show",
        _write("asbuilt.toml", "[landing]\nmode = 'merge'\n"),
    ),
    Case(
        "settings/layers.py {}: a repository may not set {}",
        "config show",
        _write("asbuilt.toml", "[sandbox]\nrequired = false\n"),
    ),
    Case("settings/files.py {}: not TOML: {}", "config show", _write("asbuilt.toml", "nonsense\n")),
    Case(
        'settings/layers.py {}: no setting "{}"{}', "config show", _write("asbuilt.toml", "[no]\nthing = 1\n")
    ),
    Case(
        "settings/files.py {} cannot be read: {}",
        "config show",
        lambda shop: (shop / "asbuilt.toml").mkdir(),
    ),
    Case(
        "settings/files.py settings stand in both asbuilt.toml and {}{}",
        "config show",
        lambda shop: [_write("asbuilt.toml", "")(shop), _write("pyproject.toml", "[tool.asbuilt]\n")(shop)],
    ),
    Case(
        'settings/user_folders.py ASBUILT_HOME "{}" is not an absolute path',
        "status",
        environ={"ASBUILT_HOME": "here"},
    ),
    Case("doctor/command.py asbuilt doctor --fix has no --json", "doctor --fix sandbox --json"),
    Case("shell/options.py {} has no --json", "--json completion bash"),
    Case("shell/options.py --repo {}: no such folder", "status --repo nowhere"),
    Case("shell/addresses.py {} has not been run here", "land rate-limit"),
    Case("shell/addresses.py {} has not been run here", "log rate-limit.3"),
    Case('doctor/notify.py no notification channel "{}" is configured', "doctor notify slack"),
    Case("run_plan.py not understood: {}", "run-plan rate-limit finsh"),
    Case("stop.py stop takes the name of a plan, or --all", "stop"),
    Case("land.py {} takes the name of a plan", "land --undo"),
    Case("run/schedule.py --now needs --every", "run rate-limit --now"),
    Case("run/schedule.py --finish and --every exclude each other", "run rate-limit --finish --every '4h'"),
    Case("run/schedule.py {} does not go with --every", "run rate-limit 2a --every 4h"),
    Case('run/schedule.py "{}" is no schedule: {}', "run rate-limit --every sometimes"),
    Case('run/schedule.py "{}" is no span of hours', "run rate-limit --between night"),
    Case("plan/mark.py mark takes a phase and its status, or --complete", "plan mark rate-limit"),
    Case(
        "plan/mark.py mark takes a phase and its status, or --complete",
        "plan mark rate-limit 2a done --complete",
    ),
    Case(
        "plan/mark.py an item is done or pending, not {}",
        "plan mark rate-limit 2a blocked --item 1",
    ),
    Case('plan/new.py the title "{}" has an invisible character', "plan new 'a\u202eb'"),
    Case("plan/new.py no repository here", "plan new words", at=".."),
    Case(
        "plan/new.py {} is no template: a plan of 2 phases made from it reads as {}",
        "plan new words",
        _write("form.md", "# {title}\n\nOnly prose.\n"),
        {"ASBUILT_PLAN_TEMPLATE": "form.md"},
    ),
    Case(
        "ui/editor.py the editor {} cannot be started: {}",
        "plan open rate-limit",
        environ={"EDITOR": "no-such-editor"},
    ),
    Case("ui/editor.py EDITOR {} is no command", "plan open rate-limit", environ={"EDITOR": "'"}),
    Case("plan/show.py --verbatim needs --phase", "plan show rate-limit --verbatim"),
    Case('library/name_resolution.py no plan "{}". Did you mean {}?', "plan show rate-limt"),
    Case('library/name_resolution.py no plan "{}"', "plan show zzz"),
    Case('shell/addresses.py no plan "{}"', "status zzz"),
    Case(
        'library/name_resolution.py no plan "{}"',
        "plan show zzz",
        lambda shop: (shop / "plans/rate-limit.md").unlink(),
    ),
    Case(
        'library/name_resolution.py "{}" {} {} plans: {}',
        "plan show limit",
        _write("plans/limit-b.md", RATE_LIMIT),
    ),
    Case(
        "run/preconditions.py {} has {}: {}",
        "run rate-limit",
        _write("plans/rate-limit.md", RATE_LIMIT.replace("None.", "Phase 9.")),
        SCRIPTED,
    ),
    Case("runs/inbox.py {} is not the name of a question", "approve yes x"),
    Case("ui/editor.py {} is gone", "plan open rate-limit", environ={"EDITOR": "rm"}),
    Case(
        "worker/install.py {} exists, and asbuilt did not write it",
        "worker install",
        lambda shop: foreign(shop.parent / "home/.config/systemd/user/asbuilt-worker.service"),
    ),
    Case("run/follow.py no branch is checked out here", "run rate-limit", _detach, SCRIPTED),
    Case(
        "run/preconditions.py direct landing is refused here (landing.direct)",
        "run rate-limit --direct",
        environ={"ASBUILT_LANDING_DIRECT": "refuse"},
    ),
    Case(
        "run/preconditions.py phase {} of {} waits for phase {}",
        "run rate-limit 3 --agent claude",
        chosen('agents.claude.command = "/bin/true"\n'),
    ),
    Case(
        "run/preconditions.py phase {} of {} is delegated to {}",
        "run rate-limit 2b",
        _write(
            "plans/rate-limit.md", RATE_LIMIT.replace(LAST, f"### Execution: delegate make release\n\n{LAST}")
        ),
        SCRIPTED,
    ),
    Case(
        "run/preconditions.py phase {} of {} is delegated to a plan, which lands when its run ends",
        "run rate-limit 2b --hold --agent claude",
        lambda shop: [
            chosen('agents.claude.command = "/bin/true"\n')(shop),
            _write("plans/rate-limit.md", RATE_LIMIT.replace(LAST, DELEGATED))(shop),
        ],
    ),
    Case(
        "run/preconditions.py phase {} of {} wants to land directly, and this run lands by {}",
        "run rate-limit 2b",
        _write("plans/rate-limit.md", RATE_LIMIT.replace(LAST, f"### Execution: direct\n\n{LAST}")),
    ),
    Case(
        "run/start_confirmation.py phase {} of {} contradicts itself: {}",
        "run rate-limit 2a --auto --script script.toml",
        _write("plans/rate-limit.md", RATE_LIMIT.replace("per request\n", f"per request\n{OFF}")),
        SCRIPTED,
    ),
    Case("agents/roster.py no agent is installed here", "run rate-limit"),
    Case(
        'agents/roster.py agent {} is not installed: no program "{}" on PATH', "run rate-limit --agent claude"
    ),
    Case('agents/roster.py no agent of kind "{}"{}', "run rate-limit --agent claud"),
    Case(
        "agents/roster.py the command of an agent cannot be read: {}: {}",
        "run rate-limit --agent claude",
        chosen('agents.claude.command = "\'"\n'),
    ),
    Case(
        'agents/roster.py agents.min_model "{}" is not a model whose size is known',
        "run rate-limit --agent claude",
        chosen('agents.claude.command = "/bin/true"\nagents.min_model = "large"\n'),
    ),
    Case(
        "agents/roster.py {} would {} with {}, and agents.min_model is {}",
        "run rate-limit --agent claude",
        chosen('agents.claude.command = "/bin/true"\nagents.min_model = "opus"\n'),
    ),
    Case("run/command.py a note of {} characters cannot be stored; it has 1 to {}", "run rate-limit -m ''"),
    Case("log/command.py asbuilt log needs the name of a plan", "log"),
    Case("board.py nothing has run on this machine", "board"),
    Case("fleet.py a fleet needs the address of a Postgres database", "fleet join here"),
    Case("fleet.py this machine is in no fleet", "fleet workers"),
    Case("memory.py a memory has 1 to {} characters, and this one has {}", "memory add ''"),
    Case('memory.py no memory "{}"', "memory show m7"),
    Case("task/tracking.py a description has 1 to {} characters, and this one has {}", "task add ''"),
    Case("task/tracking.py there is no {} and no {} here", "task import"),
    Case('task/tracking.py "{}" is no status of a task', "task status 1 done"),
    Case("task/tracking.py no task is named", "task status planned"),
    Case(
        "task/plan_and_research.py --from is for one task, not for {}",
        "task plan 1 2 --from plans/rate-limit.md",
    ),
    Case("runs/run_terms.py the scripted agent needs a script", "run rate-limit", environ=SCRIPTED),
]


@pytest.fixture
def ready(shop: Path, environ: dict[str, str]) -> Path:
    """A repository with one plan, committed."""
    put(shop, rate_limit=RATE_LIMIT)
    _write("script.toml", "")(shop)
    for arguments in (["add", "."], ["-c", "user.name=A", "-c", "user.email=a@x.org", "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=shop, check=True, env=environ)  # noqa: S607
    return shop


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.typed)
def test_a_refusal_says_three_things_and_its_commands_work_where_it_is_said(
    case: Case, ready: Path, environ: dict[str, str]
) -> None:
    told = refused(case, ready, environ)
    assert case.meets in {place.name for place in PLACES if place.said(told.texts[0])}
    assert all(told.texts), told
    for command in told.commands:
        assert typed(command, ready / case.at, {**environ, **case.environ}) == ""


def test_every_refusal_of_a_command_has_a_case_or_a_reason() -> None:
    met = {case.meets for case in CASES} | ELSEWHERE.keys() | WITHOUT.keys()
    enforced = {place.name for place in PLACES if place.file.startswith(OURS) and shown(place.what) != "{}"}
    assert (sorted(enforced - met), sorted(met - enforced)) == ([], [])


@pytest.mark.parametrize(("name", "file"), ELSEWHERE.items())
def test_a_case_that_is_elsewhere_is_there(name: str, file: str) -> None:
    text = (Path(__file__).parent.parent / file).read_text(encoding="utf-8")
    words = max(name.partition(" ")[2].split("{}"), key=len).strip(' ".:')
    assert " ".join(words.split()) in " ".join(text.split())
