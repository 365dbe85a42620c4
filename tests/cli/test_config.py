"""`config` shows what holds and who said so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from inline_snapshot import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_show_lists_every_setting(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show") == snapshot("""\
exit 0
--- stdout
KEY                      VALUE
plans.folder             plans
plan.length              control
ui.patterns              []
ui.pictures              ""
ui.tester                off
checks.tests             ""
checks.suites            []
checks.counts            tests
checks.setup             ""
checks.minutes           45
checks.services          []
checks.env               []
setup.env                []
checks.granted           []
setup.credentials        []
scope.outside            sign-off
scope.plan               block
scope.ci                 sign-off
scope.hooks              sign-off
scope.git                sign-off
scope.agents             sign-off
scope.editors            sign-off
scope.tools              sign-off
scope.links              sign-off
scope.settings           block
scope.locks              sign-off
scope.dependencies       sign-off
scope.suppressions       sign-off
scope.limits             sign-off
scope.checked            sign-off
proof.depth              normal
checks.probe             true
landing.mode             cherry-pick
landing.direct           allow
landing.sign             auto
landing.programs         []
landing.branch_prefix    feat/
landing.reports          ""
landing.ci_poll_s        30
landing.ci_limit_s       600
landing.ci_fixes         2
sandbox.required         true
sandbox.network          list
sandbox.setup            list
sandbox.hosts            []
sandbox.readable         []
planning.tools           []
author.mode              fitting
author.profile           expedient
author.explorers         2
author.planners          1
author.needs_items       3
author.asks_items        5
author.needs_files       2
author.asks_files        5
author.needs_options     2
author.asks_options      3
author.needs_principles  3
author.asks_principles   8
author.principles        ""
plan.template            ""
approvals.plan           []
store.url                ""
store.blobs              ""
fleet.labels             []
fleet.mirrors_gb         20
fleet.attempts           ""
retention.days           30
telemetry.endpoint       ""
agents.slots             2
run.lanes                2
agents.implement         ""
agents.min_model         ""
roles.implement          ""
roles.fix                ""
roles.verify             ""
roles.test               ""
roles.plan               ""
roles.critique           ""
limits.usd               15
limits.tokens            0
limits.hours             0
power.inhibit            true
attention.desktop        true
attention.bell           true
notify.webhook           ""
notify.secret            ""
notify.ntfy              ""
notify.token             ""
notify.slack             ""
notify.quiet             ""
notify.urgent            []
schedule.offset          3
time.zone                ""
""")


def test_show_origin_names_file_and_line(asbuilt: Callable[..., str], shop: Path, tmp_path: Path) -> None:
    (shop / "pyproject.toml").write_text('[tool.asbuilt]\nplansDirectory = "docs/plans"\n')
    (tmp_path / "organisation.toml").write_text(
        'locked = ["sandbox.required"]\n[sandbox]\nrequired = true\n[time]\nzone = "Europe/Prague"\n'
    )
    assert asbuilt("config", "show", "--origin", ASBUILT_LANDING_MODE="pr") == snapshot("""\
exit 0
--- stdout
KEY                      VALUE          SET BY
plans.folder             docs/plans     pyproject.toml:2
plan.length              control        default
ui.patterns              []             default
ui.pictures              ""             default
ui.tester                off            default
checks.tests             ""             default
checks.suites            []             default
checks.counts            tests          default
checks.setup             ""             default
checks.minutes           45             default
checks.services          []             default
checks.env               []             default
setup.env                []             default
checks.granted           []             default
setup.credentials        []             default
scope.outside            sign-off       default
scope.plan               block          default
scope.ci                 sign-off       default
scope.hooks              sign-off       default
scope.git                sign-off       default
scope.agents             sign-off       default
scope.editors            sign-off       default
scope.tools              sign-off       default
scope.links              sign-off       default
scope.settings           block          default
scope.locks              sign-off       default
scope.dependencies       sign-off       default
scope.suppressions       sign-off       default
scope.limits             sign-off       default
scope.checked            sign-off       default
proof.depth              normal         default
checks.probe             true           default
landing.mode             pr             ASBUILT_LANDING_MODE
landing.direct           allow          default
landing.sign             auto           default
landing.programs         []             default
landing.branch_prefix    feat/          default
landing.reports          ""             default
landing.ci_poll_s        30             default
landing.ci_limit_s       600            default
landing.ci_fixes         2              default
sandbox.required         true           ../organisation.toml:3 (locked)
sandbox.network          list           default
sandbox.setup            list           default
sandbox.hosts            []             default
sandbox.readable         []             default
planning.tools           []             default
author.mode              fitting        default
author.profile           expedient      default
author.explorers         2              default
author.planners          1              default
author.needs_items       3              default
author.asks_items        5              default
author.needs_files       2              default
author.asks_files        5              default
author.needs_options     2              default
author.asks_options      3              default
author.needs_principles  3              default
author.asks_principles   8              default
author.principles        ""             default
plan.template            ""             default
approvals.plan           []             default
store.url                ""             default
store.blobs              ""             default
fleet.labels             []             default
fleet.mirrors_gb         20             default
fleet.attempts           ""             default
retention.days           30             default
telemetry.endpoint       ""             default
agents.slots             2              default
run.lanes                2              default
agents.implement         ""             default
agents.min_model         ""             default
roles.implement          ""             default
roles.fix                ""             default
roles.verify             ""             default
roles.test               ""             default
roles.plan               ""             default
roles.critique           ""             default
limits.usd               15             default
limits.tokens            0              default
limits.hours             0              default
power.inhibit            true           default
attention.desktop        true           default
attention.bell           true           default
notify.webhook           ""             default
notify.secret            ""             default
notify.ntfy              ""             default
notify.token             ""             default
notify.slack             ""             default
notify.quiet             ""             default
notify.urgent            []             default
schedule.offset          3              default
time.zone                Europe/Prague  ../organisation.toml:5
""")


def test_show_as_json_is_one_line_with_a_schema(asbuilt: Callable[..., str]) -> None:
    shown = asbuilt("config", "show", "landing.mode", "--json")
    assert json.loads(shown.removeprefix("exit 0\n--- stdout\n")) == snapshot(
        {
            "schema": "asbuilt.config/1",
            "settings": [
                {
                    "key": "landing.mode",
                    "value": "cherry-pick",
                    "origin": {"layer": "default", "name": "default", "line": None, "locked": False},
                    "default": "cherry-pick",
                    "choices": ["cherry-pick", "pr", "direct"],
                    "meaning": "how proven commits reach the target branch",
                    "repository_may_set": True,
                    "read_by": "run",
                }
            ],
            "problems": [],
        }
    )


def test_show_tells_what_is_wrong_and_still_shows_the_rest(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "asbuilt.toml").write_text(
        '\n\n[landing]\n# why not\n\n\nmode = "merge"\n[sandbox]\nrequired = false\n'
    )
    assert asbuilt("config", "show", "--origin") == snapshot("""\
exit 2
--- stdout
KEY                      VALUE        SET BY
plans.folder             plans        default
plan.length              control      default
ui.patterns              []           default
ui.pictures              ""           default
ui.tester                off          default
checks.tests             ""           default
checks.suites            []           default
checks.counts            tests        default
checks.setup             ""           default
checks.minutes           45           default
checks.services          []           default
checks.env               []           default
setup.env                []           default
checks.granted           []           default
setup.credentials        []           default
scope.outside            sign-off     default
scope.plan               block        default
scope.ci                 sign-off     default
scope.hooks              sign-off     default
scope.git                sign-off     default
scope.agents             sign-off     default
scope.editors            sign-off     default
scope.tools              sign-off     default
scope.links              sign-off     default
scope.settings           block        default
scope.locks              sign-off     default
scope.dependencies       sign-off     default
scope.suppressions       sign-off     default
scope.limits             sign-off     default
scope.checked            sign-off     default
proof.depth              normal       default
checks.probe             true         default
landing.mode             cherry-pick  default
landing.direct           allow        default
landing.sign             auto         default
landing.programs         []           default
landing.branch_prefix    feat/        default
landing.reports          ""           default
landing.ci_poll_s        30           default
landing.ci_limit_s       600          default
landing.ci_fixes         2            default
sandbox.required         true         default
sandbox.network          list         default
sandbox.setup            list         default
sandbox.hosts            []           default
sandbox.readable         []           default
planning.tools           []           default
author.mode              fitting      default
author.profile           expedient    default
author.explorers         2            default
author.planners          1            default
author.needs_items       3            default
author.asks_items        5            default
author.needs_files       2            default
author.asks_files        5            default
author.needs_options     2            default
author.asks_options      3            default
author.needs_principles  3            default
author.asks_principles   8            default
author.principles        ""           default
plan.template            ""           default
approvals.plan           []           default
store.url                ""           default
store.blobs              ""           default
fleet.labels             []           default
fleet.mirrors_gb         20           default
fleet.attempts           ""           default
retention.days           30           default
telemetry.endpoint       ""           default
agents.slots             2            default
run.lanes                2            default
agents.implement         ""           default
agents.min_model         ""           default
roles.implement          ""           default
roles.fix                ""           default
roles.verify             ""           default
roles.test               ""           default
roles.plan               ""           default
roles.critique           ""           default
limits.usd               15           default
limits.tokens            0            default
limits.hours             0            default
power.inhibit            true         default
attention.desktop        true         default
attention.bell           true         default
notify.webhook           ""           default
notify.secret            ""           default
notify.ntfy              ""           default
notify.token             ""           default
notify.slack             ""           default
notify.quiet             ""           default
notify.urgent            []           default
schedule.offset          3            default
time.zone                ""           default
--- stderr
error: asbuilt.toml:7: landing.mode "merge" is not cherry-pick, pr, direct
  Why:  A guessed landing could move the wrong branch.
  Next: ${EDITOR:-vi} +7 asbuilt.toml
error: asbuilt.toml:9: a repository may not set sandbox.required
  Why:  Other people write a repository's settings; only you may choose this
        one. An agent could run without the protection you count on.
  Next: ${EDITOR:-vi} +9 asbuilt.toml
        # to remove it
    or  set it for yourself: asbuilt config set sandbox.required VALUE
""")
