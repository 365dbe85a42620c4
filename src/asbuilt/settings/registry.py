"""Everything that can be chosen: a closed list. Its one rule: a setting that no command reads says so."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | bool | int | tuple[str, ...]


class Kind(Enum):
    """What values a setting takes."""

    TEXT = "text"
    FOLDER = "folder"
    FLAG = "flag"
    CHOICE = "choice"
    GLOBS = "globs"
    NUMBER = "number"


class Setting(NamedTuple):
    """One thing that can be chosen."""

    key: str
    kind: Kind
    default: Value
    meaning: str
    stakes: str
    """What a guessed value could do; the Why of every error about this setting."""
    choices: tuple[str, ...] = ()
    repository_may_set: bool = False
    """A repository is text that others wrote: it never sets what protects the user."""
    tightens: bool = False
    """Its choices go from the strictest to the loosest, and a repository only makes it stricter."""
    read_by: str | None = None
    """The command that reads it; None while no command does."""

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "ASBUILT_" + self.key.upper().replace(".", "_")


def _boundary(name: str, default: str, meaning: str) -> Setting:
    return Setting(
        key=f"scope.{name}",
        kind=Kind.CHOICE,
        choices=("block", "sign-off", "note"),
        default=default,
        meaning=f"{meaning}, and its text does not order it",
        stakes="A change that acts beyond its phase could land unseen.",
        repository_may_set=True,
        tightens=True,
        read_by="run",
    )


SETTINGS: Final[Mapping[str, Setting]] = MappingProxyType(
    {
        setting.key: setting
        for setting in (
            Setting(
                key="plans.folder",
                kind=Kind.FOLDER,
                default="plans",
                meaning="where new plans are written, from the repository's root",
                stakes="Plans would be looked for and written where nobody expects them.",
                repository_may_set=True,
                read_by="plan",
            ),
            Setting(
                key="ui.patterns",
                kind=Kind.GLOBS,
                default=(),
                meaning="globs of files that a person looks at before their phase lands",
                stakes="A change that somebody should see could go unseen.",
                repository_may_set=True,
                read_by="plan",
            ),
            Setting(
                key="ui.pictures",
                kind=Kind.TEXT,
                default="",
                meaning="a command that leaves pictures of what people see in the folder $ASBUILT_PICTURES;"
                " empty: none",
                stakes="You would sign off what people see without having seen it.",
                repository_may_set=True,
                read_by="run",
            ),
            Setting(
                key="checks.tests",
                kind=Kind.TEXT,
                default="",
                meaning="the command that runs the tests; empty: detected, none: no tests",
                stakes="Another command than yours would decide what is proven.",
                repository_may_set=True,
                read_by="run",
            ),
            Setting(
                key="checks.setup",
                kind=Kind.TEXT,
                default="",
                meaning="the command that prepares a clean checkout; empty: detected, none: nothing to do",
                stakes="Checks would run on a checkout that is not ready.",
                repository_may_set=True,
                read_by="run",
            ),
            _boundary("outside", "sign-off", "a phase that states its files changes another"),
            _boundary("plan", "block", "an agent changes what the plan wants"),
            _boundary("ci", "sign-off", "a phase changes what the CI runs"),
            _boundary("hooks", "sign-off", "a phase changes hooks of git"),
            _boundary("git", "sign-off", "a phase changes `.gitattributes` or `.gitmodules`"),
            _boundary("agents", "sign-off", "a phase changes what agents are told: `.claude`, `AGENTS.md`"),
            _boundary("settings", "block", "a phase changes asbuilt's settings"),
            _boundary("locks", "sign-off", "a lock file changes without its manifest"),
            Setting(
                key="checks.probe",
                kind=Kind.FLAG,
                default=True,
                meaning="change new lines of Python one by one, for as long as the tests take, and tell which"
                " change no test notices",
                stakes="Nothing is decided by it; a guess would cost time, or keep what you want to know.",
                read_by="run",
            ),
            Setting(
                key="landing.mode",
                kind=Kind.CHOICE,
                choices=("cherry-pick", "pr", "direct"),
                default="cherry-pick",
                meaning="how proven commits reach the target branch",
                stakes="A guessed landing could move the wrong branch.",
                repository_may_set=True,
                read_by="run",
            ),
            Setting(
                key="landing.sign",
                kind=Kind.CHOICE,
                choices=("auto", "always", "never"),
                default="auto",
                meaning="whether landed commits are signed",
                stakes="Commits could land without the signature that somebody relies on.",
                read_by="run",
            ),
            Setting(
                key="ring.required",
                kind=Kind.FLAG,
                default=True,
                meaning="refuse to plan where the kernel cannot hold an agent",
                stakes="An agent could run without the protection you count on.",
                read_by="run",
            ),
            Setting(
                key="store.url",
                kind=Kind.TEXT,
                default="",
                meaning="a Postgres database for the journal; empty: a file of this user",
                stakes="What happens would be written down where nobody looks for it.",
                read_by="run",
            ),
            Setting(
                key="store.blobs",
                kind=Kind.TEXT,
                default="",
                meaning="a folder that all workers of one database share, for texts and outputs;"
                " empty: in the state folder",
                stakes="A worker that goes on for another would not find what was proven.",
                read_by="worker",
            ),
            Setting(
                key="agents.slots",
                kind=Kind.NUMBER,
                default=2,
                meaning="how many runs this machine's worker goes on with at once",
                stakes="More agents than the machine can bear would all be slow.",
                read_by="worker",
            ),
            Setting(
                key="agents.implement",
                kind=Kind.TEXT,
                default="",
                meaning="the agent that works when a run names none",
                stakes="Another agent than yours would write the code.",
                read_by="run",
            ),
            Setting(
                key="power.inhibit",
                kind=Kind.FLAG,
                default=True,
                meaning="keep the machine awake while an agent works",
                stakes="A machine could sleep through the night that you gave it.",
                read_by="worker",
            ),
            Setting(
                key="attention.desktop",
                kind=Kind.FLAG,
                default=True,
                meaning="a desktop notification when a run needs you, parks, fails or lands",
                stakes="A run could wait for you all night without a word.",
                read_by="run",
            ),
            Setting(
                key="attention.bell",
                kind=Kind.FLAG,
                default=True,
                meaning="the terminal's bell at the same moments, while you look on",
                stakes="A run could wait for you without a sound.",
                read_by="run",
            ),
            Setting(
                key="time.zone",
                kind=Kind.TEXT,
                default="",
                meaning="zone of the times shown and of schedules; empty: local",
                stakes="A schedule could fire at the wrong hour.",
                read_by="status",
            ),
        )
    }
)
