package account

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"chaperone/server/store"
)

const (
	signingKeyFile = "signing.key"
	secretKeyFile  = "secret.key"
	keyBytes       = 32
)

// loadKey reads a 32-byte key from dir, or makes one that nobody else may read.
func loadKey(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	err := store.CheckPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(path) //nolint:gosec // the operator's own data folder
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	if len(key) != keyBytes {
		return nil, fmt.Errorf("%s holds %d bytes and not %d: restore it from a backup, or remove it to start afresh"+
			" (what it sealed or signed is lost then)", path, len(key), keyBytes)
	}
	return key, nil
}

func makeKey(path string) ([]byte, error) {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	if err := writePrivate(path, key); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return key, nil
}

// writePrivate writes a 0600 file whole: it is there with all its bytes, or as it was before.
func writePrivate(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
