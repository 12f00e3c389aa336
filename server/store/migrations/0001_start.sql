-- Times are milliseconds since 1970 in UTC; 0 means never. Hashes and digests are lower-case hex.

CREATE TABLE accounts (
  id          TEXT   PRIMARY KEY,
  name        TEXT   NOT NULL UNIQUE,
  created_ms  BIGINT NOT NULL,
  disabled_ms BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE counters (
  account TEXT   NOT NULL REFERENCES accounts (id),
  name    TEXT   NOT NULL,
  value   BIGINT NOT NULL,
  PRIMARY KEY (account, name)
);

CREATE TABLE login_codes (
  hash       TEXT   PRIMARY KEY,
  account    TEXT   NOT NULL REFERENCES accounts (id),
  expires_ms BIGINT NOT NULL,
  used_ms    BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE login_families (
  id         TEXT   PRIMARY KEY,
  account    TEXT   NOT NULL REFERENCES accounts (id),
  created_ms BIGINT NOT NULL,
  revoked_ms BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE refresh_tokens (
  hash       TEXT   PRIMARY KEY,
  account    TEXT   NOT NULL REFERENCES accounts (id),
  family     TEXT   NOT NULL REFERENCES login_families (id),
  expires_ms BIGINT NOT NULL,
  used_ms    BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE projects (
  id            TEXT   PRIMARY KEY,
  account       TEXT   NOT NULL REFERENCES accounts (id),
  name          TEXT   NOT NULL,
  policy        TEXT   NOT NULL,
  allow_domains TEXT   NOT NULL,
  backend       TEXT   NOT NULL,
  created_ms    BIGINT NOT NULL,
  archived_ms   BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX projects_by_name ON projects (account, name) WHERE archived_ms = 0;

CREATE TABLE agent_tokens (
  id         TEXT   PRIMARY KEY,
  account    TEXT   NOT NULL REFERENCES accounts (id),
  project    TEXT   NOT NULL,
  name       TEXT   NOT NULL,
  role       TEXT   NOT NULL,
  hash       TEXT   NOT NULL UNIQUE,
  created_ms BIGINT NOT NULL,
  expires_ms BIGINT NOT NULL,
  revoked_ms BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE pairing_tokens (
  account    TEXT   PRIMARY KEY REFERENCES accounts (id),
  token_id   TEXT   NOT NULL UNIQUE,
  sealed     TEXT   NOT NULL,
  created_ms BIGINT NOT NULL
);

CREATE TABLE pairings (
  account    TEXT   NOT NULL REFERENCES accounts (id),
  project    TEXT   NOT NULL REFERENCES projects (id),
  created_ms BIGINT NOT NULL,
  PRIMARY KEY (account, project)
);

CREATE TABLE sessions (
  id          TEXT   PRIMARY KEY,
  account     TEXT   NOT NULL REFERENCES accounts (id),
  project     TEXT   NOT NULL REFERENCES projects (id),
  backend     TEXT   NOT NULL,
  policy      TEXT   NOT NULL,
  label       TEXT   NOT NULL,
  run         TEXT   NOT NULL,
  state       TEXT   NOT NULL,
  created_ms  BIGINT NOT NULL,
  ended_ms    BIGINT NOT NULL DEFAULT 0,
  reason      TEXT   NOT NULL,
  actor_kind  TEXT   NOT NULL,
  actor_id    TEXT   NOT NULL,
  confinement TEXT   NOT NULL,
  actions     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_project ON sessions (account, project, id);
CREATE INDEX sessions_unfinished ON sessions (id) WHERE ended_ms = 0;

CREATE TABLE events (
  account TEXT   NOT NULL REFERENCES accounts (id),
  seq     BIGINT NOT NULL,
  time_ms BIGINT NOT NULL,
  project TEXT   NOT NULL,
  session TEXT   NOT NULL,
  kind    TEXT   NOT NULL,
  fields  TEXT   NOT NULL,
  PRIMARY KEY (account, seq)
);
CREATE INDEX events_by_project ON events (account, project, seq);
CREATE INDEX events_by_session ON events (account, session, seq);

CREATE TABLE artifacts (
  id         TEXT    PRIMARY KEY,
  account    TEXT    NOT NULL REFERENCES accounts (id),
  project    TEXT    NOT NULL REFERENCES projects (id),
  session    TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  mime       TEXT    NOT NULL,
  bytes      BIGINT  NOT NULL,
  width      BIGINT  NOT NULL,
  height     BIGINT  NOT NULL,
  deliver    BOOLEAN NOT NULL,
  created_ms BIGINT  NOT NULL
);
CREATE INDEX artifacts_by_session ON artifacts (account, session, id);
CREATE INDEX artifacts_by_age ON artifacts (created_ms);
