"""Where Python loaded a project's own modules from during a check: the checkout, or elsewhere. Pure.

Rule: a module is reported only if every process of the check loaded it from outside the checkout.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.places import is_in_tests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

FILE: Final = "sitecustomize.py"
"""Python imports a module of this name at every start, from the first folder of its path that has one."""
LISTED: Final = ".modules"
"""Extension of the file in which one process lists its modules."""
_MODULE: Final = re.compile(r"^(?P<root>(?:src/|lib/)?)(?P<name>[A-Za-z_]\w*)(?:/__init__)?\.py$")
_BESIDE: Final = frozenset(
    {"setup", "conftest", "noxfile", "tasks", "docs", "doc", "examples", "test", "tests"}
)
_INSTALLED: Final = ("site-packages", "dist-packages")
# Runs on Python 2 and every Python 3. The project's own sitecustomize runs after it, under its name.
_SOURCE: Final = """\
import atexit, os, sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_NAMES = set({names!r})


def _list_modules():
    found = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _NAMES:
            file = getattr(module, "__file__", None)
            if isinstance(file, str):
                found.add(name.partition(".")[0] + "\\t" + os.path.realpath(file))
    try:
        with open(os.path.join(_HERE, "%d{ending}" % os.getpid()), "a") as listing:
            listing.write("".join(line + "\\n" for line in sorted(found)))
    except (OSError, IOError, UnicodeError):
        pass


atexit.register(_list_modules)
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
try:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
except ImportError:
    pass
else:
    _spec = PathFinder.find_spec("sitecustomize", sys.path)
    if _spec is not None and _spec.loader is not None:
        _module = module_from_spec(_spec)
        sys.modules["sitecustomize"] = _module
        _spec.loader.exec_module(_module)
"""


class Loaded(NamedTuple):
    """A top-level module of the project, and a file that a process loaded for it."""

    name: str
    file: str


def names_of(paths: Iterable[str], stdlib: Collection[str]) -> tuple[str, ...]:
    """Return the modules at a tree's top or below `src` or `lib`, without the standard library's."""
    found = {match["name"] for path in paths if not is_in_tests(path) and (match := _MODULE.match(path))}
    return tuple(sorted(name for name in found if name not in _BESIDE and name not in stdlib))


def source_of(names: Iterable[str]) -> bytes:
    """Return the module that lists, at the end of each process, where it loaded these from."""
    return _SOURCE.format(names=sorted(names), ending=LISTED).encode()


def read_loaded(listing: str) -> tuple[Loaded, ...]:
    """Parse the listings of processes; an agent's code may have written anything there."""
    split = (line.partition("\t") for line in listing.splitlines())
    return tuple(dict.fromkeys(Loaded(name, file) for name, tab, file in split if tab and file))


def strays(loaded: Iterable[Loaded], checkout: str) -> tuple[Loaded, ...]:
    """Return one file for each module that was loaded and never from the checkout."""
    root = f"{checkout.rstrip('/')}/"
    inside: set[str] = set()
    outside: dict[str, Loaded] = {}
    for one in loaded:
        if one.file.startswith(root):
            inside.add(one.name)
        else:
            outside.setdefault(one.name, one)
    return tuple(one for name, one in sorted(outside.items()) if name not in inside)


def cause_of(stray: Loaded) -> str:
    """Explain what is wrong with the environment that loaded it."""
    copied = any(part in _INSTALLED for part in stray.file.split("/"))
    how = "an installed copy of the package" if copied else "an editable install of another checkout"
    return f"`{stray.name}` was imported from {stray.file}, not from this tree: {how}"
