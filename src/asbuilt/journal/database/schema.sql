-- The journal's tables as numbered migrations. Rule: a released migration is never edited; a new one is
-- appended. The words in braces differ between SQLite and Postgres: see schema.py.

-- migration 1: first
CREATE TABLE repositories (
    org text NOT NULL, repo text NOT NULL, path text NOT NULL, inode text NOT NULL, remote text,
    seen_at text NOT NULL, PRIMARY KEY (org, repo));
-- One head row per plan: it numbers the plan's events and has the columns that lists filter and sort by.
CREATE TABLE heads (
    org text NOT NULL, repo text NOT NULL, plan text NOT NULL, slug text NOT NULL, seq integer NOT NULL,
    epoch integer NOT NULL, runs integer NOT NULL, state text NOT NULL, changed_at text NOT NULL,
    PRIMARY KEY (org, repo, plan));
CREATE INDEX heads_by_change ON heads (org, repo, changed_at);
CREATE TABLE events (
    {feed_column}, org text NOT NULL, repo text NOT NULL, plan text NOT NULL, seq integer NOT NULL,
    key text NOT NULL, kind text NOT NULL, v integer NOT NULL, at text NOT NULL, actor text NOT NULL,
    data text NOT NULL, {events_key} (org, repo, plan, seq), UNIQUE (org, repo, plan, key));
CREATE TABLE revisions (
    org text NOT NULL, repo text NOT NULL, plan text NOT NULL, digest text NOT NULL, intent text NOT NULL,
    blob text NOT NULL, at text NOT NULL, PRIMARY KEY (org, repo, plan, digest));
CREATE TABLE runs (
    org text NOT NULL, repo text NOT NULL, run text NOT NULL, plan text NOT NULL, number integer NOT NULL,
    state text NOT NULL, needs integer NOT NULL, options text NOT NULL, stop text, at text NOT NULL,
    ended_at text, PRIMARY KEY (org, repo, run), UNIQUE (org, repo, plan, number));
CREATE TABLE segments (
    org text NOT NULL, repo text NOT NULL, run text NOT NULL, n integer NOT NULL, due_at text NOT NULL,
    why text NOT NULL, closed_at text, PRIMARY KEY (org, repo, run, n));
CREATE INDEX open_segments ON segments (due_at) WHERE closed_at IS NULL;
CREATE TABLE claims (
    org text NOT NULL, repo text NOT NULL, plan text NOT NULL, run text NOT NULL, epoch integer NOT NULL,
    mode text NOT NULL, phase text, host text NOT NULL, since text NOT NULL,
    PRIMARY KEY (org, repo, plan));
CREATE TABLE approvals (
    org text NOT NULL, repo text NOT NULL, number integer NOT NULL, key text NOT NULL,
    plan text NOT NULL, run text NOT NULL, phase text, kind text NOT NULL, question text NOT NULL,
    intent text,
    asked_by text NOT NULL, asked_at text NOT NULL, answer text, answered_by text, answered_at text,
    note text, PRIMARY KEY (org, repo, number), UNIQUE (org, repo, key));
CREATE TABLE workers (
    org text NOT NULL, worker text NOT NULL, host text NOT NULL, pid integer NOT NULL,
    build text NOT NULL, beat_at text NOT NULL, draining integer NOT NULL, PRIMARY KEY (org, worker));

-- migration 2: flat
-- Every list for users is served by an index, however long the history is.
DROP INDEX heads_by_change;
CREATE INDEX heads_newest ON heads (org, repo, changed_at DESC, plan);
CREATE INDEX heads_by_slug ON heads (org, repo, slug);
-- A head has the state of its newest run, so that plans to resume are found without reading the others.
UPDATE heads SET state = coalesce((SELECT run.state FROM runs AS run WHERE run.org = heads.org
    AND run.repo = heads.repo AND run.plan = heads.plan AND run.number = heads.runs), state);
CREATE INDEX heads_to_resume ON heads (org, repo, changed_at DESC, plan)
    WHERE state IN ('requested', 'running', 'waiting', 'paused', 'failed', 'stopped');
CREATE INDEX open_runs ON runs (org, repo, at) WHERE ended_at IS NULL;
DROP INDEX open_segments;
CREATE INDEX open_segments ON segments (org, due_at, run) WHERE closed_at IS NULL;
CREATE INDEX open_segments_here ON segments (org, repo, due_at, run) WHERE closed_at IS NULL;
CREATE INDEX claims_by_age ON claims (org, repo, since);
CREATE INDEX repositories_newest ON repositories (org, seen_at DESC, path);
CREATE INDEX waiting_approvals ON approvals (org, repo, number) WHERE answer IS NULL;
CREATE INDEX waiting_approvals_of ON approvals (org, repo, run, number) WHERE answer IS NULL;
-- The subject of a question is its key without the run's id.
CREATE INDEX answered_approvals
    ON approvals (org, repo, substr(key, 1, length(key) - length(run)), answered_at, number);

-- migration 3: workers
-- The worker that has a segment; NULL: any worker may claim it. A worker reads only its own waiting
-- segments.
ALTER TABLE segments ADD COLUMN worker text;
CREATE INDEX free_segments ON segments (org, due_at) WHERE closed_at IS NULL AND worker IS NULL;
CREATE INDEX held_segments ON segments (org, worker, due_at)
    WHERE closed_at IS NULL AND worker IS NOT NULL;
-- Incremented when other workers give a worker up, so that its next heartbeat is rejected.
ALTER TABLE workers ADD COLUMN epoch integer NOT NULL DEFAULT 0;
-- The machine that has the repository: a run works in a checkout, which other machines do not have.
ALTER TABLE repositories ADD COLUMN machine text;

-- migration 4: memory
CREATE TABLE memories (
    org text NOT NULL, repo text NOT NULL, number integer NOT NULL, key text NOT NULL, kind text NOT NULL,
    said text NOT NULL, files text NOT NULL, plan text NOT NULL, at text NOT NULL, actor text NOT NULL,
    PRIMARY KEY (org, repo, number), UNIQUE (org, repo, key));

-- migration 5: schedules
CREATE TABLE schedules (
    org text NOT NULL, repo text NOT NULL, plan text NOT NULL, schedule text NOT NULL, slug text NOT NULL,
    cadence text NOT NULL, zone text NOT NULL, options text NOT NULL, actor text NOT NULL,
    since text NOT NULL, slot text NOT NULL, due_at text NOT NULL, set_at text NOT NULL, phase text,
    deferrals integer NOT NULL, PRIMARY KEY (org, repo, plan));
CREATE INDEX schedules_by_due ON schedules (org, due_at, plan);
-- Detects a clock that was set back without reading every schedule.
CREATE INDEX schedules_by_set ON schedules (org, set_at);
CREATE INDEX schedules_of_repo ON schedules (org, repo, due_at, plan);

-- migration 6: issues
CREATE TABLE issue_claims (
    org text NOT NULL, repo text NOT NULL, number integer NOT NULL, plan text NOT NULL,
    since text NOT NULL, PRIMARY KEY (org, repo, number));
CREATE INDEX issue_claims_of ON issue_claims (org, repo, plan);

-- migration 7: ledger
-- One head row per repository: it numbers its task events and its tasks.
CREATE TABLE ledgers (
    org text NOT NULL, repo text NOT NULL, seq integer NOT NULL, next_number integer NOT NULL,
    imported integer NOT NULL, writing text, PRIMARY KEY (org, repo));
CREATE TABLE tasks (
    org text NOT NULL, repo text NOT NULL, number integer NOT NULL, data text NOT NULL,
    PRIMARY KEY (org, repo, number));
CREATE TABLE task_events (
    org text NOT NULL, repo text NOT NULL, seq integer NOT NULL, key text NOT NULL,
    number integer NOT NULL, kind text NOT NULL, at text NOT NULL, actor text NOT NULL,
    data text NOT NULL, PRIMARY KEY (org, repo, seq), UNIQUE (org, repo, key));
CREATE INDEX task_history ON task_events (org, repo, number, seq);

-- migration 8: notices
-- Notifications that are still to be sent, one row per channel; `said` is the error of the last try.
CREATE TABLE notices (
    org text NOT NULL, repo text NOT NULL, plan text NOT NULL, key text NOT NULL, way text NOT NULL,
    run text NOT NULL, due_at text NOT NULL, tries integer NOT NULL, said text, said_at text,
    done_at text, PRIMARY KEY (org, repo, plan, key, way));
CREATE INDEX due_notices ON notices (org, way, due_at) WHERE done_at IS NULL;
CREATE INDEX answered_notices ON notices (org, said_at) WHERE said_at IS NOT NULL;

-- migration 9: reviews
-- Drafts that are under review as pull requests; `said` is the error of the last query.
CREATE TABLE reviews (
    org text NOT NULL, repo text NOT NULL, plan text NOT NULL, run text NOT NULL, pull integer NOT NULL,
    url text NOT NULL, question integer NOT NULL, head text NOT NULL, options text NOT NULL,
    due_at text NOT NULL, looks integer NOT NULL, troubles integer NOT NULL, looked_at text, said text,
    PRIMARY KEY (org, repo, plan));
CREATE INDEX reviews_by_due ON reviews (org, due_at, plan);

-- migration 10: to land
CREATE INDEX heads_to_land ON heads (org, repo, changed_at DESC, plan)
    WHERE state IN ('held', 'pr-ready', 'pr-ci-failing');

-- migration 11: dispatch
-- The engine dispatches segments. `executor` is the worker that started a segment, `token` the
-- number of the execution that may write, `asked` is 1 until a worker has enqueued the segment.
DROP INDEX free_segments;
DROP INDEX held_segments;
ALTER TABLE segments RENAME COLUMN worker TO executor;
ALTER TABLE segments ADD COLUMN token integer NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN asked integer NOT NULL DEFAULT 0;
-- Open segments continue as the next one, so that a worker of an older version writes nothing more.
INSERT INTO segments (org, repo, run, n, due_at, why, asked)
    SELECT org, repo, run, n + 1, due_at, why, CASE WHEN due_at < '9999-12-31' THEN 1 ELSE 0 END
    FROM segments WHERE closed_at IS NULL;
UPDATE segments SET closed_at = {now} WHERE closed_at IS NULL AND EXISTS (SELECT 1
    FROM segments AS later WHERE later.org = segments.org AND later.repo = segments.repo
    AND later.run = segments.run AND later.n = segments.n + 1);
CREATE INDEX asked_segments ON segments (org, due_at, run) WHERE asked = 1;
CREATE INDEX stopped_runs ON runs (org, run) WHERE stop IS NOT NULL AND ended_at IS NULL;

-- migration 12: lanes
-- The phase that a chain of segments works on; empty: the run's own chain.
ALTER TABLE segments ADD COLUMN lane text NOT NULL DEFAULT '';

-- migration 13: fleet
-- On a shared database a repository is its remote, and clones of one remote share a row.
CREATE UNIQUE INDEX repositories_by_remote ON repositories (org, remote) WHERE remote IS NOT NULL;
-- Where a run works. NULL: on its repository's machine; `fleet` and labels: on any worker that has these
-- labels; else the id of a machine.
ALTER TABLE runs ADD COLUMN place text;
ALTER TABLE workers ADD COLUMN labels text NOT NULL DEFAULT '';
ALTER TABLE workers ADD COLUMN slots integer NOT NULL DEFAULT 0;
-- Texts and outputs of a shared database; on one machine they are files.
CREATE TABLE blobs (name text NOT NULL PRIMARY KEY, data {bytes} NOT NULL, at text NOT NULL);

-- migration 14: landing line
-- Runs that land on a branch, in the order of `place`; the first one lands. A transaction that changes
-- the line locks its row without a run.
CREATE TABLE landing_line (
    org text NOT NULL, repo text NOT NULL, branch text NOT NULL, run text NOT NULL, slug text NOT NULL,
    place integer NOT NULL, PRIMARY KEY (org, repo, branch, run));

-- migration 15: breakers
-- Accounts for which no agent may start, or only one to try. `until` is NULL until the user has answered
-- the question of `holder`.
CREATE TABLE breakers (
    org text NOT NULL, account text NOT NULL, cause text NOT NULL, until text, holder text NOT NULL,
    tries integer NOT NULL, probe text NOT NULL, probe_until text NOT NULL, told text NOT NULL,
    PRIMARY KEY (org, account));
ALTER TABLE segments ADD COLUMN account text NOT NULL DEFAULT '';
CREATE INDEX segments_by_account ON segments (org, account) WHERE account <> '' AND closed_at IS NULL;
