"""Keys of the questions that runs ask users: one frozen class per kind of question.

A key is stored as text in journals and in the inbox. `str(key)` writes that text and `key_in` parses it; no
other code builds or splits it. Rule: a `form` never changes, because existing journals contain it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import ClassVar, Final, Literal, get_args

from msgspec import Struct, ValidationError
from msgspec.structs import asdict, fields, replace

from asbuilt.events.convert import convert

QuestionKind = Literal[
    "plan", "continue", "start", "tests", "ring", "sign-off", "waiver", "drift", "land", "agent", "cap",
    "question",
]  # fmt: skip
AskedCause = Literal["auth", "refusal"]
"""Why an agent stopped, if only a user can decide how the run continues."""


class QuestionKey(Struct, frozen=True, kw_only=True):
    """What a question is about, and the run that asks it."""

    form: ClassVar[str] = ""
    """The stored text, with the fields in braces."""
    run: str

    def __str__(self) -> str:
        """Return the stored text."""
        return self.form.format_map(asdict(self))


class LastingKey(QuestionKey, frozen=True, kw_only=True):
    """The answer holds in every run; the run that asked is the last part of the stored text."""

    run: str = ""

    @property
    def under(self) -> str:
        """Return the stored text without the run's id, ending with a slash."""
        return str(replace(self, run=""))

    def of(self, run: str) -> str:
        """Return the text under which this run asks."""
        return str(replace(self, run=run))


class WorkKey(LastingKey, frozen=True, kw_only=True):
    """About the work on one phase: void once that work landed, was dropped, or was replaced by other work."""


def is_lasting(key: str, run: str) -> bool:
    """Return whether the stored text of a question is that of a lasting key."""
    return key.endswith(f"/{run}")


def is_about_work(key: str) -> bool:
    """Return whether the stored text of a question is that of a key about the work on a phase."""
    return isinstance(key_in(key), WorkKey)


def is_repeated(earlier: str, newer: str) -> bool:
    """Return whether two stored texts are of one question whose answer lasts, asked by different runs."""
    was, now = key_in(earlier), key_in(newer)
    if not (isinstance(was, LastingKey) and isinstance(now, LastingKey)):
        return False
    return was.under == now.under and was.run != now.run


class PlanKey(LastingKey, frozen=True, kw_only=True):
    """Is this revision of a draft approved?"""

    form: ClassVar[str] = "plan/{intent}/{revision}/{run}"
    intent: str
    revision: int


class PlanAgainKey(PlanKey, frozen=True, kw_only=True):
    """What should change in this revision, which was declined without a reason?"""

    form: ClassVar[str] = "plan/{intent}/{revision}/again/{run}"


class TestsKey(LastingKey, frozen=True, kw_only=True):
    """Are these the tests of the project? `digest` is of what was proposed."""

    __test__: ClassVar[bool] = False
    form: ClassVar[str] = "tests/{digest}/{run}"
    digest: str


class SandboxKey(LastingKey, frozen=True, kw_only=True):
    """May agents and checks work here without a sandbox?"""

    form: ClassVar[str] = "ring/none/{run}"


class DiffersKey(WorkKey, frozen=True, kw_only=True):
    """Does this commit land, although the plan's text has changed since?"""

    form: ClassVar[str] = "differs/{commit}/{intent}/{run}"
    commit: str
    intent: str


class SignOffKey(WorkKey, frozen=True, kw_only=True):
    """May this change of a proven phase land?"""

    form: ClassVar[str] = "sign-off/{intent}/{change}/{run}"
    intent: str
    change: str

    @property
    def item(self) -> str:
        """Return the name in the event that requests the sign-off: the stored text without the run."""
        return self.under.removesuffix("/")


class WaiverKey(WorkKey, frozen=True, kw_only=True):
    """Is a phase accepted without this item?"""

    form: ClassVar[str] = "waiver/{intent}/{item}/{run}"
    intent: str
    item: int


class DriftKey(WorkKey, frozen=True, kw_only=True):
    """Is this number of the plan corrected to what was measured?"""

    form: ClassVar[str] = "drift/{intent}/{item}/{actual}/{run}"
    intent: str
    item: int
    actual: int


class AgentAsksKey(QuestionKey, frozen=True, kw_only=True):
    """A question of an agent that writes a plan, in a batch of several."""

    form: ClassVar[str] = "question/{run}/{batch}/{number}"
    batch: int
    number: int


class BetweenKey(QuestionKey, frozen=True, kw_only=True):
    """Does the run begin this phase?"""

    form: ClassVar[str] = "{run}/between/{phase}"
    phase: str


class KeepKey(QuestionKey, frozen=True, kw_only=True):
    """Should asbuilt try again to keep the files of this attempt?"""

    form: ClassVar[str] = "{run}/keep/{phase}/{attempt}/{refusals}"
    phase: str
    attempt: int
    refusals: int


class UnusableKey(QuestionKey, frozen=True, kw_only=True):
    """Should the checks of this attempt, which proved nothing, run again?"""

    form: ClassVar[str] = "{run}/unusable/{phase}/{attempt}/{times}"
    phase: str
    attempt: int
    times: int


class BaselineKey(QuestionKey, frozen=True, kw_only=True):
    """Does the run continue with tests that prove nothing on the base?"""

    form: ClassVar[str] = "{run}/baseline/{revision}"
    revision: int


class StoppedKey(QuestionKey, frozen=True, kw_only=True):
    """Should an agent continue that stopped for a reason only a user can resolve?"""

    form: ClassVar[str] = "{run}/{cause}/{where}/{attempt}/{start}"
    cause: AskedCause
    where: str
    attempt: str
    start: int


class CapKey(QuestionKey, frozen=True, kw_only=True):
    """May the run spend as much again?"""

    form: ClassVar[str] = "{run}/cap/{number}"
    number: int


class PullKey(QuestionKey, frozen=True, kw_only=True):
    """A question about the pull request of the run; a yes makes the run query the forge again."""

    number: int


class PullChecksKey(PullKey, frozen=True, kw_only=True):
    """Are the failing checks of the pull request fixed again?"""

    form: ClassVar[str] = "{run}/pull/ci/{number}"


class PullBlockedKey(PullKey, frozen=True, kw_only=True):
    """Does the run continue, now that what blocked the push is settled?"""

    form: ClassVar[str] = "{run}/pull/blocked/{number}"


Known = (
    PlanKey | PlanAgainKey | TestsKey | SandboxKey | DiffersKey | SignOffKey | WaiverKey | DriftKey
    | AgentAsksKey | BetweenKey | KeepKey | UnusableKey | BaselineKey | StoppedKey | CapKey
    | PullChecksKey | PullBlockedKey
)  # fmt: skip
KEYS: Final[tuple[type[QuestionKey], ...]] = get_args(Known)


def in_run(item: str, run: str) -> str:
    """Return the text under which a run asks for a sign-off, from the event's name for it."""
    return f"{item}/{run}"


@cache
def key_in(text: str) -> QuestionKey | None:
    """Parse the stored text of a key; None if this version has no question of that kind."""
    for kind in KEYS:
        found = _pattern(kind).fullmatch(text)
        if found is not None:
            try:
                key = convert(found.groupdict(), kind, strict=False)
            except ValidationError:
                continue
            # Reject "01" and the like: such numbers are never written.
            if str(key) == text:
                return key
    return None


@cache
def _pattern(kind: type[QuestionKey]) -> re.Pattern[str]:
    parts = {field.name: f"(?P<{field.name}>[^/]*)" for field in fields(kind)}
    return re.compile(kind.form.format_map(parts))
