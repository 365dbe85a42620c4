"""What a fold fills: classes declared as dataclasses are, for which no code is made when they are loaded.

The one rule: declaring one costs next to nothing, since whoever looks how a plan stands pays for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self, TypeVar, cast, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")


class _Fresh:
    def __init__(self, factory: Callable[[], object]) -> None:
        self.factory = factory


def fresh(*, factory: Callable[[], Value]) -> Value:
    """Begin a field with a value that no other instance has."""
    return cast("Value", _Fresh(factory))


@dataclass_transform(field_specifiers=(fresh,))
class Folded:
    """Fields with their defaults, given by position or by name, compared one by one."""

    _fields: ClassVar[tuple[str, ...]]
    _needed: ClassVar[frozenset[str]]
    _fresh: ClassVar[dict[str, Callable[[], object]]]

    def __init_subclass__(cls) -> None:
        declared = vars(cls)
        cls._fields = tuple(cls.__annotations__)
        cls._needed = frozenset(name for name in cls._fields if name not in declared)
        cls._fresh = {
            name: declared[name].factory for name in cls._fields if isinstance(declared.get(name), _Fresh)
        }

    def __init__(self, *values: object, **given: object) -> None:
        given |= zip(self._fields, values, strict=False)
        if len(values) > len(self._fields) or not self._needed <= given.keys() <= set(self._fields):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}")
        for name, factory in self._fresh.items():
            if name not in given:
                given[name] = factory()
        # What is not given is the default, which stands in the class.
        vars(self).update(given)

    def but(self, **changed: object) -> Self:
        """Give another one that differs in these fields: `dataclasses.replace` knows only its own."""
        return type(self)(**{name: getattr(self, name) for name in self._fields} | changed)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        told = (f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({', '.join(told)})"
