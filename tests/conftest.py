"""Settings for every test: hypothesis profiles, and an environment without the developer's own settings."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# "ci" is the default: the promise is 2,000 examples for each property, wherever the suite runs.
for name, examples in {"ci": 2_000, "quick": 100}.items():
    settings.register_profile(
        name, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
