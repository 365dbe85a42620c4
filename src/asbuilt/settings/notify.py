"""Settings of notifications. Rule: a repository sets none of them, or it would learn what the user does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.settings.setting import Kind, Setting

if TYPE_CHECKING:
    from asbuilt.settings.setting import Value

_ELSEWHERE: Final = "env:NAME or file:PATH: where it stands"


def _notify(
    name: str,
    meaning: str,
    kind: Kind = Kind.TEXT,
    default: Value = "",
    choices: tuple[str, ...] = (),
) -> Setting:
    stakes = "What happens here would be told to somebody else, or to you at the wrong time."
    return Setting(f"notify.{name}", kind, default, meaning, stakes, choices, read_by="notify", private=True)


NOTIFY: Final = (
    _notify(
        "webhook",
        f"an address that gets signed JSON when a run needs you, parks, fails or lands; {_ELSEWHERE}",
    ),
    _notify(
        "secret",
        "where the secret stands that signs for the webhook: env:NAME or file:PATH; empty: not signed",
    ),
    _notify("ntfy", f"the address of an ntfy topic, for your phone; {_ELSEWHERE}"),
    _notify("token", "where the token for ntfy stands: env:NAME or file:PATH; empty: none is needed"),
    _notify("slack", f"an address that takes messages as Slack does; {_ELSEWHERE}"),
    _notify(
        "quiet",
        "hours in which nothing is said, as in 22:00-07:00; what was to be said comes at their end, as one"
        " message; empty: none",
        Kind.HOURS,
    ),
    _notify(
        "urgent",
        "what is said in quiet hours, too",
        Kind.CHOICES,
        (),
        ("needs", "parked", "failed", "landed", "proven"),
    ),
)
