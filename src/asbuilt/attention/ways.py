"""Build the HTTP notification channels from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.attention.posting import Posting, ntfy, slack, webhook
from asbuilt.attention.references import variable_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.settings import Settings

_POINTING: Final = ("webhook", "secret", "ntfy", "token", "slack")


def posts(settings: Settings, environ: Mapping[str, str]) -> dict[str, Posting]:
    """Return every configured channel by name."""
    urls = {way: settings.text(f"notify.{way}") for way in ("webhook", "ntfy", "slack")}
    made = {
        "webhook": webhook(urls["webhook"], settings.text("notify.secret"), environ),
        "ntfy": ntfy(urls["ntfy"], settings.text("notify.token"), environ),
        "slack": slack(urls["slack"], environ),
    }
    return {way: Posting(way, made[way]) for way, url in urls.items() if url}


def variables(settings: Settings) -> list[str]:
    """Return the environment variables that the channels refer to."""
    values = (settings.text(f"notify.{name}") for name in _POINTING)
    return [name for name in map(variable_in, values) if name]
