"""Merge the layers of settings. The highest layer that sets a key wins and is recorded as its origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from asbuilt.errors import SettingInvalid
from asbuilt.settings import files
from asbuilt.settings.registry import NAMED, SETTINGS, keys_near, setting_for
from asbuilt.settings.setting import Setting, Value
from asbuilt.settings.values import from_text, from_toml, shown
from asbuilt.similar_names import did_you_mean

_TABLES: Final = frozenset(key.partition(".")[0] for key in SETTINGS)
_NAMED_TABLES: Final = frozenset(key.partition(".")[0] for key in NAMED)
_NOT_SETTINGS: Final = (
    "ASBUILT_ATTEMPT",
    "ASBUILT_CONVERSATION",
    "ASBUILT_HOME",
    "ASBUILT_ORGANISATION_FILE",
    "ASBUILT_USER_FILE",
)
_NEARLY: Final = 0.8
"""Likeness from which an unknown variable counts as a typo; all of them start alike."""
_Type = TypeVar("_Type")


class Layer(Enum):
    """Sources of values, lowest first."""

    DEFAULT = "default"
    ORGANISATION = "organisation"
    USER = "user"
    REPOSITORY = "repository"
    ENVIRONMENT = "environment"


class Origin(NamedTuple):
    """The layer that set a value, and where to change it."""

    layer: Layer
    name: str
    """The file as people write it, the variable, or another name of the source."""
    line: int | None = None
    locked: bool = False
    """Whether the organisation locked the value."""
    file: Path | None = None
    """The settings file; None for another layer."""

    @property
    def where(self) -> str:
        """The place as text: `asbuilt.toml:7`, `ASBUILT_LANDING_MODE`, `default`."""
        return self.name if self.line is None else f"{self.name}:{self.line}"

    @property
    def correcting(self) -> str:
        """The command that corrects the value: an editor at its line, or the removal of a variable."""
        return f"`unset {self.name}`" if self.file is None else files.correcting(self.file, self.line)


_DEFAULT: Final = Origin(layer=Layer.DEFAULT, name="default")


class Chosen(NamedTuple):
    """A value and its origin."""

    value: Value
    origin: Origin


class Settings(NamedTuple):
    """One value for every key, with its origin."""

    chosen: Mapping[str, Chosen]

    def text(self, key: str) -> str:
        """Return the value of a text, a folder or a choice."""
        return self._typed(key, str)

    def flag(self, key: str) -> bool:
        """Return the value of a flag."""
        return self._typed(key, bool)

    def number(self, key: str) -> int:
        """Return the value of a number."""
        return self._typed(key, int)

    def dollars(self, key: str) -> float:
        """Return the value of an amount of dollars."""
        return self._typed(key, float)

    def globs(self, key: str) -> tuple[str, ...]:
        """Return the value of a list of globs."""
        return tuple(element for element in self._typed(key, tuple) if isinstance(element, str))

    def _typed(self, key: str, kind: type[_Type]) -> _Type:
        value = self.chosen[key].value
        if not isinstance(value, kind):
            raise TypeError(key)
        return value

    def of(self, setting: Setting) -> Chosen:
        """Return the chosen value of a setting and its origin, or its default if no layer sets it."""
        return self.chosen.get(setting.key) or Chosen(value=setting.default, origin=_DEFAULT)

    def named(self, section: str) -> dict[str, dict[str, Value]]:
        """Return the chosen values of each named agent: `[agents.NAME]`."""
        found: dict[str, dict[str, Value]] = {}
        for key in self.chosen.keys() - SETTINGS.keys():
            of, name, field = key.split(".")
            if of == section:
                found.setdefault(name, {})[field] = self.chosen[key].value
        return found


def load(*, repository: Path | None, environ: Mapping[str, str]) -> Settings:
    """Read every layer; raise the first problem."""
    settings, problems = survey(repository=repository, environ=environ)
    if problems:
        raise problems[0]
    return settings


def survey(
    *, repository: Path | None, environ: Mapping[str, str]
) -> tuple[Settings, tuple[SettingInvalid, ...]]:
    """Read every layer as far as possible; also return the problems."""
    defaults = {setting.key: Chosen(value=setting.default, origin=_DEFAULT) for setting in SETTINGS.values()}
    problems: list[SettingInvalid] = []
    organisation, user, repo, variables = (
        _sift(found, problems)
        for found in (
            _in_organisation(environ),
            _in_file(files.user_place(environ), Layer.USER),
            _in_repository(repository),
            _in_environment(environ),
        )
    )
    locked = {key: choice for key, choice in organisation.items() if choice.origin.locked}
    own = defaults | organisation | user
    repo = {key: choice for key, choice in repo.items() if not _loosens(key, choice, own[key])}
    chosen = own | repo | variables | locked
    return Settings(chosen=MappingProxyType(chosen)), tuple(problems)


def _loosens(key: str, choice: Chosen, own: Chosen) -> bool:
    """Return whether a repository's value is not stricter than the user's, for a key that it may tighten."""
    strictness = SETTINGS[key].choices
    return SETTINGS[key].tightens and strictness.index(str(choice.value)) >= strictness.index(str(own.value))


Found = tuple[str, Chosen] | SettingInvalid


def _sift(found: Iterator[Found], problems: list[SettingInvalid]) -> dict[str, Chosen]:
    values: dict[str, Chosen] = {}
    try:
        for item in found:
            if isinstance(item, SettingInvalid):
                problems.append(item)
            else:
                values[item[0]] = item[1]
    except SettingInvalid as whole_layer:
        problems.append(whole_layer)
    return values


def _in_organisation(environ: Mapping[str, str]) -> Iterator[Found]:
    file = files.organisation_file(environ)
    place = files.Place(file=file, name=str(file))
    text = files.text_of(place)
    if text is None:
        return
    table = files.table_of(place, text) or {}
    wanted = table.pop("locked", [])
    names = [key for key in wanted if isinstance(key, str)] if isinstance(wanted, list) else []
    locked = [*names]
    line = files.line_of(text, ("locked",))
    origin = Origin(layer=Layer.ORGANISATION, name=place.name, line=line, file=place.file)
    if not isinstance(wanted, list) or len(locked) != len(wanted):
        yield _invalid(f"{origin.where}: locked {shown(wanted)} is not a list of keys", origin)
    for found in _in_table(place, text, table, Layer.ORGANISATION):
        if isinstance(found, SettingInvalid) or found[0] not in locked:
            yield found
            continue
        key, chosen = found
        locked.remove(key)
        yield key, chosen._replace(origin=chosen.origin._replace(locked=True))
    for key in locked:
        yield _invalid(f"{origin.where}: locked names {key}, which this file does not set", origin)


def _in_file(place: files.Place, layer: Layer) -> Iterator[Found]:
    text = files.text_of(place)
    if text is not None:
        yield from _in_table(place, text, files.table_of(place, text) or {}, layer)


def _in_repository(root: Path | None) -> Iterator[Found]:
    if root is not None:
        yield from _in_file(files.repository_place(root), Layer.REPOSITORY)


def _in_table(place: files.Place, text: str, table: Mapping[str, object], layer: Layer) -> Iterator[Found]:
    seen: set[str] = set()
    for written, raw in _leaves(table):
        line = files.line_of(text, (*place.table, *written.split(".")))
        origin = Origin(layer=layer, name=place.name, line=line, file=place.file)
        key = place.aliases.get(written, written)
        setting = setting_for(key)
        if key in seen:
            yield _invalid(f"{origin.where}: {written} sets {key} a second time", origin)
        elif setting is not None and layer is Layer.REPOSITORY and not setting.repository_may_set:
            yield _not_for_repositories(setting, origin)
        elif setting is not None:
            yield _chosen(setting, raw, origin)
        else:
            yield _unknown(written, raw, origin)
        seen.add(key)


def _leaves(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if name in _TABLES and isinstance(value, dict):
            for inner, raw in value.items():
                if name in _NAMED_TABLES and isinstance(raw, dict):
                    yield from ((f"{name}.{inner}.{field}", item) for field, item in raw.items())
                else:
                    yield f"{name}.{inner}", raw
        else:
            yield name, value


def _in_environment(environ: Mapping[str, str]) -> Iterator[Found]:
    known = {setting.variable: setting for setting in SETTINGS.values()}
    for name in sorted(environ):
        if not name.startswith("ASBUILT_") or name in _NOT_SETTINGS or not environ[name]:
            continue
        origin = Origin(layer=Layer.ENVIRONMENT, name=name)
        if name not in known:
            # A variable unlike every setting may belong to another program; a similar one is a typo.
            if meant := did_you_mean(name, known, likeness=_NEARLY):
                yield _invalid(f"{name} in the environment sets nothing{meant}", origin)
            continue
        try:
            value = from_text(known[name], environ[name], where=name, next_step=origin.correcting)
        except SettingInvalid as problem:
            yield problem
        else:
            yield known[name].key, Chosen(value=value, origin=origin)


def _chosen(setting: Setting, raw: object, origin: Origin) -> Found:
    try:
        value = from_toml(setting, raw, where=origin.where, next_step=origin.correcting)
    except SettingInvalid as problem:
        return problem
    return setting.key, Chosen(value=value, origin=origin)


def _invalid(what: str, origin: Origin) -> SettingInvalid:
    return SettingInvalid(
        what, why="It would have no effect, or another one than you expect.", next_step=origin.correcting
    )


def _unknown(written: str, raw: object, origin: Origin) -> SettingInvalid:
    if written in _TABLES:
        inside = ", ".join(key for key in SETTINGS if key.startswith(f"{written}."))
        return _invalid(f"{origin.where}: {written} {shown(raw)} is not a table; it holds {inside}", origin)
    return SettingInvalid(
        f'{origin.where}: no setting "{written}"{did_you_mean(written, keys_near(written))}',
        why="An unknown key would have no effect, unnoticed.",
        next_step=origin.correcting,
    )


def _not_for_repositories(setting: Setting, origin: Origin) -> SettingInvalid:
    return SettingInvalid(
        f"{origin.where}: a repository may not set {setting.key}",
        why=f"Other people write a repository's settings; only you may choose this one. {setting.stakes}",
        next_step=f"{origin.correcting} to remove it, or set it for yourself:"
        f" `asbuilt config set {setting.key} VALUE`",
    )
