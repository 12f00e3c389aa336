package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"chaperone/server/fault"
)

// Info is server.json: how a program on this machine finds the server.
type Info struct {
	URL     string `json:"url"`
	Socket  string `json:"socket"` // the private Unix socket
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// InfoFile is the name of server.json's file in the data folder; it exists while a server is ready.
const InfoFile = "server.json"

// TokenFile is the name of the file in the data folder that holds the command line's token.
const TokenFile = "token"

// ReadInfo reads server.json of a data folder; not_connected when no server has it.
func ReadInfo(data string) (Info, error) {
	raw, err := os.ReadFile(filepath.Join(data, InfoFile)) //nolint:gosec // the data folder is the caller's own
	if errors.Is(err, os.ErrNotExist) {
		return Info{}, fault.New(fault.NotConnected, "no server is running on the data folder "+data, "Start one with: chaperone serve")
	}
	if err != nil {
		return Info{}, fmt.Errorf("read %s: %w", InfoFile, err)
	}
	var info Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return Info{}, fmt.Errorf("read %s: %w", InfoFile, err)
	}
	return info, nil
}

// folder is the data folder, locked: one server at a time owns it.
type folder struct {
	path string
	lock *os.File
}

func openFolder(path string) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the data folder is the caller's own
	if err != nil {
		return nil, fmt.Errorf("open the data folder's lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fault.New(fault.Unavailable, "another server is using the data folder "+path,
			"Stop it first, or name another folder with --data."), lock.Close())
	}
	return &folder{path: path, lock: lock}, nil
}

func (f *folder) socket() string { return filepath.Join(f.path, "server.sock") }

// announce writes server.json whole or not at all.
func (f *folder) announce(info Info) error {
	raw, err := json.Marshal(info)
	if err != nil {
		return err
	}
	name := filepath.Join(f.path, InfoFile)
	if err := os.WriteFile(name+".new", append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", InfoFile, err)
	}
	return os.Rename(name+".new", name)
}

func (f *folder) withdraw() error {
	err := os.Remove(filepath.Join(f.path, InfoFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (f *folder) close() error { return f.lock.Close() }
