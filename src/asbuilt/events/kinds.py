"""Every kind of event that this version of asbuilt writes and reads."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from asbuilt.events.approvals import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalPutOff,
    ReviewAsked,
    ReviewClosed,
)
from asbuilt.events.attempts import (
    AttemptBegun,
    AttemptEnded,
    AttemptLetGo,
    AttemptLost,
    ChecksDone,
    DriftFound,
    TogetherDone,
    TogetherJudged,
    TogetherJudging,
    TogetherUnjudged,
    TreeKept,
    TreeRefused,
    VerdictGiven,
    VerifierBegun,
    VerifierEnded,
)
from asbuilt.events.authoring import (
    StageJudged,
    TaskJudged,
    TaskPosted,
)
from asbuilt.events.landings import (
    LandingDone,
    LandingIntended,
    LandingRecovered,
    LandingRefused,
    LandingTidied,
    LandingUndone,
    LandingUnsigned,
)
from asbuilt.events.phases import (
    BaselineDone,
    PhaseBegun,
    PhaseMarked,
    PhaseProven,
    PhaseRechecked,
    PicturesTaken,
    SetupDone,
    SignOffWanted,
    TestsResolved,
    WorkspaceMade,
)
from asbuilt.events.plans import (
    AnswerTaken,
    DraftTried,
    DraftWritten,
    PlanApproved,
    PlanCarried,
    PlanCompared,
    PlanCompleted,
    PlanDiffers,
    PlanFiled,
    PlanMarked,
    PlanNoted,
    PlanRedrafted,
    PlanRefining,
)
from asbuilt.events.pulls import (
    IssueHeld,
    IssuesTelling,
    IssuesTold,
    PullBlocked,
    PullDropping,
    PullIntended,
    PullInvariants,
    PullMended,
    PullMerged,
    PullMerging,
    PullOpened,
    PullOpening,
    PullPushed,
    PullRefused,
    PullSeen,
)
from asbuilt.events.runs import (
    AttentionCalled,
    ClaimAcquired,
    ClaimBroken,
    ClaimReleased,
    JournalBehind,
    PauseAsked,
    ReportWritten,
    ResumeAsked,
    RunEnded,
    RunHastened,
    RunParked,
    RunRequested,
    RunStarted,
    RunTakenOver,
    SettingsChanged,
    StopAsked,
    TroubleMet,
)
from asbuilt.events.schedules import (
    ScheduleDeferred,
    ScheduleEnded,
    ScheduleFired,
    ScheduleMoved,
    ScheduleSet,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.events.event import Event

Known = (
    RunRequested
    | RunStarted
    | RunParked
    | RunEnded
    | RunTakenOver
    | PauseAsked
    | ResumeAsked
    | RunHastened
    | StopAsked
    | TroubleMet
    | JournalBehind
    | SettingsChanged
    | ClaimAcquired
    | ClaimReleased
    | ClaimBroken
    | AttentionCalled
    | ReportWritten
    | AttemptBegun
    | AttemptEnded
    | AttemptLost
    | AttemptLetGo
    | TreeKept
    | TreeRefused
    | ChecksDone
    | VerifierBegun
    | VerifierEnded
    | VerdictGiven
    | DriftFound
    | TogetherDone
    | TogetherJudging
    | TogetherUnjudged
    | TogetherJudged
    | WorkspaceMade
    | TestsResolved
    | SetupDone
    | BaselineDone
    | PhaseBegun
    | PhaseProven
    | PhaseRechecked
    | PhaseMarked
    | SignOffWanted
    | PicturesTaken
    | LandingIntended
    | LandingDone
    | LandingRefused
    | LandingRecovered
    | LandingTidied
    | LandingUndone
    | LandingUnsigned
    | PullIntended
    | PullPushed
    | PullOpening
    | PullOpened
    | PullSeen
    | PullBlocked
    | PullMended
    | PullMerging
    | PullMerged
    | PullRefused
    | PullDropping
    | PullInvariants
    | IssuesTelling
    | IssuesTold
    | IssueHeld
    | DraftWritten
    | DraftTried
    | AnswerTaken
    | PlanApproved
    | PlanCarried
    | PlanFiled
    | PlanRefining
    | PlanRedrafted
    | PlanNoted
    | PlanDiffers
    | PlanCompared
    | PlanMarked
    | PlanCompleted
    | ApprovalAsked
    | ApprovalAnswered
    | ApprovalPutOff
    | ReviewAsked
    | ReviewClosed
    | ScheduleSet
    | ScheduleEnded
    | ScheduleFired
    | ScheduleMoved
    | ScheduleDeferred
    | StageJudged
    | TaskJudged
    | TaskPosted
)
KINDS: Final[Mapping[str, type[Event]]] = MappingProxyType({one.kind: one for one in get_args(Known)})
"""The classes by the names under which journals have them."""
