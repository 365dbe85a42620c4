"""What one seed makes: plans, requests, agents, people and faults. Pure: a seed tells one story."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, NamedTuple

from tests.simulator.authored import FIRST, chosen

BRANCH: Final = "main"
REPO: Final = "shop"


class Act(NamedTuple):
    """What a person does, and when: at a time, or at a point of asbuilt's own processes."""

    at_s: float
    kind: str
    plan: int
    point: int = 0


class Fault(NamedTuple):
    """What goes wrong, and where."""

    point: int
    """Of asbuilt's own processes; for `kill_between` the step that has acted and is not recorded yet."""
    kind: str
    lasts_s: float


class Manner(NamedTuple):
    """How an agent behaves in one start of one attempt."""

    kind: str
    lasts_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A plan, and how it is run."""

    slug: str
    text: bytes
    phases: tuple[str, ...]
    tracked: str
    """clean, dirty or untracked: what git thinks of the plan's file; absent: it is to be written."""
    options: dict[str, Any]

    @property
    def path(self) -> str:
        return f"{self.slug}.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Everything that is not decided by asbuilt."""

    seed: int
    scripts: tuple[Script, ...]
    acts: tuple[Act, ...]
    faults: tuple[Fault, ...]
    ring: str
    is_fleet: bool
    """Two workers share the database; else there is one at a time, and the lock of its folder proves it."""
    is_calm: bool
    """People only answer what they are asked, so that the end does not hang on when they act."""

    def clash(self, attempt: str) -> str:
        """Tell how an agent's work meets that of the phases beside it: well, in a conflict, or red."""
        return Random(f"{self.seed}/clash/{attempt}").choices(("", "conflict", "red"), (4, 3, 3))[0]

    def manner(self, attempt: str, role: str, start: int) -> Manner:
        """Tell how an agent behaves, by the attempt's own name: no fault changes how anybody else does."""
        chance = Random(f"{self.seed}/{attempt}/{role}")
        table = _JUDGE if role == "verify" else _FIX if role == "fix" else _WORK
        kinds, weights = [*table], [*table.values()]
        kind = chance.choices(kinds, weights)[0]
        lasts_s = chance.uniform(5, 400)
        if kind in ("limited", "overload", "auth") and start > 1:
            kind = chance.choices(kinds[:2], (9, 1))[0]
        return Manner(kind, lasts_s)

    def is_eager(self, key: str) -> bool:
        """Tell whether somebody answers a question the moment that it is asked."""
        return Random(f"{self.seed}/eager/{key}").random() < 0.4

    def haste(self, key: str) -> int:
        """Tell how many points pass before who is eager has answered."""
        return Random(f"{self.seed}/haste/{key}").randrange(16)

    def answer(self, key: str) -> str:
        """Tell what a person says to a question, whenever they are asked and however often agents start."""
        parts = key.split("/")
        asked = "/".join(parts[:-1]) if parts[1:2] == ["refusal"] else key
        return "yes" if Random(f"{self.seed}/{asked}").random() < 0.88 else "no"


def story(seed: int) -> Story:
    """Make the story of a seed: of runs, or of an authoring."""
    return _story(seed) if seed < FIRST else _authored(seed)


def _authored(seed: int) -> Story:
    """Let somebody author a plan, amid what befalls a run, and others stop it and go on with it."""
    told, chance = _story(seed), Random(f"{seed}/authored")
    options = told.scripts[0].options | {
        "kind": "author", "mode": "author", "auto": False, "authoring": chosen(chance), "tests": None,
    }  # fmt: skip
    script = replace(told.scripts[0], tracked="absent", options=options)
    acts = [Act(5.0, "run", 0)]
    for _ in range(chance.choice((0, 1, 2))):
        at_s = chance.uniform(20, 900)
        acts += [Act(at_s, "stop", 0), Act(at_s + chance.uniform(30, 300), "continue", 0)]
    acts += [
        _act(chance, 1)._replace(kind=chance.choice(_AROUND)) for _ in range(chance.choice((0, 0, 1, 3)))
    ]
    return replace(told, scripts=(script,), acts=tuple(sorted(acts)), is_calm=False)


def _story(seed: int) -> Story:
    chance = Random(seed)
    is_calm = chance.random() < 0.18
    tests = chance.choices(("run-tests", "", None), (85, 8, 7))[0]
    scripts = tuple(_script(chance, slug, tests) for slug in ("red", "blue")[: 1 + (chance.random() < 0.15)])
    # Of its own chance, so that the stories of runs without lanes stay as they are.
    beside = Random(f"{seed}/beside")
    if beside.random() < 0.15:
        scripts = (_beside(beside, scripts[0]), *scripts[1:])
    # Few times, because commits are named by them, and a plan by its commits.
    acts = [Act(chance.choice((5.0, 60.0)), "run", plan) for plan in range(len(scripts))]
    is_fleet = chance.random() < 0.2
    if not is_calm:
        acts += [_act(chance, len(scripts)) for _ in range(chance.choice((0, 1, 1, 2, 3, 5)))]
    faults = _faults(chance, is_fleet=is_fleet)
    ring = "none" if chance.random() < 0.05 else "bwrap"
    return Story(
        seed=seed,
        scripts=scripts,
        acts=tuple(sorted(acts)),
        faults=faults,
        ring=ring,
        is_fleet=is_fleet,
        # A yes to working without a ring is for the repository: which plan is asked first decides for both.
        is_calm=is_calm and (ring != "none" or len(scripts) == 1) and not _are_beside(scripts),
    )


def _are_beside(scripts: tuple[Script, ...]) -> bool:
    """Tell whether phases may run side by side: which of them is ready first hangs on every fault."""
    return any(script.options["lanes"] > 1 for script in scripts)


def _script(chance: Random, slug: str, tests: str | None) -> Script:
    many = chance.choices((1, 2, 3, 4, 5), (58, 26, 9, 4, 3))[0]
    names = tuple(str(number) for number in range(1, many + 1))
    # Few texts, because reading one takes longer than running it: a phase needs all before it, one, or none.
    reach = chance.choice((many, 1, 0))
    needs = {name: [*names[max(0, at - reach) : at]] for at, name in enumerate(names)}
    is_auto = chance.random() < 0.65
    options = {
        "kind": "run",
        "mode": "finish" if chance.random() < 0.7 else "phase",
        "phase": chance.choice(names) if chance.random() < 0.06 else None,
        "auto": is_auto,
        "hold": not is_auto or chance.random() < 0.1,
        "landing": "direct" if chance.random() < 0.35 else "cherry-pick",
        "tests": tests,
        "setup": "make-ready" if chance.random() < 0.1 else None,
        "sign": "never",
        "branch": BRANCH,
        "slug": slug,
        "host": "here",
        "agent": "scripted",
        "ring_required": True,
        "desktop": chance.random() < 0.2,
        "lanes": 1,
        "caps": {"usd": 1.5} if chance.random() < 0.1 else None,
    }
    return Script(
        slug=slug,
        text=_text(slug, needs),
        phases=names,
        tracked=chance.choices(("clean", "dirty", "untracked"), (60, 15, 25))[0],
        options=options,
    )


_SHAPES: Final[tuple[dict[str, list[str]], ...]] = (
    {"1": [], "2": []},
    {"1": [], "2": [], "3": []},
    {"1": [], "2": [], "3": ["1"], "4": ["1", "2"]},
    {"1": [], "2": ["1"], "3": ["1"], "4": ["2", "3"]},
)
"""What each phase needs, where phases run side by side."""


def _beside(chance: Random, script: Script) -> Script:
    """Let phases of a plan run side by side: none needs another one, or the last ones need the first."""
    needs = chance.choice(_SHAPES)
    options = script.options | {
        "mode": "finish", "phase": None, "auto": True, "hold": chance.random() < 0.1,
        "landing": "cherry-pick", "lanes": chance.choice((2, 2, 3)),
    }  # fmt: skip
    return replace(script, text=_text(script.slug, needs), phases=(*needs,), options=options)


def _text(slug: str, needs: dict[str, list[str]]) -> bytes:
    parts = [f"# {slug.title()}\n"]
    for name, others in needs.items():
        on = ", ".join(f"Phase {other}" for other in others) or "None"
        parts.append(
            f"## Phase {name} — Part {name}\n### Dependencies\n{on}.\n### Work Items\n"
            f"- [ ] make `{slug}-{name}`\n### Verification\n- `check {slug}-{name}`\n"
        )
    return "\n".join(parts).encode()


_ACTS: Final = {
    "stop": 12, "pause": 10, "go_on": 8, "answer": 8, "run": 10, "land": 8, "undo": 8, "verify": 4,
    "continue": 8, "break": 5, "edit": 8, "tick": 4, "commit": 8, "clash": 4, "merge": 3, "commit_plan": 4,
}  # fmt: skip


_AROUND: Final = ("stop", "pause", "go_on", "answer", "continue", "break", "commit")
"""What people do around an authoring."""


def _act(chance: Random, plans: int) -> Act:
    kind = chance.choices([*_ACTS], [*_ACTS.values()])[0]
    # What people do falls between two instructions only where it is aimed there.
    point = 1 + chance.randrange(500) if chance.random() < 0.5 else 0
    return Act(chance.expovariate(1 / 700), kind, chance.randrange(plans), point)


_FAULTS: Final = {
    "kill": 30, "kill_long": 8, "kill_between": 16, "engine_lost": 8, "store_down": 8, "store_before": 8,
    "store_after": 8,
    "disk_full": 8, "freeze": 12, "jump": 6, "host": 8, "given_up": 6, "unrecorded": 6,
}  # fmt: skip


def _faults(chance: Random, *, is_fleet: bool) -> tuple[Fault, ...]:
    many = chance.choices((0, 1, 2, 3, 5, 8), (12, 30, 24, 16, 12, 6))[0]
    reach = chance.choice((60, 200, 500))
    kinds = chance.choices([*_FAULTS], [*_FAULTS.values()], k=many)
    # A server whose clock jumps calls every worker lost; that is a fault of its own.
    kinds = [kind for kind in kinds if kind != "jump" or not is_fleet]
    return tuple(sorted(Fault(_point(chance, kind, reach), kind, _lasts(chance, kind)) for kind in kinds))


def _point(chance: Random, kind: str, reach: int) -> int:
    return 1 + chance.randrange(60 if kind == "kill_between" else reach)


def _lasts(chance: Random, kind: str) -> float:
    long = {
        "kill": 5.0,
        "kill_between": 5.0,
        "kill_long": 2_000.0,
        "store_down": 60.0,
        "disk_full": 60.0,
        "freeze": 400.0,
    }
    return chance.expovariate(1 / long.get(kind, 20_000.0))


_WORK: Final = {
    "right": 74, "wrong": 8, "breaks": 4, "nothing": 2, "stalled": 3, "crashed": 4, "timed_out": 1,
    "limited": 5, "overload": 2, "auth": 1, "refusal": 1, "large": 1, "meddles": 2,
}  # fmt: skip
_FIX: Final = {"right": 84, "wrong": 7, "crashed": 4, "limited": 5, "budget": 1}
_JUDGE: Final = {
    "pass": 84,
    "lie": 2,
    "fail": 5,
    "silent": 2,
    "crashed": 4,
    "limited": 4,
    "overload": 2,
    "auth": 1,
}
