"""The suites of a tree, found by the names of its files and the texts of its manifests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.projects.finding import MOST, find
from asbuilt.proof.projects.index import wanted
from asbuilt.proof.projects.known_runners import FOREIGN, TABLE
from asbuilt.proof.projects.model import Project
from tests.proof.projects.trees import of, tree

PYTEST = "python -m pytest -q"
NPM_PLACEHOLDER = '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'
MAKE = "test: all\n\tsh t.sh\n"
CMAKE = (
    "cmake -S . -B {build}{options} && cmake --build {build} --parallel 4"
    " && ctest --test-dir {build} --output-on-failure"
)
NOX = """
@nox.session
def lint(session): session.run("ruff")
@nox.session
def tests(session): session.run("python", "-m", "a.tests")
"""
VITEST = '{"scripts": {"test": "vitest run"}}'


def cmake(options: str = "", build: str = "build") -> str:
    return CMAKE.replace("{build}", build).replace("{options}", options)


def suites(project: Project) -> list[tuple[str, str, str]]:
    return [(suite.folder, suite.command, suite.runner) for suite in find(project).suites]


@pytest.mark.parametrize(
    ("project", "found"),
    [
        (tree("README.md", "src/a.c"), None),
        (tree("pytest.ini"), (PYTEST, "pytest")),
        (tree(pyproject_toml="[tool.pytest.ini_options]"), (PYTEST, "pytest")),
        (tree(pyproject_toml="[tool.ruff]"), None),
        (tree(pyproject_toml="[tool.pytest"), (PYTEST, "pytest")),
        (tree(setup_cfg="[tool:pytest]"), (PYTEST, "pytest")),
        (tree("tests/test_a.py"), (PYTEST, "pytest")),
        (tree("test_a.py"), (PYTEST, "pytest")),
        (tree("manage.py", "shop/tests.py"), ("python manage.py test", "django")),
        (tree("manage.py", "shop/tests.py", pyproject_toml="[tool.pytest.ini_options]"), (PYTEST, "pytest")),
        (of({"manage.py": "", "shop/tests.py": "", "requirements.txt": "pytest-django"}), (PYTEST, "pytest")),
        (
            tree("tests/test_a.py", tox_ini="[testenv]\ncommands = pytest --cov=a {posargs:tests}"),
            (f"{PYTEST} tests", "pytest"),
        ),
        (
            tree("tests/test_a.py", tox_ini="[testenv]\ncommands =\n tests: pytest -n auto -m 'not slow'"),
            (f"{PYTEST} -m 'not slow'", "pytest"),
        ),
        (
            tree("a/test/x_test.py", tox_ini="[testenv]\ncommands = python -bb -m a.test {posargs:}"),
            ("python -bb -m a.test", "tox"),
        ),
        (
            tree("tests/test_a.py", tox_ini="[testenv]\ncommands = coverage run -m unittest discover tests"),
            ("python -m unittest discover tests", "unittest"),
        ),
        (
            tree("a/x_test.py", noxfile_py=NOX),
            ("python -m a.tests", "nox"),
        ),
        (
            tree("a/test_a.py", pyproject_toml='[tool.hatch.envs.test.scripts]\nrun = "pytest {args:a}"'),
            (f"{PYTEST} a", "pytest"),
        ),
        (tree(package_json='{"scripts": {"test": "mocha test/"}}'), ("npm test", "mocha")),
        (tree(package_json='{"scripts": {"test": "jest"}}'), ("npm test", "jest")),
        (tree(package_json='{"scripts": {"test": "xo && ava"}}'), ("npm test", "ava")),
        (tree(package_json='{"scripts": {"test": "tap"}}'), ("npm test", "tap")),
        (tree(package_json='{"scripts": {"test": "node --test"}}'), ("npm test", "node:test")),
        (
            tree(package_json='{"scripts": {"test": "npm run unit", "unit": "vitest run"}}'),
            ("npm test", "vitest"),
        ),
        (tree(package_json='{"scripts": {"test": "node check.js"}}'), ("npm test", "npm")),
        (
            tree(package_json='{"scripts": {"test": "pnpm test:spec", "test:spec": "vitest run"}}'),
            ("npx --no-install vitest run", "vitest"),
        ),
        (tree(package_json=NPM_PLACEHOLDER), None),
        (tree(package_json='{"scripts": ["test"]}'), None),
        (tree(package_json="["), None),
        (tree("jest.config.js", "package.json"), ("npx --no-install jest", "jest")),
        (
            tree("a.test.js", package_json='{"devDependencies": {"ava": "6"}}'),
            ("npx --no-install ava --tap", "ava"),
        ),
        (tree("a.test.js", package_json="{}"), ("node --test", "node:test")),
        (tree("Cargo.toml"), ("cargo test --offline", "cargo")),
        (tree(Cargo_toml="[workspace]\nmembers = ['a']"), ("cargo test --offline --workspace", "cargo")),
        (tree("go.mod", "a_test.go"), ("go test -v ./...", "go")),
        (tree("go.mod", "a.go"), None),
        (tree("pom.xml", "src/test/java/ATest.java"), ("mvn -o -B test", "maven")),
        (tree("pom.xml", "mvnw", "src/test/java/ATest.java"), ("./mvnw -o -B test", "maven")),
        (tree("pom.xml", "src/main/java/A.java"), None),
        (
            tree("build.gradle.kts", "gradlew", "src/test/kotlin/A.kt"),
            ("./gradlew --no-daemon --offline cleanTest test", "gradle"),
        ),
        (tree(CMakeLists_txt="project(a)\nenable_testing()"), (cmake(), "ctest")),
        (tree("build/a.py", CMakeLists_txt="include(CTest)"), (cmake(build="_build"), "ctest")),
        (
            tree(CMakeLists_txt='option(A_BUILD_TESTS "tests" OFF)\ninclude(CTest)'),
            (cmake(" -DA_BUILD_TESTS=ON"), "ctest"),
        ),
        (tree(CMakeLists_txt="project(a)"), None),
        (
            tree(meson_build="project('a', 'c')\ntest('a', exe)"),
            ("meson setup build && meson test -C build --print-errorlogs", "meson"),
        ),
        (tree(Makefile=MAKE), ("make test", "make")),
        (tree(Makefile="all check: a\n\tsh t.sh\n"), ("make check", "make")),
        (tree(Makefile="test := 1\nall:\n"), None),
        (
            tree(Makefile_am="TESTS = a.sh"),
            ("test -x configure || autoreconf -i; ./configure && make check", "autotools"),
        ),
        (tree("Gemfile", "spec/a_spec.rb"), ("bundle exec rspec", "rspec")),
        (tree("Gemfile"), None),
        (tree("Makefile.PL", "t/a.t"), ("prove -lr t", "prove")),
        (tree("cpanfile", "t/deep/a.t"), ("prove -lr t", "prove")),
        (tree("Makefile.PL"), None),
        (tree(justfile="test *args:\n  pytest"), ("just test", "just")),
        # The better runner of a folder is proposed.
        (tree("pytest.ini", Makefile=MAKE), (PYTEST, "pytest")),
        (tree(CMakeLists_txt="enable_testing()", Makefile=MAKE), (cmake(), "ctest")),
    ],
)
def test_the_suite_of_a_folder_is_shown_by_its_files(project: Project, found: tuple[str, str] | None) -> None:
    assert suites(project) == ([("", *found)] if found else [])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tox.ini", "[testenv]\ncommands = pytest tests"),
        ("tox.toml", '[env_run_base]\ncommands = [["pytest", "tests"]]'),
        ("pyproject.toml", '[tool.tox.env_run_base]\ncommands = [["pytest", "tests"]]'),
        ("hatch.toml", '[envs.test.scripts]\nrun = "pytest tests"'),
    ],
)
def test_a_declared_command_names_the_file_that_declares_it(file: str, text: str) -> None:
    assert find(of({"tests/test_a.py": "", file: text})).signs == (file,)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {"api/pyproject.toml": "[project]", "api/tests/test_a.py": "", "web/package.json": VITEST},
            [("api", PYTEST), ("web", "npm test")],
        ),
        ({"api/test_a.py": "", "web/package.json": VITEST}, [("api", PYTEST), ("web", "npm test")]),
        ({"src/app/__init__.py": "", "src/app/tests/test_a.py": ""}, [("src", PYTEST)]),
        # A test script at the root runs the members; without one, each member is a suite.
        (
            {
                "package.json": '{"workspaces": ["packages/*"], "scripts": {"test": "jest"}}',
                "packages/a/package.json": VITEST,
                "packages/b/package.json": VITEST,
                "site/package.json": VITEST,
            },
            [("", "npm test")],
        ),
        (
            {
                "package.json": '{"workspaces": {"packages": ["packages/*"]}}',
                "packages/a/package.json": VITEST,
                "packages/b/package.json": '{"scripts": {"test": "jest"}}',
                "packages/c/package.json": "{}",
            },
            [("packages/a", "npm test"), ("packages/b", "npm test")],
        ),
        (
            {
                "package.json": VITEST,
                "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n  - '!packages/b'\ncatalog:\n  - x\n",
                "packages/a/package.json": VITEST,
                "packages/b/package.json": VITEST,
            },
            [("", "npm test"), ("packages/b", "npm test")],
        ),
        # A workspace runs its crates, except those that it leaves out.
        (
            {
                "Cargo.toml": "[workspace]\nexclude = ['b']",
                "crates/a/Cargo.toml": "",
                "b/Cargo.toml": "",
                "fuzz/Cargo.toml": "",
            },
            [("", "cargo test --offline --workspace"), ("b", "cargo test --offline")],
        ),
        (
            {"go.mod": "", "a_test.go": "", "tools/go.mod": "", "cli/go.mod": "", "cli/a_test.go": ""},
            [("", "go test -v ./..."), ("cli", "go test -v ./...")],
        ),
        (
            {
                "pom.xml": "<modules><module>a</module></modules>",
                "a/pom.xml": "",
                "a/src/test/java/A.java": "",
                "b/pom.xml": "",
                "b/src/test/java/B.java": "",
            },
            [("", "mvn -o -B test"), ("b", "mvn -o -B test")],
        ),
        # pytest collects what is below it, unless that is a project of its own.
        (
            {
                "pyproject.toml": "[project]",
                "tests/test_a.py": "",
                "plugins/b/pyproject.toml": "[project]",
                "plugins/b/tests/test_b.py": "",
            },
            [("", f"{PYTEST} --ignore=plugins/b"), ("plugins/b", PYTEST)],
        ),
        (
            {
                "pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\n[tool.pytest.ini_options]",
                "packages/b/pyproject.toml": "[project]",
                "packages/b/tests/test_b.py": "",
            },
            [("packages/b", PYTEST)],
        ),
        # Examples, documents and data of tests are no suites below one.
        (
            {
                "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']",
                "tests/test_a.py": "",
                "examples/a/pyproject.toml": "[project]",
                "examples/a/tests/test_a.py": "",
                "docs/package.json": VITEST,
                "tests/data/Cargo.toml": "",
                "node_modules/x/package.json": VITEST,
                "third_party/y/go.mod": "",
                "third_party/y/a_test.go": "",
            },
            [("", PYTEST)],
        ),
        ({"examples/a/package.json": VITEST}, [("examples/a", "npm test")]),
        # Two languages with tests of their own are two suites of a folder; a recipe is none beside them.
        (
            {
                "setup.py": "",
                "tests/test_a.py": "",
                "package.json": '{"scripts": {"test": "jest"}}',
                "ui/a.test.js": "",
                "Makefile": MAKE,
            },
            [("", PYTEST), ("", "npm test")],
        ),
        (
            {
                "setup.py": "",
                "tests/test_a.py": "",
                "package.json": '{"scripts": {"test": "grunt"}}',
                "js/a.test.js": "",
            },
            [("", PYTEST)],
        ),
        (
            {
                "pyproject.toml": '[build-system]\nbuild-backend = "maturin"',
                "tests/test_a.py": "",
                "Cargo.toml": "",
            },
            [("", PYTEST)],
        ),
        (
            {"go.mod": "", "a_test.go": "", "scripts/test_release.py": "", "sub/Makefile": MAKE},
            [("", "go test -v ./...")],
        ),
    ],
)
def test_every_suite_of_a_tree_is_found_once(files: dict[str, str], found: list[tuple[str, str]]) -> None:
    assert [(suite.folder, suite.command) for suite in find(of(files)).suites] == found


def test_what_ranks_lower_in_a_folder_stays_a_candidate() -> None:
    found = find(tree("tests/test_a.py", Makefile=MAKE))
    assert [(suite.command, suite.counts) for suite in found.others] == [
        ("python -m unittest discover", "tests"),
        ("make test", "exit-code"),
    ]


def test_perl_that_has_to_be_compiled_can_be_tested_by_its_build() -> None:
    found = find(tree("Makefile.PL", "Build.PL", "A.xs", "t/a.t"))
    assert [suite.command for suite in (*found.suites, *found.others)] == [
        "prove -lr t",
        "perl Makefile.PL && make test",
        "perl Build.PL && ./Build test",
    ]


@pytest.mark.parametrize(
    ("files", "unknown"),
    [
        (["tests/all.sh"], ("tests/all.sh",)),
        (["lib/A.pm", "t/basic.t"], ("t/basic.t",)),
        (["a.sh", "t/t0001-init.sh"], ("t/t0001-init.sh",)),
        (["rebar.config", "test/a_SUITE.erl"], ("rebar.config", "test/a_SUITE.erl")),
        (["shard.yml", "spec/a_spec.cr"], ("spec/a_spec.cr",)),
        (["phpunit.xml", "tests/ATest.php"], ("phpunit.xml", "tests/ATest.php")),
        (["pytest.ini", "web/check.test.js"], ()),
        (["api/pytest.ini", "api/test_a.py", "web/check.test.js"], ("web/check.test.js",)),
        (["pytest.ini", "test_a.py", "App.sln", "tests/AppTests.cs"], ("App.sln",)),
        (["README.md", "vendor/x/tests/a.sh"], ()),
    ],
)
def test_signs_of_tests_that_no_suite_runs_are_named(files: list[str], unknown: tuple[str, ...]) -> None:
    assert find(of(dict.fromkeys(files, ""))).unknown == unknown


@pytest.mark.parametrize(
    ("files", "docker"),
    [
        ({"test_a.py": "", "requirements.txt": "pytest\ntestcontainers[postgres]"}, ("requirements.txt",)),
        (
            {"test_a.py": "", "pyproject.toml": '[dependency-groups]\ntest = ["pytest-docker"]'},
            ("pyproject.toml",),
        ),
        (
            {"package.json": '{"scripts": {"test": "docker compose -f a.yml up -d && jest"}}'},
            ("package.json",),
        ),
        ({"go.mod": "require github.com/testcontainers/testcontainers-go v1", "a_test.go": ""}, ("go.mod",)),
        ({"go.mod": "\tgithub.com/testcontainers/x v1 // indirect", "a_test.go": ""}, ()),
        ({"test_a.py": "", "docker-compose.yml": "", "pyproject.toml": "[tool.pytest.ini_options]"}, ()),
    ],
)
def test_tests_that_start_containers_are_recognised(files: dict[str, str], docker: tuple[str, ...]) -> None:
    assert find(of(files)).docker == docker


def test_of_more_suites_than_are_proposed_the_rest_is_named() -> None:
    found = find(of({f"p{number:02}/package.json": VITEST for number in range(MOST + 2)}))
    assert len(found.suites) == MOST
    assert found.unknown == ("p12/package.json", "p13/package.json")


MARKERS = [mark.name.replace("*", "js") for row in TABLE for mark in row.marks]
names = st.sampled_from(
    [
        *MARKERS,
        "uv.lock",
        "yarn.lock",
        "pnpm-lock.yaml",
        "requirements.txt",
        "tests/test_a.py",
        "a_test.go",
        "a.test.js",
    ]
    + [name.replace("*", "x") for name in FOREIGN]
)
paths = st.builds(
    lambda folder, name: f"{folder}{name}", st.sampled_from(["", "a/", "a/b/", "tests/", "x y/"]), names
)
hostile = st.text() | st.sampled_from(
    [
        "[",
        "{",
        '{"scripts": {"test": 1}, "workspaces": 3, "devDependencies": []}',
        '{"workspaces": [1, "**"]}',
        "[tool.pytest]\n[tool.hatch.envs]\ntest = 3\n[dependency-groups]\ntest = [{include-group = 'test'}]",
        "[testenv]\ncommands = pytest '\ndeps = -r",
        "[testenv\n=",
        "import nox\n@nox.session\ndef tests(s): s.run(*x); s.install('-r', y)",
        "[project.optional-dependencies]\ntest = 'pytest'\n[tool.poetry]\ngroup = 1",
        "-r requirements.txt",
        "<module></module><module>.</module><module>..</module>",
        "[" * 5000,
        '{"a":' * 5000,
    ]
)
projects = st.builds(
    lambda files: Project(dict.fromkeys(files, "o"), {name: files[name] for name in wanted(files)}),
    st.dictionaries(paths | st.text(max_size=60), hostile, max_size=12),
)


@given(projects)
def test_finding_is_total_and_depends_on_nothing_but_the_tree(project: Project) -> None:
    found = find(project)
    backwards = Project(dict(reversed([*project.names.items()])), dict(reversed([*project.texts.items()])))
    assert find(backwards) == found
    assert len(found.suites) <= MOST
    assert len({suite[:3] for suite in found.suites}) == len(found.suites)
    assert all(suite.command.isprintable() and "{" not in suite.command for suite in found.suites)
