package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"chaperone/server/fault"
)

// runPathMax leaves room for a session's socket in what a Unix socket's path may be everywhere.
const runPathMax = 70

// runFolder is where managed Chromes keep profiles and sockets while they run: in the data folder, or, where
// that has too long a path for sockets, in the system's temporary folder under a name that only this data
// folder has, so that the next start finds what a killed server left.
func (f *folder) runFolder() (string, error) {
	path := filepath.Join(f.path, "run")
	if abs, err := filepath.Abs(path); err == nil && len(abs) <= runPathMax {
		return abs, nil
	}
	abs, err := filepath.Abs(f.path)
	if err != nil {
		return "", fmt.Errorf("resolve the data folder: %w", err)
	}
	sum := sha256.Sum256([]byte(abs))
	name := fmt.Sprintf("chaperone-%d-%s", os.Geteuid(), hex.EncodeToString(sum[:6]))
	path = filepath.Join(os.TempDir(), name)
	if len(path) > runPathMax {
		path = filepath.Join("/tmp", name) // a temporary folder of one's own may be as deep as the data folder
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("make the run folder: %w", err)
	}
	return path, checkOurs(path)
}

// checkOurs refuses a folder that somebody else put in our place.
func checkOurs(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at the run folder: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Unavailable, "the folder "+path+" is not this user's own private folder",
			"Remove it, or name a data folder with a shorter path.")
	}
	return nil
}

// dropIfEmpty removes a run folder that nothing is left in.
func dropIfEmpty(path string) error {
	err := os.Remove(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	return err
}
