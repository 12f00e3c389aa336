package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// scanner is one row being read: *sql.Row or *sql.Rows.
type scanner interface{ Scan(into ...any) error }

// statement is SQL with its arguments. Arguments are $1, $2 … in the order of their first use.
type statement struct {
	sql  string
	args []any
}

func q(text string, args ...any) statement { return statement{text, args} }

// querier is a pool or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// one reads the single row of st, or answers ErrNotFound.
func one[T any](ctx context.Context, db querier, scan func(scanner) (T, error), st statement) (T, error) {
	value, err := scan(db.QueryRowContext(ctx, st.sql, st.args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return value, err
}

// many reads every row of st.
func many[T any](ctx context.Context, db querier, scan func(scanner) (T, error), st statement) ([]T, error) {
	var list []T
	err := each(ctx, db, st, func(row scanner) error {
		value, err := scan(row)
		list = append(list, value)
		return err
	})
	return list, err
}

// each reads the rows of st one by one, until visit answers an error.
func each(ctx context.Context, db querier, st statement, visit func(scanner) error) (err error) {
	rows, err := db.QueryContext(ctx, st.sql, st.args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// exec runs st and answers how many rows it touched.
func exec(ctx context.Context, db querier, st statement) (int64, error) {
	result, err := db.ExecContext(ctx, st.sql, st.args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// touch runs st and answers ErrNotFound when it touched nothing.
func touch(ctx context.Context, db querier, st statement) error {
	n, err := exec(ctx, db, st)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// write runs do in the writer's transaction and commits it durably.
func (s *Store) write(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// wrap names the query that went wrong; nil stays nil.
func wrap(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func toMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// pageSize is limit within 1 and most, or usual when it is 0 or less.
func pageSize(limit, usual, most int) int {
	if limit <= 0 {
		return usual
	}
	return min(limit, most)
}
