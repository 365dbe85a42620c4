"""Critics of six characters. Each hands in text, as an agent would; what they mean is kept for the judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.lifecycle.critique.wording import LACKS, misnamed, pointed, worded

if TYPE_CHECKING:
    import random

    from tests.lifecycle.critique.drafts import Defect, Draft

CRITICS: Final = ("honest", "nitpicking", "contradictory", "looping", "lazy", "flattering")
_LEVELS: Final = ("note", "minor", "material", "blocking")
_NAMELESS: Final = 0.4


class Said(NamedTuple):
    """What a finding of a critic really is about."""

    name: str
    text: str
    level: str


class HandedIn(NamedTuple):
    """The text of a critique, and what its findings mean."""

    text: str
    said: list[Said]


class Known(NamedTuple):
    """What a critic has before it: the plan, what its open findings mean, and which phases it is shown."""

    draft: Draft
    number: int
    open: dict[str, list[Defect]]
    phases: frozenset[str]


class Critic:
    """Somebody who judges the same plan round by round."""

    def __init__(self, chance: random.Random, character: str) -> None:
        self.chance, self.character = chance, character
        self.texts: set[str] = set()
        self.nits = 0
        self.told: list[Defect] = []

    def judge(self, known: Known) -> HandedIn:
        """Hand in a critique of what is shown."""
        chance = self.chance
        if self.character == "lazy" and chance.random() < 0.2:
            return HandedIn("Looks good to me, P1 PASS, P2 PASS.", [])
        meant = self._meant(known)
        self.told += [defect for defect in meant if defect not in self.told]
        rows: dict[str, list[dict[str, Any]]] = {}
        said: list[Said] = []
        for defect in meant:
            row = self._row(known.draft, defect)
            rows.setdefault(defect.principle, []).append(row)
            said.append(Said(defect.name, row["text"], row["level"]))
        verdicts = [{"principle": one, "verdict": "FAIL", "findings": found} for one, found in rows.items()]
        verdicts += self._passes(known.draft, [one for one in LACKS if one not in rows])
        whole = {"verdicts": verdicts, "earlier": self._answers(known)}
        text = json.dumps(whole)
        return HandedIn(f"I have looked.\n\n```json\n{text}\n```\n" if chance.random() < 0.3 else text, said)

    def _meant(self, known: Known) -> list[Defect]:
        chance, draft = self.chance, known.draft
        real = [one for one in draft.defects if not one.name.startswith("n") and not one.is_mended]
        if known.number > 1:
            told = [one for meant in known.open.values() for one in meant]
            real = [one for one in real if one in told or draft.place(one.item)[1] in known.phases]
        match self.character:
            case "honest":
                return [one for one in real if chance.random() < 0.92]
            case "nitpicking":
                return [one for one in real if chance.random() < 0.8] + self._nits(draft)
            case "contradictory":
                again = [one for one in self.told if chance.random() < 0.3 and one not in real]
                return [one for one in real if chance.random() < 0.6] + again
            case "looping":
                return self.told + [one for one in real if one not in self.told]
            case "lazy":
                return real[: chance.randint(0, 1)]
            case _:
                return []

    def _nits(self, draft: Draft) -> list[Defect]:
        chance = self.chance
        made = []
        for item in chance.sample(draft.items(), min(len(draft.items()), chance.randint(2, 5))):
            self.nits += 1
            made.append(draft.spoil(item, f"n{self.nits}", chance.choice(_LEVELS)))
        return made + [one for one in self.told if one.name.startswith("n") and chance.random() < 0.3]

    def _row(self, draft: Draft, defect: Defect) -> dict[str, Any]:
        chance = self.chance
        line, phase = draft.place(defect.item)
        lines = draft.text().split("\n")
        pointing = pointed(chance, lines, line, phase)
        kind = misnamed(chance, defect.kind)
        level = chance.choice(_LEVELS[1:]) if chance.random() < 0.15 else defect.level
        text = ""
        while not text or text in self.texts:
            is_named = pointing.names_it or chance.random() > _NAMELESS
            text = worded(chance, defect.principle, kind, defect.item.subject if is_named else "item")
            if text in self.texts:
                text = f"{text} Round after round, {len(self.texts)}."
        self.texts.add(text)
        row = {"kind": kind, "level": level, "at": pointing.at, "text": text, "evidence": [{"line": line}]}
        if chance.random() < 0.3:
            row["check"] = f"python -m pytest tests/test_{defect.item.subject.split()[0]}.py"
        return row

    def _passes(self, draft: Draft, principles: list[str]) -> list[dict[str, Any]]:
        chance = self.chance
        if self.character == "lazy":
            principles = principles[: chance.randint(2, 7)]
        rows = []
        for principle in principles:
            line, _ = draft.place(chance.choice(draft.items()))
            evidence: list[dict[str, Any]] = [{"line": line}]
            if self.character == "flattering":
                evidence = [{"line": 5}] if chance.random() < 0.5 else []
            rows.append({"principle": principle, "verdict": "PASS", "evidence": evidence})
        return rows

    def _answers(self, known: Known) -> list[dict[str, Any]]:
        chance, draft = self.chance, known.draft
        rows: list[dict[str, Any]] = []
        for name, meant in known.open.items():
            line, _ = draft.place(meant[0].item)
            is_mended = all(one.is_mended for one in meant)
            match self.character:
                case "lazy" | "looping":
                    continue
                case "flattering":
                    is_mended, line = True, chance.choice((line, 5))
                case "contradictory":
                    is_mended = chance.random() < 0.5
                case _:
                    pass
            now = "resolved" if is_mended else "open"
            rows.append({"finding": name, "now": now, "evidence": [{"line": line}]})
        return rows
