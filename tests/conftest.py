"""Settings for every test: how many examples a property is tried on, and whether by chance."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# 2,000 examples are the promise wherever the suite runs, and always the same ones: what a run shows can be
# shown again. `just hunt` tries others, by chance; what it finds becomes a case or an example.
for name, examples, by_chance in (("ci", 2_000, False), ("quick", 100, True), ("hunt", 10_000, True)):
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=not by_chance,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
