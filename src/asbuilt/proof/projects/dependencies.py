"""The packages that a tree requires, and those that a phase adds or changes. Pure and total.

Rule: a package that the plan does not allow by name is remarked on: it is code that was not reviewed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from asbuilt.proof.projects.manifests import ini, json_object, lines, name_of, table, texts, toml
from asbuilt.proof.remarks import Remark, content_of
from asbuilt.proof.suites.model import Change, Order, Severity

_REQUIREMENTS: Final = re.compile(r"(^|/)([\w.-]*requirements[\w.-]*\.(txt|in)|requirements/[\w.-]+\.txt)$")
_ALLOWS: Final = re.compile(r"(?i)\*\*Allows:?\*\*:?(.*)")
_DEPENDENCY: Final = re.compile(r"(?i)\b(?:dependency|dependencies|packages?)\b(.*)")
_NAME: Final = re.compile(r"[@\w][\w./@-]*")
_GO: Final = re.compile(r"(?m)^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+(v\S+)")
_GEM: Final = re.compile(r"(?m)^\s*gem\s+['\"]([\w-]+)['\"](.*)$")
_MAVEN: Final = re.compile(
    r"<dependency>\s*<groupId>([^<]+)</groupId>\s*<artifactId>([^<]+)</artifactId>(?:\s*<version>([^<]+)</version>)?"
)
_OF_NODE: Final = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_OF_CARGO: Final = ("dependencies", "dev-dependencies", "build-dependencies")


def dependencies_in(path: str, text: str) -> dict[str, str]:
    """Return the packages that a manifest requires, with their requirements; empty for other files."""
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        return _named(_of_python(toml(text)))
    if name == "setup.cfg":
        options = ini(text).get("options", {})
        extras = ini(text).get("options.extras_require", {})
        rows = (options.get("install_requires", ""), *extras.values())
        return _named(requirement for row in rows for requirement in texts(row))
    if name == "package.json":
        found = [table(json_object(text), group) for group in _OF_NODE]
        return {str(key): str(value) for group in found for key, value in group.items()}
    if name == "Cargo.toml":
        found = [table(toml(text), group) for group in _OF_CARGO]
        found += [table(part, group) for part in table(toml(text), "target").values() for group in _OF_CARGO]
        found.append(table(toml(text), "workspace", "dependencies"))
        return {str(key): str(value) for group in found for key, value in group.items()}
    if name == "go.mod":
        return dict(_GO.findall(text))
    if name == "Gemfile":
        return {gem: rest.strip(" ,") for gem, rest in _GEM.findall(text)}
    if name == "pom.xml":
        return {f"{group}:{artifact}": version for group, artifact, version in _MAVEN.findall(text)}
    return _named(lines(text)) if _REQUIREMENTS.search(path) else {}


def dependencies_of(manifests: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the packages that each of several manifests requires."""
    found = {path: dependencies_in(path, text) for path, text in manifests.items()}
    return {path: packages for path, packages in found.items() if packages}


def remarks_on_packages(
    changes: Iterable[Change], order: Order, severity: Severity, *, around: str = ""
) -> Iterator[Remark]:
    """Yield a remark on each package that a phase adds or changes; an allowed one cites the plan's line."""
    allowed = allowed_in(f"{around}\n{order.text}")
    for change in changes:
        before, after = (dependencies_in(change.path, text) for text in (change.old, change.new))
        for package, asked in after.items():
            if before.get(package) == asked:
                continue
            is_known = package in before
            rule = "dependency-changed" if is_known else "dependency-added"
            line = allowed.get(_plain(package)) or (_ordered(order, package, asked) if is_known else None)
            yield Remark(
                rule,
                severity if line is None else Severity.ALLOWED,
                change.path,
                was=before.get(package, ""),
                now=asked if name_of(asked) == _plain(package) else f"{package} {asked}".strip(),
                cited=line or "",
                content=content_of(change),
            )


def allowances_in(text: str) -> list[str]:
    """Return the texts that follow `**Allows:**` on the lines of a plan."""
    found = (hit[1].strip() for line in text.splitlines() if (hit := _ALLOWS.search(line)))
    return [*dict.fromkeys(requirement for requirement in found if requirement)]


def _ordered(order: Order, package: str, asked: str) -> str | None:
    """Find the line of a phase that names a package together with its new version."""
    name = re.compile(rf"(?i)(?<![\w-]){re.escape(package)}(?![\w-])")
    versions = re.findall(r"\d+(?:\.\d+)+", asked)
    pins = (line for line in order.text.splitlines() if name.search(line))
    return next((line.strip() for line in pins if any(version in line for version in versions)), None)


def allowed_in(text: str) -> dict[str, str]:
    """Return the packages that a plan allows, with the line: `**Allows:** dependency NAME`."""
    found = {}
    for line in text.splitlines():
        hit = _ALLOWS.search(line)
        named = hit and _DEPENDENCY.search(hit[1])
        for name in _NAME.findall(named[1]) if named else ():
            found[_plain(name.rstrip("."))] = line.strip()
    return found


def _of_python(pyproject: dict[str, object]) -> Iterator[str]:
    yield from texts(table(pyproject, "project").get("dependencies"))
    yield from texts(table(pyproject, "build-system").get("requires"))
    extras = table(pyproject, "project", "optional-dependencies")
    for group in (*extras.values(), *table(pyproject, "dependency-groups").values()):
        yield from texts(group)
    poetry = table(pyproject, "tool", "poetry")
    every = [table(poetry, "dependencies"), table(poetry, "dev-dependencies")]
    every += [table(group, "dependencies") for group in table(poetry, "group").values()]
    for group in every:
        yield from (f"{name} {asked}" for name, asked in group.items() if name != "python")


def _named(requirements: Iterable[str]) -> dict[str, str]:
    every = [
        (name_of(requirement), requirement) for requirement in requirements if not requirement.startswith("-")
    ]
    return {name: version for name, version in every if name}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
