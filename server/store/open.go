package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // the database/sql driver named sqlite3
)

// FileName is the database's name in the data folder.
const FileName = "chaperone.db"

// readers is how many queries may run beside the writer; each holds a connection and its page cache.
const readers = 8

// ErrNotFound is what a query for one row answers when there is none for this account.
var ErrNotFound = errors.New("no such row")

// Store is the open database. It is safe for concurrent use; writes queue behind one another.
type Store struct {
	writer *sql.DB
	reader *sql.DB
}

// Open opens the database in dir, making both when they do not exist (0700 and 0600). It refuses, in
// words, a folder or file that others may read and a schema that a newer program wrote. The caller closes.
func Open(ctx context.Context, dir string) (*Store, error) {
	path, err := preparePrivate(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s, err := openPools(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// Close ends both pools after the queries under way.
func (s *Store) Close() error {
	if err := errors.Join(s.reader.Close(), s.writer.Close()); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

func openPools(path string) (*Store, error) {
	writer, err := sql.Open("sqlite3", dsn(path, url.Values{"_txlock": {"immediate"}, "_synchronous": {"FULL"}}))
	if err != nil {
		return nil, fmt.Errorf("open writer: %w", err)
	}
	writer.SetMaxOpenConns(1)
	reader, err := sql.Open("sqlite3", dsn(path, url.Values{"mode": {"ro"}, "_query_only": {"on"}}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open readers: %w", err), writer.Close())
	}
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	return &Store{writer: writer, reader: reader}, nil
}

// dsn carries the pragmas, so that every connection a pool ever opens has them. Erased salts are
// overwritten and not merely unlinked: that is secure_delete.
func dsn(path string, more url.Values) string {
	query := url.Values{
		"_foreign_keys":  {"on"},
		"_busy_timeout":  {"5000"},
		"_journal_mode":  {"WAL"},
		"_secure_delete": {"on"},
	}
	maps.Copy(query, more)
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}).String()
}
