"""Settings of notifications. Rule: a repository sets none of them, or it would learn what the user does."""

from __future__ import annotations

from typing import Final

from asbuilt.settings.setting import Kind, Setting, Value

_ELSEWHERE: Final = "env:NAME or file:PATH names where it is stored"


def _notify(
    name: str, meaning: str, special: Kind | None = None, default: Value = "", choices: tuple[str, ...] = ()
) -> Setting:
    stakes = "Your notifications would go to another address, or come at the wrong time."
    key = f"notify.{name}"
    read_by = "doctor notify"
    return Setting(key, meaning, stakes, default, choices, read_by=read_by, special=special, private=True)


NOTIFY: Final = (
    _notify(
        "webhook",
        f"an address that gets signed JSON when a run needs you, parks, fails or lands; {_ELSEWHERE}",
    ),
    _notify(
        "secret", "where the secret is that signs for the webhook: env:NAME or file:PATH; empty: not signed"
    ),
    _notify("ntfy", f"the address of an ntfy topic, for your phone; {_ELSEWHERE}"),
    _notify("token", "where the token for ntfy is stored: env:NAME or file:PATH; empty: none is needed"),
    _notify("slack", f"an address that takes messages as Slack does; {_ELSEWHERE}"),
    _notify(
        "quiet",
        "hours without notifications, as in 22:00-07:00; at their end you get one message with all of them;"
        " empty: none",
        Kind.HOURS,
    ),
    _notify(
        "urgent",
        "notifications that are sent in quiet hours, too",
        Kind.CHOICES,
        (),
        ("needs", "parked", "failed", "landed", "proven"),
    ),
)
