-- Whether a project's managed browser keeps its sign-ins from session to session.
ALTER TABLE projects ADD COLUMN profile BOOLEAN NOT NULL DEFAULT FALSE;
