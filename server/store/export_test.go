package store

import "context"

// Pragmas reads one pragma as a writing and as a reading connection have it.
func (s *Store) Pragmas(ctx context.Context, name string) (writer, reader string, err error) {
	if writer, err = one(ctx, s.writer, scanString, q("PRAGMA "+name)); err != nil {
		return "", "", err
	}
	reader, err = one(ctx, s.reader, scanString, q("PRAGMA "+name))
	return writer, reader, err
}

// WriteByReader tries to write through the reader pool.
func (s *Store) WriteByReader(ctx context.Context) error {
	_, err := exec(ctx, s.reader, q(`DELETE FROM events`))
	return err
}
