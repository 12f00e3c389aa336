package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	privateDir  fs.FileMode = 0o700
	privateFile fs.FileMode = 0o600
	othersBits  fs.FileMode = 0o077
)

// CheckPrivate refuses, in words, a file or folder that anyone but its owner may read or write, and
// anything that is neither, such as a symbolic link.
func CheckPrivate(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	want := privateFile
	switch {
	case info.IsDir():
		want = privateDir
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a plain file nor a folder: move it away", path)
	}
	if info.Mode().Perm()&othersBits != 0 {
		return fmt.Errorf("%s can be reached by others (mode %04o): run `chmod %04o %s`",
			path, info.Mode().Perm(), want, path)
	}
	return nil
}

// preparePrivate makes the folder and an empty database where they are missing, checks them where they
// are not, and returns the database's absolute path. SQLite gives its side files the database's mode.
func preparePrivate(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, privateDir); err != nil {
		return "", fmt.Errorf("make data folder: %w", err)
	}
	if err := CheckPrivate(dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	//nolint:gosec // the operator's own data folder
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, privateFile)
	switch {
	case err == nil:
		err = file.Close()
	case errors.Is(err, fs.ErrExist):
		err = checkFiles(path)
	}
	return path, err
}

func checkFiles(path string) error {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := CheckPrivate(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
