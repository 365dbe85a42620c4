"""Front matter with YAML node positions. Values are strings; edits splice them and never dump YAML."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import yaml
from msgspec import Struct
from msgspec.structs import replace

from asbuilt.plan.markdown.source import Source, Span
from asbuilt.plan.problems import Problem, Rule, problem

_MAX_CHARS: Final = 8_000
_RULE: Final = "---"
KEYS: Final = frozenset({"title", "created", "status", "issue", "completed"})
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/:+-]*(?<![ :])")


class Entry(NamedTuple):
    """One key of the file, with a scalar or a list of scalars."""

    key: str
    values: tuple[str, ...]
    first: int
    """0-based first line; `after` is the line after the entry."""
    after: int
    value: Span | None
    """Span of the value, quotes included; empty without a value, None for an alias."""


class FrontMatter(Struct, frozen=True, kw_only=True):
    """The lines between `---` in line 1 and the next `---` or `...`."""

    present: bool
    after: int
    """0-based line after the closing rule, where the document starts."""
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    indent: str = ""
    """Indent of every key."""

    @property
    def is_ours(self) -> bool:
        """Whether it has a key of asbuilt; front matter of other tools implies none of our sections."""
        return self.editable and any(entry.key in KEYS for entry in self.entries)

    @property
    def editable(self) -> bool:
        """Whether the positions of the keys are known for certain."""
        return not self.problems

    def entry(self, key: str) -> Entry | None:
        """Return the last entry of a key, which is the one that YAML readers use."""
        return next((entry for entry in reversed(self.entries) if entry.key == key), None)

    def value(self, key: str) -> str | None:
        """Return a key's value if it has exactly one and it is not empty."""
        entry = self.entry(key)
        return entry.values[0] if entry is not None and len(entry.values) == 1 and entry.values[0] else None

    def all(self, key: str) -> tuple[str, ...]:
        """Return every value of a key, from repeated lines and from lists alike."""
        return tuple(value for entry in self.entries if entry.key == key for value in entry.values)

    @property
    def issues(self) -> tuple[int, ...]:
        """The numbers under `issue`, each once; values that are no number are left out."""
        # int() raises above 4,300 digits, leading zeros included.
        numbers = (value.removeprefix("#").lstrip("0") for value in self.all("issue"))
        plain = (number for number in numbers if re.fullmatch(r"[1-9]\d{0,11}", number, re.ASCII))
        return tuple(dict.fromkeys(map(int, plain)))


_ABSENT: Final = FrontMatter(present=False, after=0, entries=(), problems=())


def read_front_matter(source: Source) -> FrontMatter:
    """Read the front matter, which counts only if line 1 is exactly `---`."""
    lines = source.lines
    if not lines or lines[0] != _RULE:
        return _ABSENT
    closing = next((at for at in range(1, len(lines)) if lines[at].rstrip() in (_RULE, "...")), None)
    if closing is None:
        return replace(_ABSENT, problems=_wrong(1, "opens here and never closes"))
    front = FrontMatter(present=True, after=closing + 1, entries=(), problems=())
    text = source.text[source.starts[1] : source.starts[closing]]
    if len(text) > _MAX_CHARS and text.strip():
        message = f"has {len(text):,} characters; at most {_MAX_CHARS:,} are read"
        return replace(front, problems=_wrong(1, message))
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        at = mark.index if mark is not None else getattr(error, "position", 0)
        line = source.line_of(source.starts[1] + at) + 1
        reason = getattr(error, "problem", None) or type(error).__name__
        return replace(front, problems=_wrong(min(line, closing + 1), f"is not YAML: {reason}"))
    if root is None:
        return front
    if not isinstance(root, yaml.MappingNode):
        return replace(front, problems=_wrong(2, "is not a list of `key: value` lines"))
    pairs = ((key, value) for key, value in root.value if isinstance(key, yaml.ScalarNode))
    return replace(
        front,
        entries=tuple(_entry(source, key, value) for key, value in pairs),
        problems=_wrong(2, "is one `{...}`; write one `key: value` a line") if root.flow_style else (),
        indent=" " * root.start_mark.column,
    )


def _wrong(line: int, why: str) -> tuple[Problem, ...]:
    return (problem(line, Rule.FRONT_MATTER, f"front matter {why}"),)


def _entry(source: Source, key: yaml.ScalarNode, value: yaml.Node) -> Entry:
    base = source.starts[1]
    nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
    values = tuple(str(node.value).strip() for node in nodes if isinstance(node, yaml.ScalarNode))
    first = source.line_of(base + key.start_mark.index)
    start, end = base + value.start_mark.index, base + value.end_mark.index
    if value.start_mark.index < key.end_mark.index:
        # An alias has the node, and so the position, of its anchor.
        return Entry(key.value, values, first, first + 1, None)
    # The end mark of a block value is at the start of the next key's line, after comments and blank lines.
    last = max(first, source.line_of(max(start, end - 1)))
    is_block = not isinstance(value, yaml.ScalarNode)
    while is_block and last > first and source.lines[last].strip()[:1] in ("", "#"):
        last -= 1
    return Entry(key.value, values, first, last + 1, Span(start, end))


def scalar(value: str) -> str:
    """Write a string so that YAML reads back exactly that string."""
    if _PLAIN.fullmatch(value) and ": " not in value:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
