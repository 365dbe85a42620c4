"""Show and set settings."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "config",
    help=(
        "Show and set what you have chosen.\n\n"
        "The highest wins: environment (ASBUILT_LANDING_MODE), the repository's asbuilt.toml or"
        " [tool.asbuilt], your own file, the organisation's file, default. Values that the"
        " organisation locks win over all others."
    ),
    examples=[
        ("asbuilt config show --origin", "every setting, and who set it"),
        ('asbuilt config set checks.tests "uv run pytest -q"', "for everybody who works here"),
        ("asbuilt config set plans.folder docs/plans --user", "for yourself, everywhere"),
    ],
    commands={
        "show": Lazy("config.show:command", "every setting, its value and who set it"),
        "set": Lazy("config.set:command", "change one value in a settings file"),
        "unset": Lazy("config.set:unset", "remove one value from a settings file"),
    },
)
