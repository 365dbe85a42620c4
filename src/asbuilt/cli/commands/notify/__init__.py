"""`asbuilt notify`: test the notification channels."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "notify",
    help="The ways to you when a run needs you, parks, fails or lands: desktop, webhook, ntfy, Slack.",
    examples=[
        ("asbuilt notify test", "send a message by every way, and see what each answers"),
        ("asbuilt notify test ntfy", "by this one"),
    ],
    commands={"test": Lazy("notify.test:command", "send a message, and see what is answered")},
)
