"""Judge the output of a stage and return all its flaws at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.draft import flaws_of_plan
from asbuilt.lifecycle.authoring.validators.keywords import RECOMMENDATION, TRADE_OFFS, UNDERSTANDING
from asbuilt.lifecycle.authoring.validators.plan_headings import plan_headings
from asbuilt.lifecycle.authoring.validators.promise_tag import not_made, too_early, without_promises
from asbuilt.lifecycle.authoring.validators.prose import (
    Passage,
    blocks_seen,
    given_in,
    numbered_items,
    passages,
    seen,
    sentences,
)
from asbuilt.lifecycle.authoring.validators.references import Tree, files_described, phantoms, references_in
from asbuilt.lifecycle.authoring.validators.text_comparison import (
    alike,
    distinct,
    is_placeholder,
    meaningful,
    normal,
    occurrences,
    says_something,
    stems,
)
from asbuilt.lifecycle.authoring.validators.thresholds import DEMANDS, Demands
from asbuilt.lifecycle.critique.findings import EXAMPLE, PRINCIPLES, Critique, read_critique
from asbuilt.lifecycle.flaws import Flaw

if TYPE_CHECKING:
    from asbuilt.lifecycle.authoring.options import Options

_LABEL: Final = re.compile(
    r"\W{0,4}(?:option|approach|alternative|variant|solution|strategy|choice|variante|lösung|ansatz|approche"
    r"|opción|alternativa|opção|opzione|optie|方案|選択肢|选项|案|방안|옵션|대안)\s*#?(?:[A-Z]|\d{1,2}|[IVX]{1,4})"
    r"(?!\w)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LETTER: Final = re.compile(r"\W{0,4}[A-H][).:]\W{0,3}\s+(?P<rest>.*)", re.DOTALL)
_COLUMN: Final = re.compile(r"(?:option|approach|alternative|variant|solution)\w*:", re.IGNORECASE)
ANNOUNCING: Final = stems(("option", "approach", "alternative", "variant", "solution"))
_WEIGHING: Final = stems(TRADE_OFFS) | ANNOUNCING
_MOST: Final = 12
"""Maximum number of options; the rest is ignored."""
_LEAST: Final = 4
"""Minimum number of meaningful words; an option with fewer is only a name."""


class Setting(NamedTuple):
    """Inputs for judging an output."""

    options: Options
    prompt: str
    ask: str
    """Instruction that asbuilt gave the agent."""
    files: Collection[str]
    plan: str = ""
    is_final: bool = False
    wants_change: bool = False
    """The critique has findings: an unchanged plan is refused."""
    principles: Collection[str] = PRINCIPLES
    earlier: Collection[str] = ()
    """Ids of the findings that the critic was shown."""
    demands: Demands = DEMANDS


_LONGEST: Final = 200_000
_ITEM: Final = 2
"""Minimum number of meaningful words in an item."""


def judge(stage: Stage, output: str, setting: Setting) -> tuple[Flaw, ...]:
    """Return all flaws of an output; empty if it is accepted."""
    if not seen(output).strip():
        return (Flaw("output", "nothing", "the output of this stage", "the text that was asked for"),)
    if len(output) > _LONGEST:
        found, needed = f"{len(output):,} characters", f"at most {_LONGEST:,} characters"
        return (Flaw("output", found, needed, "what was found, not all that was read"),)
    demands = setting.demands
    own = passages(blocks_seen(output), given_in(setting.prompt, setting.ask))
    match stage:
        case Stage.UNDERSTAND:
            announcing = stems(UNDERSTANDING)
            return (*_unripe(output), *_items(own, demands, announcing), *_understanding(own, demands))
        case Stage.EXPLORE:
            return (*_unripe(output), *_explored(own, setting))
        case Stage.ALTERNATIVES:
            return (*_unripe(output), *_weighed(own, setting))
        case Stage.DRAFT:
            return (*too_early(output), *_plan(output, setting))
        case Stage.CRITIQUE:
            return (*too_early(output), *_critique(output, setting))
        case Stage.REVISE | Stage.ITERATE:
            value = setting.options.completion_promise
            promise = not_made(output, value) if setting.is_final else too_early(output)
            return (*promise, *_plan(without_promises(output), setting), *_unchanged(output, setting))
        case _:
            assert_never(stage)


def _unripe(output: str) -> tuple[Flaw, ...]:
    """Refuse parts of later stages: a plan's headings and the promise."""
    return (*plan_headings(output), *too_early(output))


def _items(own: Sequence[Passage], demands: Demands, announcing: Collection[str] = ()) -> Iterator[Flaw]:
    floor = demands.items.floor
    items = [item for item in numbered_items(own) if says_something(item, least=_ITEM, besides=announcing)]
    count = len(distinct(items, enough=floor))
    if count < floor:
        found = f"{_count(count, 'numbered item')} with words of your own"
        example = "1. Importers flood /v1 and carts time out."
        needed = f"at least {floor}, each with {_ITEM} or more meaningful words, none reworded from another"
        yield Flaw("numbered items", found, needed, example)


def _understanding(own: Sequence[Passage], demands: Demands) -> Iterator[Flaw]:
    floor = demands.understanding.floor
    count = _mentions(own, UNDERSTANDING, least=_ITEM, enough=floor)
    if count < floor:
        words = ", ".join(UNDERSTANDING[:8])
        found = f"{_count(count, 'sentence')} about {words}"
        example = "Success means that checkout is as quick as before."
        yield Flaw("understanding", found, f"at least {floor}", example)


def _mentions(own: Sequence[Passage], words: tuple[str, ...], *, least: int, enough: int) -> int:
    """Count the given words in sentences with other content; a repeated sentence counts once."""
    announcing = stems(words)
    all_sentences = (sentence for text in _joined(own, announcing) for sentence in sentences(text))
    naming = [sentence for sentence in all_sentences if occurrences(sentence, words)]
    substantial = [
        sentence for sentence in naming if says_something(sentence, least=least, besides=announcing)
    ]
    return sum(len(occurrences(sentence, words)) for sentence in distinct(substantial, enough=enough))


def _joined(own: Sequence[Passage], announcing: Collection[str]) -> Iterator[str]:
    """Prepend a heading or label without content of its own to the passage after it."""
    lead = ""
    for passage in own:
        text = passage.prose.strip()
        bare = text.strip(" *_")
        announces = passage.kind == "heading" or bare.endswith(":") or bare != text
        if (
            announces
            and not says_something(text, least=_ITEM, besides=announcing)
            and len(normal(text).split()) < 5
        ):
            lead = f"{bare.rstrip(':')}: "
            continue
        yield lead + text
        lead = ""
    if lead:
        yield lead


def _explored(own: Sequence[Passage], setting: Setting) -> tuple[Flaw, ...]:
    tree = Tree(setting.files)
    floor = min(setting.demands.files.floor, len(tree.files))
    files = files_described(own, tree, enough=floor)
    flaws = phantoms(references_in(own, tree))
    if len(files) >= floor:
        return flaws
    found = f"{_count(len(files), 'file')} of the repository with something said about it"
    example = "- `src/api/app.py` registers all routes and has no middleware yet."
    return (Flaw("file references", found, f"at least {floor} that exist", example), *flaws)


def _weighed(own: Sequence[Passage], setting: Setting) -> Iterator[Flaw]:
    demands = setting.demands
    options = options_in(own, demands.options.floor)
    if len(options) < demands.options.floor:
        found = f"{_count(len(options), 'option')} told in more than a name"
        example = "### Option B: a window in each process\nNo round trip. Con: off by the number of workers."
        yield Flaw("options", found, f"at least {demands.options.floor}", example)
    yield from twins_among(options, Tree(setting.files))
    if not _is_recommended(own):
        needed = "one option recommended, with the reason"
        example = "Recommendation: option A, since limits must be exact."
        yield Flaw("recommendation", "no recommendation", needed, example)
    if not _mentions(own, TRADE_OFFS, least=1, enough=1):
        needed = "what speaks for and against an option"
        example = "Pros: exact. Cons: one round trip for each request."
        yield Flaw("trade-offs", "no pros or cons", needed, example)


def _is_recommended(own: Sequence[Passage]) -> bool:
    announcing = stems((*RECOMMENDATION, *TRADE_OFFS))
    recommendations = [text for text in _joined(own, announcing) if occurrences(text, RECOMMENDATION)]
    return any(says_something(text, least=_ITEM, besides=announcing | ANNOUNCING) for text in recommendations)


def _plan(text: str, setting: Setting) -> tuple[Flaw, ...]:
    required, length = setting.options.required_sections, setting.demands.length
    return flaws_of_plan(text, required, Tree(setting.files), length)


def _critique(output: str, setting: Setting) -> Iterable[Flaw]:
    demands = setting.demands
    if setting.options.critique_mode == "open":
        own = passages(blocks_seen(output), given_in(setting.prompt, setting.ask, setting.plan))
        return _items(own, demands)
    read = critique_in(output, setting)
    if not isinstance(read, Critique):
        return read
    count = len(read.judged) + len(read.answers)
    floor = min(demands.principles.floor, len(setting.principles))
    if count >= floor:
        return ()
    found = f"{_count(count, 'principle')} judged with evidence"
    return (Flaw("principles", found, f"at least {floor}", EXAMPLE),)


def critique_in(output: str, setting: Setting) -> Critique | tuple[Flaw, ...]:
    """Parse a structured critique of the setting's plan."""
    return read_critique(
        output, plan=setting.plan, files=setting.files, principles=setting.principles, earlier=setting.earlier
    )


def _unchanged(output: str, setting: Setting) -> Iterator[Flaw]:
    if setting.wants_change and without_promises(output).split() == without_promises(setting.plan).split():
        found = "the plan as it was criticised"
        needed = "an answer to each finding: the plan changed, or an open question that names it"
        yield Flaw("unchanged plan", found, needed, "## Open Questions\nWho owns /admin?")


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'s' if number > 1 else ''}"


class Option(NamedTuple):
    """One option: its title and its text."""

    title: str
    passages: tuple[Passage, ...]


def options_in(passages: Sequence[Passage], enough: int) -> list[Option]:
    """Return the options of the first form that has `enough`: labels, letters, rows, numbers, headings."""
    ways: tuple[Callable[[Passage], str | None], ...] = (_labelled, _lettered, _row, _numbered, _heading)
    found: list[Option] = []
    for way in ways:
        candidates = (option for option in _cut(passages, way) if _says_enough(option))
        options = list(islice(candidates, _MOST))
        found = max(found, options, key=len)
        if len(found) >= enough:
            break
    return found


def twins_among(options: Sequence[Option], tree: Tree) -> tuple[Flaw, ...]:
    """Return a flaw for the first pair of twins: most words shared, or many words and the same files."""
    for option, other in combinations(options, 2):
        ours, theirs = _words(option), _words(other)
        of_all, of_smaller = alike(ours, theirs)
        touched = frozenset(references_in(option.passages, tree).there)
        same_files = bool(touched) and touched == frozenset(references_in(other.passages, tree).there)
        if of_all >= 0.6 or of_smaller >= 0.8 or (same_files and of_smaller >= 0.65):
            share = round(100 * of_smaller)
            found = f'"{_name(option)}" and "{_name(other)}" share {share} % of their words'
            needed = "options that differ in what is built, where it runs or what it costs"
            example = "Option A counts in Redis, exact; Option B counts in each process, without a round trip"
            return (Flaw("twin options", found, needed, example),)
    return ()


def _cut(passages: Sequence[Passage], opens: Callable[[Passage], str | None]) -> Iterator[Option]:
    title: str | None = None
    level = 0
    body: list[Passage] = []
    for passage in passages:
        opened = opens(passage)
        ends = _recommends(passage) or (passage.kind == "heading" and 0 < passage.level <= level)
        if opened is not None or ends:
            if title is not None:
                yield Option(title, tuple(body))
            title, body = opened, []
            level = passage.level if passage.kind == "heading" else 0
        elif title is not None:
            body.append(passage)
    if title is not None:
        yield Option(title, tuple(body))


def _labelled(passage: Passage) -> str | None:
    found = _LABEL.match(passage.text)
    return found["rest"].strip(" :.–—-*_") if found else None


def _lettered(passage: Passage) -> str | None:
    found = _LETTER.match(passage.text)
    return found["rest"] if found else None


def _row(passage: Passage) -> str | None:
    return passage.text if passage.kind == "row" and _COLUMN.match(passage.text) else None


def _numbered(passage: Passage) -> str | None:
    return passage.text if passage.numbered and passage.level == 0 else None


def _heading(passage: Passage) -> str | None:
    return passage.text if passage.kind == "heading" and passage.level > 1 else None


def _recommends(passage: Passage) -> bool:
    words = re.findall(r"\w+", passage.text)[:3]
    return bool(occurrences(" ".join(words), RECOMMENDATION))


def _words(option: Option) -> frozenset[str]:
    besides = _WEIGHING
    body = [word for passage in option.passages for word in meaningful(passage.text) if word not in besides]
    # Twins differ in their titles, so the title counts only for an option with a short body.
    title = [word for word in meaningful(option.title) if word not in besides]
    return frozenset(body if len(set(body)) > _LEAST else title + body)


def _says_enough(option: Option) -> bool:
    texts = [passage.text for passage in option.passages if not is_placeholder(passage.text)]
    besides = _WEIGHING
    words = {word for text in [option.title, *texts] for word in meaningful(text) if word not in besides}
    return len(words) >= _LEAST


def _name(option: Option) -> str:
    title = re.split(r"[.;:\n]|\*\*", option.title.strip(" *_"), maxsplit=1)[0]
    return title.strip(" *_")[:40] or "an option"
