-- What was begun and has no row yet. A row here at a server's start is an action that a crash cut off.
CREATE TABLE ledger_journal (
  id             TEXT   PRIMARY KEY,
  account        TEXT   NOT NULL REFERENCES accounts (id),
  begun_ms       BIGINT NOT NULL,
  actor_kind     TEXT   NOT NULL,
  actor_id       TEXT   NOT NULL,
  run            TEXT   NOT NULL,
  project        TEXT   NOT NULL,
  session        TEXT   NOT NULL,
  kind           TEXT   NOT NULL,
  direction      TEXT   NOT NULL,
  peer           TEXT   NOT NULL,
  method         TEXT   NOT NULL,
  request_digest TEXT   NOT NULL,
  request_salt   TEXT   NOT NULL,
  detail         TEXT   NOT NULL
);

-- The unique previous hash is what forbids a fork.
CREATE TABLE ledger (
  account         TEXT   NOT NULL REFERENCES accounts (id),
  seq             BIGINT NOT NULL,
  time_ms         BIGINT NOT NULL,
  actor_kind      TEXT   NOT NULL,
  actor_id        TEXT   NOT NULL,
  run             TEXT   NOT NULL,
  project         TEXT   NOT NULL,
  session         TEXT   NOT NULL,
  kind            TEXT   NOT NULL,
  direction       TEXT   NOT NULL,
  peer            TEXT   NOT NULL,
  method          TEXT   NOT NULL,
  request_digest  TEXT   NOT NULL,
  response_digest TEXT   NOT NULL,
  outcome         TEXT   NOT NULL,
  detail          TEXT   NOT NULL,
  prev_hash       TEXT   NOT NULL,
  hash            TEXT   NOT NULL,
  PRIMARY KEY (account, seq),
  UNIQUE (account, prev_hash),
  UNIQUE (account, hash)
);
CREATE INDEX ledger_by_session ON ledger (account, session, seq);
CREATE INDEX ledger_by_project ON ledger (account, project, seq);

-- Where each account's chain ends, so that a missing end shows.
CREATE TABLE ledger_heads (
  account TEXT   PRIMARY KEY REFERENCES accounts (id),
  seq     BIGINT NOT NULL,
  time_ms BIGINT NOT NULL,
  hash    TEXT   NOT NULL
);

-- Kept apart so that they can be erased: without its salt a digest says nothing about its bytes.
CREATE TABLE ledger_salts (
  account       TEXT   NOT NULL,
  seq           BIGINT NOT NULL,
  request_salt  TEXT   NOT NULL,
  response_salt TEXT   NOT NULL,
  PRIMARY KEY (account, seq),
  FOREIGN KEY (account, seq) REFERENCES ledger (account, seq)
);
