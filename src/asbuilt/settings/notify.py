"""What can be chosen about notifications. A repository sets none of it: it would learn what you do."""

from __future__ import annotations

from typing import Final

MEANINGS: Final = {
    "webhook": "an address that gets signed JSON when a run needs you, parks, fails or lands; env:NAME or"
    " file:PATH: where it stands",
    "secret": "where the secret stands that signs for the webhook: env:NAME or file:PATH; empty: not signed",
    "ntfy": "the address of an ntfy topic, for your phone; env:NAME or file:PATH: where it stands",
    "token": "where the token for ntfy stands: env:NAME or file:PATH; empty: none is needed",
    "slack": "an address that takes messages as Slack does; env:NAME or file:PATH: where it stands",
}
QUIET: Final = (
    "hours in which nothing is said, as in 22:00-07:00; what was to be said comes at their end, as one"
    " message; empty: none"
)
URGENT: Final = "what is said in quiet hours, too"
TOPICS: Final = ("needs", "parked", "failed", "landed", "proven")
STAKES: Final = "What happens here would be told to somebody else, or to you at the wrong time."
