/** Forward only. The store's version is the number of migrations applied; a store with more is from a newer Baton and is refused. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, seat_id TEXT NOT NULL, project TEXT, seen_at TEXT NOT NULL, started_at TEXT NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX sessions_by_seat ON sessions (seat_id, started_at);

  CREATE TABLE seats (
    seat_id TEXT PRIMARY KEY, name TEXT UNIQUE, parent_seat_id TEXT, pid INTEGER, process_started_at TEXT, created_at TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX seats_by_process ON seats (pid, process_started_at);

  CREATE TABLE subagents (
    session_id TEXT NOT NULL, subagent_id TEXT NOT NULL, updated_at TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (session_id, subagent_id)
  );

  CREATE TABLE events (
    id INTEGER PRIMARY KEY, type TEXT NOT NULL, at TEXT NOT NULL, session_id TEXT, seat_id TEXT, job_id TEXT, data TEXT NOT NULL
  );
  CREATE INDEX events_by_session ON events (session_id);

  CREATE TABLE messages (
    message_id TEXT PRIMARY KEY, seat_id TEXT NOT NULL, session_id TEXT, status TEXT NOT NULL, queued_at TEXT NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX messages_open ON messages (seat_id, queued_at) WHERE status IN ('queued', 'sent');
  CREATE INDEX messages_by_time ON messages (queued_at);

  CREATE TABLE taken (signal_id TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE switches (scope TEXT NOT NULL, key TEXT NOT NULL, enabled INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (scope, key)) WITHOUT ROWID;
  `,
]
