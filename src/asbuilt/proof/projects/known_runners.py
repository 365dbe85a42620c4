"""The known runners: one row each, the better one of a folder first.

Placeholders in braces are filled in from the manifests: `{python}` and `{node}` by the package manager that
the lock file names, `{options}` by what its build declares, `{declared}` by the command of tox, nox or hatch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from asbuilt.events.options import Counting
    from asbuilt.proof.suites.path_roles import Language

Family = Literal["python", "node", "go", "rust", "jvm", "native", "ruby", "perl", "recipe"]
Format = Literal[
    "JUnit XML", "unittest", "TAP", "node:test", "go test", "libtest", "surefire", "ctest", "RSpec", "output"
]
"""How tests are counted; `output`: by any known summary, else by the exit code alone."""


class Mark(NamedTuple):
    """A file that shows a runner, by its name and a pattern in its text."""

    name: str
    pattern: str = ""
    part: Literal["text", "script", "below"] = "text"
    """`script`: searched in the test script of a package.json; `below`: also in files of that name in folders
    below."""


class Row(NamedTuple):
    """One runner."""

    name: str
    family: Family
    marks: tuple[Mark, ...]
    """Any of them shows it."""
    command: str
    setup: str
    format: Format
    needs: Language | None = None
    """It is a suite only if tests of this language are below its folder."""
    counts: Counting = "tests"


_NODE: Final = "{node}"
_TARGETS: Final = ("Makefile", "makefile", "GNUmakefile")
_MAKE_TARGET: Final = r"(?m)^(?:[\w.-]+\s+)*TARGET(?:\s+[\w.-]+)*\s*:(?!=)"
_JUST_TEST: Final = r"(?m)^@?test\b[^:=]*:(?!=)"
_PERL: Final = ("Makefile.PL", "Build.PL", "cpanfile", "dist.ini")
_GRADLE: Final = (
    "{gradle} --no-daemon -q testClasses && ({gradle} --no-daemon -q test --continue || true)"
    " && find . -name build -type d -prune -exec rm -rf {} +"
)
_MAVEN: Final = (
    "{maven} -B -q test -Dmaven.test.failure.ignore=true"
    " && find . -name target -type d -prune -exec rm -rf {} +"
)
"""Surefire resolves its provider only when tests run. Compiled classes must not outlive their sources."""


def _script(*runners: str) -> tuple[Mark, ...]:
    return tuple(Mark("package.json", rf"(?<![\w@/-]){runner}(?![\w/-])", "script") for runner in runners)


TABLE: Final = (
    Row("pytest", "python",
        (Mark("pytest.ini"), Mark(".pytest.ini"), Mark("pytest.toml"),
         Mark("pyproject.toml", r"^\[tool\.pytest"), Mark("setup.cfg", r"^\[tool:pytest\]"),
         Mark("tox.ini", r"^\[pytest\]"), Mark("conftest.py")),
        "python -m pytest -q{arguments}", "{python}", "JUnit XML"),
    Row("tox", "python", (Mark("tox.ini"), Mark("tox.toml")), "{declared}", "{python}", "unittest"),
    Row("nox", "python", (Mark("noxfile.py"), ), "{declared}", "{python}", "unittest"),
    Row("hatch", "python", (Mark("pyproject.toml", r"^\[tool\.hatch\.envs"), Mark("hatch.toml", r"^\[envs")),
        "{declared}", "{python}", "unittest" ),
    Row("django", "python", (Mark("manage.py"), ), "python manage.py test", "{python}", "unittest", "python"),
    Row("unittest", "python", (), "python -m unittest discover", "{python}", "unittest", "python"),
    Row("vitest", "node", (*_script("vitest"), Mark("vitest.config.*"), Mark("vitest.workspace.*")),
        "npx --no-install vitest run", _NODE, "JUnit XML" ),
    Row("jest", "node", (*_script("jest", "react-scripts test"), Mark("jest.config.*")),
        "npx --no-install jest", _NODE, "JUnit XML" ),
    Row("mocha", "node", (*_script("_?mocha", "electron-mocha"), Mark(".mocharc.*")),
        "npx --no-install mocha", _NODE, "JUnit XML" ),
    Row("ava", "node", (*_script("ava"), Mark("ava.config.*")), "npx --no-install ava --tap", _NODE, "TAP"),
    Row("tap", "node", (*_script("tap", "tape"), Mark(".taprc")), "npx --no-install tap", _NODE, "TAP"),
    Row("node:test", "node", _script(r"node (?:\S+ )*--test"), "node --test", _NODE, "node:test", "node"),
    Row("npm", "node", (Mark("package.json", r"\S", "script"), ), "npm test", _NODE, "output"),
    Row("cargo", "rust", (Mark("Cargo.toml"), ), "cargo test --offline{options}", "cargo fetch{locked}",
        "libtest" ),
    # Without -v, go does not print how many tests ran.
    Row("go", "go", (Mark("go.mod"), ), "go test -v ./...", "go mod download", "go test", "go"),
    Row("maven", "jvm", (Mark("pom.xml"), ), "{maven} -o -B test", _MAVEN, "surefire", "jvm"),
    Row("gradle", "jvm", (Mark("build.gradle"), Mark("build.gradle.kts"), Mark("settings.gradle*")),
        "{gradle} --no-daemon --offline cleanTest test", _GRADLE, "JUnit XML", "jvm" ),
    Row("ctest", "native",
        (Mark("CMakeLists.txt", r"(?im)^\s*(enable_testing\s*\(|include\s*\(\s*CTest\b|add_test\s*\()"),),
        "cmake -S . -B {build}{options} && cmake --build {build} --parallel 4 &&"
        " ctest --test-dir {build} --output-on-failure", "{fetched}", "ctest"),
    Row("meson", "native", (Mark("meson.build", r"(?m)^\s*test\s*\(", "below"), ),
        "meson setup {build}{options} && meson test -C {build} --print-errorlogs", "", "JUnit XML" ),
    Row("rspec", "ruby", (Mark("Gemfile"), Mark(".rspec")), "bundle exec rspec", "{bundle}", "RSpec", "ruby"),
    Row("rake", "ruby", (Mark("Rakefile", r"TestTask|:test\b"), ), "bundle exec rake test", "{bundle}",
        "output", "ruby" ),
    # It writes nothing; code that has to be compiled is built by the rows below it.
    Row("prove", "perl", tuple(map(Mark, _PERL)), "prove -lr t", "", "output", "perl"),
    Row("perl", "perl", (Mark("Makefile.PL"), ), "perl Makefile.PL && make test", "", "output", "perl"),
    Row("perl", "perl", (Mark("Build.PL"), ), "perl Build.PL && ./Build test", "", "output", "perl"),
    Row("autotools", "recipe", (Mark("Makefile.am", r"(?m)^\s*(TESTS|check)\b|^SUBDIRS"), ),
        "test -x configure || autoreconf -i; ./configure && make check", "", "output", counts="exit-code" ),
    *(Row("make", "recipe", tuple(Mark(name, _MAKE_TARGET.replace("TARGET", target)) for name in _TARGETS),
          f"make {target}", "", "output", counts="exit-code") for target in ("test", "check", "tests")),
    Row("just", "recipe", (Mark("justfile", _JUST_TEST), Mark(".justfile", _JUST_TEST)), "just test", "",
        "output", counts="exit-code"),
)  # fmt: skip

FOREIGN: Final = (
    "phpunit.xml*", "mix.exs", "*.sln", "*.csproj", "Package.swift", "build.sbt", "*.cabal", "stack.yaml",
    "pubspec.yaml", "rebar.config", "dune-project", "build.zig", "deno.json*", "Project.toml", "DESCRIPTION",
    "project.clj", "deps.edn", "WORKSPACE", "MODULE.bazel", "bun.lock*",
)  # fmt: skip
"""Manifests of ecosystems whose test command has to be set by hand."""

DOCKER: Final = r"\btestcontainers\b|\bpytest[-_]docker\b|\bdocker[- ]compose (?:\S+ )*(up|run|exec)\b"
"""Text in a manifest that shows that tests start containers."""


def row(name: str) -> Row:
    """Return the first row of a name."""
    return next(row for row in TABLE if row.name == name)
