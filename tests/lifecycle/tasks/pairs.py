"""A pair of views as somebody has it before asbuilt comes: keys and text that only they know."""

from __future__ import annotations

from asbuilt.lifecycle.tasks.todo import Pair

STATE = b"""{
    "next_project_number": 416,
    "repository_health": {"status": "manageable", "ratio": 1.50},
    "active_projects": [
        {
            "project_number": 414,
            "project_name": "create_planner_agent",
            "status": "planned",
            "language": "meta",
            "effort": "2 hours",
            "dependencies": [413],
            "artifacts": [
                {"type": "research", "path": "specs/414_create_planner_agent/reports/01_planner.md",
                 "summary": "What a planner needs.", "words": 812},
                {"type": "plan", "path": "specs/414_create_planner_agent/plans/01_planner.md", "summary": ""}
            ],
            "next_artifact_number": 2
        },
        {"project_number": 415, "project_name": "caf\xc3\xa9_menu", "status": "not_started",
         "description": "List what the caf\xc3\xa9 sells."}
    ],
    "completed_projects": [{"project_number": 12, "status": "completed"}]
}"""

TODO = b"""---
next_project_number: 416
---

# TODO

Ours since 2019. *Keep it short.*

## Task Order

1. **414** [PLANNED] -- planner first
2. **415** [NOT STARTED]

## Tasks

### 415. Menu of the caf\xc3\xa9
- **Effort**: 1 hour
- **Status**: [NOT STARTED]

**Description**: List what it sells:

```markdown
### 900. Not a task
- **Status**: [COMPLETED]
```

---

### 414. Create planner agent
- **Effort**: 2 hours
- **Status**: [PLANNED]
- **Language**: meta
- **Research**: [414_create_planner_agent/reports/01_planner.md]
- **Plan**:
  - [01_planner.md](specs/414_create_planner_agent/plans/01_planner.md)

**Description**: A planner that only plans. \xff

## Notes
Nothing here is a task: [PLANNED]
"""

PAIR = Pair(STATE, TODO)
