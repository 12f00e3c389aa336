-- How many commands a session's CDP clients gave.
ALTER TABLE sessions ADD COLUMN commands BIGINT NOT NULL DEFAULT 0;
