"""Which packages a phase adds, and which of them its plan allows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.projects.dependencies import allowed_in, dependencies_in, remarks_on_packages
from asbuilt.proof.suites.model import Change, Order, Severity

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
[project]
dependencies = ["Requests>=2", "rich"]
[project.optional-dependencies]
test = ["pytest"]
[dependency-groups]
dev = ["ruff", {include-group = "x"}]
[tool.poetry.dependencies]
python = "^3.11"
attrs = "^23"
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        (
            "pyproject.toml",
            PYPROJECT,
            {
                "requests": "Requests>=2",
                "rich": "rich",
                "hatchling": "hatchling",
                "pytest": "pytest",
                "ruff": "ruff",
                "attrs": "attrs ^23",
            },
        ),
        ("requirements/dev.txt", "six==1 # why\n-r other.txt\n", {"six": "six==1"}),
        ("setup.cfg", "[options]\ninstall_requires =\n  six\n  attrs\n", {"six": "six", "attrs": "attrs"}),
        (
            "web/package.json",
            '{"dependencies": {"left-pad": "1"}, "devDependencies": {"jest": "^29"}}',
            {"left-pad": "1", "jest": "^29"},
        ),
        (
            "Cargo.toml",
            '[dependencies]\nserde = "1"\n[dev-dependencies]\nrand = "0.8"\n',
            {"serde": "1", "rand": "0.8"},
        ),
        (
            "go.mod",
            "module x\nrequire (\n\texample.org/a/b v1.2.3\n)\nrequire example.org/c v0.1.0\n",
            {"example.org/a/b": "v1.2.3", "example.org/c": "v0.1.0"},
        ),
        ("Gemfile", "gem 'rails', '~> 7'\n", {"rails": "'~> 7'"}),
        (
            "pom.xml",
            "<dependency><groupId>g</groupId><artifactId>a</artifactId><version>1</version></dependency>",
            {"g:a": "1"},
        ),
        ("src/app.py", "import six\n", {}),
    ],
)
def test_a_manifest_names_its_packages(path: str, text: str, found: dict[str, str]) -> None:
    assert dependencies_in(path, text) == found


@given(
    st.sampled_from(["pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "go.mod", "pom.xml"]),
    st.text(),
)
def test_reading_a_manifest_is_total(path: str, text: str) -> None:
    assert isinstance(dependencies_in(path, text), dict)


@pytest.mark.parametrize(
    "line",
    [
        "**Allows:** dependency inflection",
        "**Allows**: dependencies `six`, `Inflection`.",
        "- **Allows:** package inflection",
    ],
)
def test_a_plan_allows_a_package_by_name(line: str) -> None:
    assert allowed_in(f"## Phase 1\n{line}\n")["inflection"] == line


@pytest.mark.parametrize(
    "line", ["Allows: inflection", "**Allows:** anything", "uses the dependency inflection"]
)
def test_other_words_allow_no_package(line: str) -> None:
    assert "inflection" not in allowed_in(line)


def test_each_package_that_a_phase_adds_or_changes_is_put_to_a_person_unless_the_plan_allows_it() -> None:
    change = Change("requirements.txt", b"six==1\nattrs\nold\n", b"six==2\nattrs\nrich\ninflection\n")
    found = remarks_on_packages([change], Order("**Allows:** dependency inflection\n"), Severity.SIGN_OFF)
    assert [(one.rule, one.severity, one.was, one.now, one.cited) for one in found] == [
        ("dependency-changed", Severity.SIGN_OFF, "six==1", "six==2", ""),
        ("dependency-added", Severity.SIGN_OFF, "", "rich", ""),
        ("dependency-added", Severity.ALLOWED, "", "inflection", "**Allows:** dependency inflection"),
    ]


def test_a_version_that_the_phase_gives_itself_is_ordered_and_a_new_package_never_is() -> None:
    change = Change("requirements.txt", b"attrs==23.1.0\nsix==1.0\n", b"attrs==25.3.0\nsix==1.1\nrich==1.2\n")
    text = "- [ ] `attrs` goes to 25.3.0; six stays\n- [ ] rich 1.2 is used"
    found = remarks_on_packages([change], Order(text), Severity.SIGN_OFF)
    assert [(one.now, one.severity, one.cited) for one in found] == [
        ("attrs==25.3.0", Severity.ALLOWED, "- [ ] `attrs` goes to 25.3.0; six stays"),
        ("six==1.1", Severity.SIGN_OFF, ""),
        ("rich==1.2", Severity.SIGN_OFF, ""),
    ]
