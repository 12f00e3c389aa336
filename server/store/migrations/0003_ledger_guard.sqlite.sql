-- SQLite's own words for: rows are only ever added, each after the last.

CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append only'); END;

CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append only'); END;

-- INSERT OR REPLACE deletes without firing the trigger above.
CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger
WHEN EXISTS (
  SELECT 1 FROM ledger
  WHERE account = NEW.account AND (seq = NEW.seq OR prev_hash = NEW.prev_hash OR hash = NEW.hash)
)
BEGIN SELECT RAISE(ABORT, 'the ledger is append only'); END;
