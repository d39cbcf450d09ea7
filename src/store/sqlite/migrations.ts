/** Event types shown in the history. A partial index contains only these. */
export const MILESTONES = "type IN ('compaction_complete', 'handoff_completed')"

/**
 * Migrations, forward only. The store's version is the number of migrations applied.
 * A store with a higher version was written by a newer Baton and is refused.
 * Explanations stay outside the SQL, because every hook loads these strings.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, seat_id TEXT NOT NULL, project TEXT, seen_at TEXT NOT NULL, started_at TEXT NOT NULL,
      body TEXT NOT NULL
  );
  CREATE INDEX sessions_by_seat ON sessions (seat_id, started_at);

  CREATE TABLE seats (
    seat_id TEXT PRIMARY KEY, name TEXT UNIQUE, parent_seat_id TEXT, pid INTEGER, process_started_at TEXT,
      created_at TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX seats_by_process ON seats (pid, process_started_at);

  CREATE TABLE subagents (
    session_id TEXT NOT NULL, subagent_id TEXT NOT NULL, updated_at TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (session_id, subagent_id)
  );

  CREATE TABLE readings (
    reading_id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, cycle INTEGER NOT NULL, at TEXT NOT NULL,
      used INTEGER NOT NULL,
    window_tokens INTEGER, point INTEGER, model TEXT, source TEXT NOT NULL, exact INTEGER NOT NULL
  );
  CREATE INDEX readings_by_session ON readings (session_id, reading_id);

  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, at TEXT NOT NULL, session_id TEXT, seat_id TEXT,
      job_id TEXT, data TEXT NOT NULL
  );
  CREATE INDEX events_by_session ON events (session_id, id);
  CREATE INDEX events_by_time ON events (at);

  CREATE TABLE messages (
    message_id TEXT PRIMARY KEY, seat_id TEXT NOT NULL, session_id TEXT, status TEXT NOT NULL,
      queued_at TEXT NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX messages_open ON messages (seat_id, queued_at) WHERE status IN ('queued', 'sent');
  CREATE INDEX messages_by_time ON messages (queued_at);

  CREATE TABLE taken (signal_id TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE switches (scope TEXT NOT NULL, key TEXT NOT NULL, enabled INTEGER NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (scope, key)) WITHOUT ROWID;
  `,
  // Stores readings as events: one row per signal instead of two.
  // New ids continue from the newest event, which is never deleted.
  // Readings whose event was deleted get negative ids. They sort first and stay off the timeline.
  `
  CREATE TABLE kept_events (
    id INTEGER PRIMARY KEY, type TEXT NOT NULL, at TEXT NOT NULL, session_id TEXT, seat_id TEXT, job_id TEXT,
      data TEXT NOT NULL
  );
  INSERT INTO kept_events SELECT id, type, at, session_id, seat_id, job_id, data FROM events;
  INSERT INTO kept_events (id, type, at, session_id, seat_id, data)
    SELECT r.reading_id - 1 - (SELECT max(reading_id) FROM readings), 'reading', r.at, r.session_id, s.seat_id,
      json_object('used_tokens', r.used, 'window_tokens', r.window_tokens,
      'compaction_tokens', r.point, 'used_percent', round(100.0 * r.used / r.window_tokens, 1),
      'compaction_percent', round(100.0 * r.used / r.point, 1), 'model', r.model, 'source', r.source,
      'exact', json(CASE r.exact WHEN 1 THEN 'true' ELSE 'false' END), 'cycle', r.cycle)
    FROM readings r LEFT JOIN sessions s ON s.session_id = r.session_id
    WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = r.session_id AND e.type = 'reading' AND e.at = r.at);
  DROP TABLE events;
  DROP TABLE readings;
  ALTER TABLE kept_events RENAME TO events;
  CREATE INDEX events_by_session ON events (session_id);

  CREATE TABLE archives (
    archive_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, project TEXT, created_at TEXT NOT NULL,
      stem TEXT NOT NULL UNIQUE,
    open INTEGER NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX archives_by_session ON archives (session_id, created_at);
  CREATE INDEX archives_open ON archives (created_at) WHERE open = 1;

  CREATE TABLE archive_segments (
    file TEXT PRIMARY KEY, stream_id TEXT NOT NULL, session_id TEXT NOT NULL, from_byte INTEGER NOT NULL,
      body TEXT NOT NULL
  );
  CREATE UNIQUE INDEX archive_segments_by_stream ON archive_segments (stream_id, from_byte);
  CREATE INDEX archive_segments_by_session ON archive_segments (session_id);

  CREATE TABLE archive_leftovers (item TEXT PRIMARY KEY) WITHOUT ROWID;

  CREATE TABLE compactions (
    session_id TEXT NOT NULL, started_at TEXT NOT NULL, open INTEGER NOT NULL, ended INTEGER NOT NULL,
      body TEXT NOT NULL,
    PRIMARY KEY (session_id, started_at)
  );
  CREATE INDEX compactions_open ON compactions (started_at) WHERE open = 1;
  CREATE INDEX compactions_not_ended ON compactions (started_at) WHERE ended = 0;
  `,
  // forgotten_briefs holds the highest deleted sequence per seat, so that no brief reuses it.
  // handoffs_by_seat serves one seat, queried with every signal.
  // handoffs_open serves due handoffs.
  `
  CREATE TABLE briefs (
    brief_id TEXT PRIMARY KEY, seat_id TEXT NOT NULL, sequence INTEGER NOT NULL, session_id TEXT NOT NULL,
      taken_at TEXT NOT NULL,
    body TEXT NOT NULL, UNIQUE (seat_id, sequence)
  );
  CREATE INDEX briefs_by_session ON briefs (session_id);
  CREATE TABLE forgotten_briefs (seat_id TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE handoffs (
    handoff_id TEXT PRIMARY KEY, seat_id TEXT NOT NULL, session_id TEXT NOT NULL, requested_at TEXT NOT NULL,
      due_at TEXT,
    open INTEGER NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX handoffs_by_seat ON handoffs (seat_id, open, requested_at);
  CREATE INDEX handoffs_open ON handoffs (due_at) WHERE open = 1;
  `,
  `
  CREATE TABLE jobs (
    job_id TEXT PRIMARY KEY, seat_id TEXT NOT NULL, agent_name TEXT, created_at TEXT NOT NULL, open INTEGER NOT NULL,
      body TEXT NOT NULL
  );
  CREATE INDEX jobs_open ON jobs (created_at) WHERE open = 1;
  CREATE INDEX jobs_by_time ON jobs (created_at);

  CREATE TABLE attempts (
    attempt_id TEXT PRIMARY KEY, job_id TEXT NOT NULL, session_id TEXT NOT NULL, number INTEGER NOT NULL,
      body TEXT NOT NULL,
    UNIQUE (job_id, number)
  );
  CREATE INDEX attempts_by_session ON attempts (session_id);
  `,
  // The time of earlier spend is unknown, so the spend gets the time of the session's last signal.
  `
  CREATE TABLE spend (
    quarter INTEGER NOT NULL, session_id TEXT NOT NULL, model TEXT NOT NULL, steps INTEGER NOT NULL,
      input INTEGER NOT NULL,
    output INTEGER NOT NULL, cache_creation INTEGER NOT NULL, cache_read INTEGER NOT NULL, cost_usd REAL,
    PRIMARY KEY (quarter, session_id, model)
  ) WITHOUT ROWID;
  INSERT INTO spend
    SELECT CAST(strftime('%s', seen_at) AS INTEGER) / 900, session_id, coalesce(json_extract(body, '$.model'), ''),
      coalesce(json_extract(body, '$.spend.answers'), 0), coalesce(json_extract(body, '$.spend.input'), 0),
      coalesce(json_extract(body, '$.spend.output'), 0), coalesce(json_extract(body, '$.spend.cacheCreation'), 0),
      coalesce(json_extract(body, '$.spend.cacheRead'), 0), json_extract(body, '$.costUsd')
    FROM sessions
    WHERE strftime('%s', seen_at) IS NOT NULL
      AND (json_extract(body, '$.spend.answers') > 0 OR json_extract(body, '$.spend.output') > 0
        OR json_extract(body, '$.costUsd') > 0);
  INSERT INTO spend
    SELECT CAST(strftime('%s', updated_at) AS INTEGER) / 900, session_id, coalesce(json_extract(body, '$.model'), ''),
      0,
      coalesce(json_extract(body, '$.spend.input'), 0), coalesce(json_extract(body, '$.spend.output'), 0),
      coalesce(json_extract(body, '$.spend.cacheCreation'), 0), coalesce(json_extract(body, '$.spend.cacheRead'), 0),
        NULL
    FROM subagents
    WHERE strftime('%s', updated_at) IS NOT NULL AND json_extract(body, '$.spend.answers') > 0
    ON CONFLICT DO UPDATE SET input = input + excluded.input, output = output + excluded.output,
      cache_creation = cache_creation + excluded.cache_creation, cache_read = cache_read + excluded.cache_read;

  CREATE INDEX events_milestones ON events (at) WHERE ${MILESTONES};
  CREATE INDEX events_by_job ON events (job_id) WHERE job_id IS NOT NULL;
  `,
  // `over` is 1 for sessions that ended or whose state is unknown.
  // Few sessions are active, and nearly every signal belongs to one of them.
  // The index of active sessions has no time, so that a signal does not have to update it.
  `
  ALTER TABLE sessions ADD COLUMN over INTEGER NOT NULL DEFAULT 1;
  UPDATE sessions SET over = 0 WHERE json_extract(body, '$.state') NOT IN ('ended', 'unknown');
  CREATE INDEX sessions_going_on ON sessions (session_id) WHERE over = 0;
  CREATE INDEX sessions_over ON sessions (seen_at) WHERE over = 1;
  CREATE INDEX events_but_readings ON events (id) WHERE type <> 'reading';
  `,
  // notices_due finds notices to send now, queried by hooks that run without a server.
  // notices_by_target finds when a target was last used.
  `
  CREATE TABLE notices (
    notice_id TEXT PRIMARY KEY, target TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, at TEXT NOT NULL,
      due_at TEXT, claimed_at TEXT,
    body TEXT NOT NULL
  );
  CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX notices_by_target ON notices (target, claimed_at);
  `,
]
