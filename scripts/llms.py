"""Write docs/llms.txt: every page of the site with its first sentence, in the order of the navigation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_PROSE: Final = re.compile(r"^(?![#\-|<>!`\[\d:]|hide)\S.*?(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)


def page(root: Path, generated: Mapping[str, str]) -> str:
    """Return the text; pages that are generated now are read from `generated`."""
    settings = yaml.safe_load((root / "mkdocs.yml").read_text(encoding="utf-8"))
    lines = [f"# {settings['site_name']}", "", f"> {settings['site_description']}"]
    for entry in settings["nav"]:
        for section, names in entry.items() if isinstance(entry, dict) else (("Start", [entry]),):
            lines += ["", f"## {section}", ""]
            lines += [_line(root, generated, name) for name in _names(names)]
    return "\n".join(lines) + "\n"


def _names(entries: object) -> Iterator[str]:
    match entries:
        case str(name):
            yield name
        case list(inner):
            for entry in inner:
                yield from _names(entry)
        case dict(inner):
            for entry in inner.values():
                yield from _names(entry)


def _line(root: Path, generated: Mapping[str, str], name: str) -> str:
    text = generated.get(f"docs/{name}") or (root / "docs" / name).read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    prose = _PROSE.search(text)
    sentence = " ".join(prose[0].split()) if prose else ""
    first = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", re.split(r"(?<=[.!?]) ", sentence)[0])
    address = re.sub(r"(README)?\.md$", lambda end: "index.html" if end[1] else ".html", name)
    return f"- [{title[1] if title else name}]({address}): {first}".removesuffix(": ")
