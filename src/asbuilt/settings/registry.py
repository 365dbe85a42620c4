"""All settings: a closed list. Rule: a setting that no command reads has `read_by=None`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from asbuilt.settings.authoring import AUTHOR
from asbuilt.settings.landing import LANDING
from asbuilt.settings.notify import NOTIFY
from asbuilt.settings.sandbox import SANDBOX
from asbuilt.settings.services import SERVICES, VALUES
from asbuilt.settings.setting import Kind, Setting, Value


def _boundary(name: str, default: str, meaning: str) -> Setting:
    return Setting(
        key=f"scope.{name}",
        choices=("block", "sign-off", "note"),
        default=default,
        meaning=f"{meaning}, without an instruction in the phase's text",
        stakes="A change that acts beyond its phase could land unseen.",
        repository_may_set=True,
        tightens=True,
    )


def _role(name: str, meaning: str, *, by: str = "run") -> Setting:
    return Setting(
        key=f"roles.{name}",
        meaning=f"the agent that {meaning}",
        stakes="An agent that you did not choose would write or judge the code.",
        read_by=by,
    )


def _cap(name: str, default: float, most: int, unit: str) -> Setting:
    return Setting(
        key=f"limits.{name}",
        default=default,
        meaning=f"what a run may use before it asks, in {unit}; 0: no limit",
        stakes="A run could cost more than you meant to spend.",
        least=0,
        most=most,
    )


SETTINGS: Final[Mapping[str, Setting]] = MappingProxyType(
    {
        setting.key: setting
        for setting in (
            Setting(
                key="plans.folder",
                special=Kind.FOLDER,
                default="plans",
                meaning="where new plans are written, from the repository's root",
                stakes="Plans would be searched and written in another folder.",
                repository_may_set=True,
                read_by="plan",
            ),
            Setting(
                key="plan.length",
                choices=("control", "trim", "cut", "cap"),
                default="control",
                meaning="how long a plan may be; trim: a line of context and one command that verifies the"
                " whole, cut: no context, seldom over 40 lines, cap: never over 40 lines",
                stakes="A plan that is longer than people read is approved unread.",
                repository_may_set=True,
                read_by="plan",
            ),
            Setting(
                key="ui.patterns",
                default=(),
                meaning="globs of files whose changes a person views before their phase lands",
                stakes="A change that a person should see could land unseen.",
                repository_may_set=True,
                read_by="plan",
            ),
            Setting(
                key="ui.pictures",
                meaning="a command that leaves pictures of what people see in the folder $ASBUILT_PICTURES;"
                " empty: none",
                stakes="You would sign off what people see without having seen it.",
                repository_may_set=True,
            ),
            Setting(
                key="ui.tester",
                choices=("off", "page", "terminal"),
                default="off",
                meaning="how a tester tries a phase that changes what people see: a page in Chromium, served"
                " by `checks.services`, or a program in a terminal (tmux); off: no tester",
                stakes="A button that does nothing would land.",
                repository_may_set=True,
            ),
            Setting(
                key="checks.tests",
                meaning="the command that runs the tests; empty: detected, none: no tests",
                stakes="A command that you did not choose would decide what is proven.",
                repository_may_set=True,
            ),
            Setting(
                key="checks.suites",
                special=Kind.SUITES,
                default=(),
                meaning="the test suites of a project that has several, as tables: folder, command, and"
                " perhaps setup and counts (tests, or exit-code); empty: checks.tests",
                stakes="Commands that you did not choose would decide what is proven.",
                repository_may_set=True,
            ),
            Setting(
                key="checks.counts",
                choices=("tests", "exit-code"),
                default="tests",
                meaning="what checks.tests is judged by: the tests that it names, or its exit code alone,"
                " which proves less",
                stakes="A suite that ran nothing could pass.",
                repository_may_set=True,
            ),
            Setting(
                key="checks.setup",
                meaning="the command that prepares a clean checkout; empty: detected, none: nothing to do",
                stakes="Checks would run on a checkout that is not ready.",
                repository_may_set=True,
            ),
            Setting(
                key="checks.minutes",
                default=45,
                meaning="minutes that the setup, the tests or one check may take before they are ended",
                stakes="A command that hangs would delay a run for longer than you want to wait.",
                repository_may_set=True,
                most=1_440,
            ),
            *SERVICES,
            _boundary("outside", "sign-off", "a phase that states its files changes another"),
            _boundary("plan", "block", "an agent changes what the plan wants"),
            _boundary("ci", "sign-off", "a phase changes what the CI runs"),
            _boundary("hooks", "sign-off", "a phase changes hooks of git"),
            _boundary("git", "sign-off", "a phase changes `.gitattributes` or `.gitmodules`"),
            _boundary("agents", "sign-off", "a phase changes instructions of agents: `.claude`, `AGENTS.md`"),
            _boundary("editors", "sign-off", "a phase changes what an editor or a shell runs in a folder"),
            _boundary("tools", "sign-off", "a phase changes settings of package managers and build tools"),
            _boundary(
                "links", "sign-off", "a phase adds a link out of the tree, or a name that hides something"
            ),
            _boundary("settings", "block", "a phase changes asbuilt's settings"),
            _boundary("locks", "sign-off", "a lock file changes without its manifest"),
            _boundary("dependencies", "sign-off", "a phase adds a package or changes its version"),
            _boundary("suppressions", "sign-off", "a phase adds a comment that silences a linter"),
            _boundary("limits", "sign-off", "a phase loosens a linter, coverage or another limit"),
            _boundary("checked", "sign-off", "a phase changes what one of its own checks reads"),
            Setting(
                key="proof.depth",
                choices=("strict", "normal", "quick"),
                default="normal",
                meaning="how a phase is proven beside its suite, checks and canaries; strict: by every trial,"
                " normal: by those that fit into 1.5 times the suite's time (2.2 where tests change), by all"
                " where the suite takes up to 20 s, quick: by old tests that can run alone",
                stakes="Work could land with fewer trials than you meant.",
                repository_may_set=True,
                tightens=True,
            ),
            Setting(
                key="checks.probe",
                default=True,
                meaning="change new lines one by one, for as long as a suite of up to 20 s takes or"
                " 15 % of a longer one, and list the changes that no test notices",
                stakes="It decides nothing; it costs time, and without it untested lines are not listed.",
            ),
            *LANDING,
            *SANDBOX,
            Setting(
                key="planning.tools",
                default=(),
                meaning="tools of MCP servers that may be called in plan mode, because they only read:"
                " mcp__shop__stock, or mcp__shop__*",
                stakes="A tool that changes something would be called while you plan.",
                read_by="gate",
            ),
            *AUTHOR,
            Setting(
                key="approvals.plan",
                default=(),
                meaning="who may approve plans, by their user names: ada, or team-*; by review of a pull"
                " request github:LOGIN, or, by a pattern such as *, accounts that may write to the repository"
                "; empty: every user of the journal",
                stakes="Another person could approve what agents then build.",
                read_by="approve",
            ),
            Setting(
                key="store.url",
                meaning="a Postgres database for the journal; empty: a file of this user",
                stakes="The journal would be in another database than you expect.",
                private=True,
            ),
            Setting(
                key="store.blobs",
                meaning="where all workers of one database share outputs above 256 kB: a folder, or the URL"
                " of a bucket (s3://team/asbuilt); empty: in the database; without `store.url`, the folder of"
                " all texts and outputs",
                stakes="A worker that takes over a run would not find its evidence.",
                read_by="worker",
            ),
            Setting(
                key="fleet.labels",
                default=(),
                meaning="labels that a worker of the fleet must have to take your runs: gpu",
                stakes="Another machine than you meant would do the work.",
            ),
            Setting(
                key="fleet.mirrors_gb",
                default=20,
                meaning="gigabytes for mirrors of remotes on a worker of the fleet; those not used for the"
                " longest time are deleted when the worker starts",
                stakes="Mirrors could fill the disk, or be fetched again too often.",
                read_by="worker",
            ),
            Setting(
                key="fleet.attempts",
                meaning="the URL of a git repository for attempts of the fleet; empty: the remote itself",
                stakes="Work of agents would be pushed to another repository than you expect.",
            ),
            Setting(
                key="retention.days",
                default=30,
                meaning="days after a landing, or the end of a run, after which the worker deletes superseded"
                " attempts, workspaces and logs of agents; `asbuilt clean` shows them",
                stakes="Attempts and logs that you want to look at later would be gone.",
                read_by="worker",
                most=100_000,
            ),
            Setting(
                key="telemetry.endpoint",
                meaning="the address of an OpenTelemetry collector (http://127.0.0.1:4318) that gets a trace"
                " and counters of every run that ends, and the worker's load every 60 s; empty: none",
                stakes="Names of plans, phases and agents, times and costs would be sent to another place.",
                read_by="worker",
            ),
            Setting(
                key="agents.slots",
                default=2,
                meaning="number of runs, or lanes of runs, that this machine's worker performs at once",
                stakes="Too many agents slow each other down.",
                read_by="worker",
            ),
            Setting(
                key="run.lanes",
                default=2,
                most=64,
                meaning="number of phases of one unattended run that are worked on at once, one without a"
                " sandbox; `agents.slots` limits those of all runs",
                stakes="Phases that do not need each other would run side by side, and spend side by side.",
            ),
            Setting(
                key="agents.implement",
                meaning="the agent that works when a run names none",
                stakes="An agent that you did not choose would write the code.",
            ),
            Setting(
                key="agents.min_model",
                meaning="the weakest model that may be given work: haiku, sonnet, opus, or another"
                " vendor's of that size; empty: any",
                stakes="A weaker model than you trust would write or judge the code.",
            ),
            _role("implement", "works on a phase; empty: `agents.implement`, else one that is installed"),
            _role("fix", "fixes what was not proven; empty: the one that works"),
            _role("verify", "judges the work; empty: another one than works, where two are installed"),
            _role("test", "tries what people see (`ui.tester`); empty: as for verify"),
            _role("plan", "writes plans; empty: the one that works", by="author"),
            _role("critique", "criticises plans; empty: another one than works, where two are", by="author"),
            _cap("usd", 15.0, 100_000, "dollars, at API prices"),
            _cap("tokens", 0, 999_999_999, "tokens, read and written"),
            _cap("hours", 0, 10_000, "hours of work; waiting does not count"),
            Setting(
                key="power.inhibit",
                default=True,
                meaning="keep the machine awake while an agent works",
                stakes="The machine could suspend while a run works.",
                read_by="worker",
            ),
            Setting(
                key="attention.desktop",
                default=True,
                meaning="a desktop notification when a run needs you, parks, fails or lands",
                stakes="A run could wait for you without a notification.",
            ),
            Setting(
                key="attention.bell",
                default=True,
                meaning="the terminal's bell at the same moments, while you watch a run",
                stakes="A run could wait for you without a sound.",
            ),
            *NOTIFY,
            Setting(
                key="schedule.offset",
                default=3,
                least=0,
                most=59,
                meaning="minutes by which a schedule on the full hour is moved",
                stakes="Schedules would fire in the same minute as many others, and reach rate limits.",
            ),
            Setting(
                key="time.zone",
                meaning="zone of the times shown and of schedules; empty: local",
                stakes="A schedule could fire at the wrong hour.",
                read_by="status",
            ),
        )
    }
)


def _of_agent(field: str, default: Value, meaning: str, *, least: int = 0, most: int = 0) -> Setting:
    return Setting(
        key=f"agents.NAME.{field}",
        default=default,
        meaning=meaning,
        stakes="The repository's settings name another agent program. Repositories may not choose programs.",
        least=least,
        most=most,
    )


NAMED: Final[Mapping[str, Setting]] = MappingProxyType(
    {
        setting.key: setting
        for setting in (
            _of_agent("kind", "", "which kind of agent NAME is; empty: the kind of that name"),
            _of_agent("command", "", "how NAME is started; empty: its usual program, from your PATH"),
            _of_agent("model", "", "the model of NAME; empty: its own choice"),
            _of_agent("effort", "", "how hard NAME thinks, in its own words; empty: its own choice"),
            _of_agent("max_turns", 0, "turns of NAME in one attempt; 0: no limit", most=10_000),
            _of_agent(
                "budget_usd",
                0.0,
                "dollars, at API prices, that one attempt of NAME may use; 0: what is left of `limits.usd`",
                most=10_000,
            ),
            *VALUES,
        )
    }
)
"""Settings of each agent, `[agents.NAME]`, and of each variable. The environment cannot set them."""


def setting_for(key: str) -> Setting | None:
    """Find a setting by its key; the setting of a named agent or variable is made from its pattern."""
    if key in SETTINGS:
        return SETTINGS[key]
    section, _, rest = key.partition(".")
    name, _, field = rest.partition(".")
    pattern = NAMED.get(f"{section}.{name}.NAME") if field else None
    if pattern is not None:
        return pattern._replace(key=key) if field.replace("_", "").isalnum() and field.isascii() else None
    pattern = NAMED.get(f"{section}.NAME.{field}")
    is_free = f"{section}.{name}" not in SETTINGS and name.replace("-", "").replace("_", "").isalnum()
    return pattern._replace(key=key) if pattern is not None and is_free else None


def keys_near(key: str) -> list[str]:
    """Return the keys that may be meant by a key, with those of the agent that it names."""
    name = key.split(".")[1] if key.count(".") > 1 else "NAME"
    return [*SETTINGS, *(pattern.replace(".NAME.", f".{name}.") for pattern in NAMED)]
