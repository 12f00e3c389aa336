package account_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaperone/server/account"
)

func openSecrets(t *testing.T, dir string) *account.Secrets {
	t.Helper()
	s, err := account.OpenSecrets(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASecretOpensInItsPlaceAlone(t *testing.T) {
	dir := t.TempDir()
	sealed := openSecrets(t, dir).Seal("here", "the token")
	again := openSecrets(t, dir)
	if plain, err := again.Open("here", sealed); err != nil || plain != "the token" {
		t.Errorf("open answers %q, %v", plain, err)
	}
	flipped := []byte(sealed)
	flipped[5] ^= 1
	for name, try := range map[string]func() (string, error){
		"another place":    func() (string, error) { return again.Open("there", sealed) },
		"a flipped bit":    func() (string, error) { return again.Open("here", string(flipped)) },
		"a cut text":       func() (string, error) { return again.Open("here", sealed[:20]) },
		"nothing":          func() (string, error) { return again.Open("here", "") },
		"another key file": func() (string, error) { return openSecrets(t, t.TempDir()).Open("here", sealed) },
	} {
		if plain, err := try(); err == nil || plain != "" {
			t.Errorf("%s opens as %q", name, plain)
		}
	}
	if sealed == again.Seal("here", "the token") {
		t.Error("the same text sealed twice looks the same")
	}
}

func TestKeysAreStableAndApart(t *testing.T) {
	dir := t.TempDir()
	one, err := openSecrets(t, dir).Key("links")
	if err != nil || len(one) != 32 {
		t.Fatalf("the key is %d bytes, %v", len(one), err)
	}
	if same, err := openSecrets(t, dir).Key("links"); err != nil || !bytes.Equal(one, same) {
		t.Errorf("after a restart the key is another, or %v", err)
	}
	if other, err := openSecrets(t, dir).Key("seal"); err != nil || bytes.Equal(one, other) {
		t.Errorf("two purposes share a key, or %v", err)
	}
}

func TestAKeyFileIsRefusedInWords(t *testing.T) {
	for name, test := range map[string]struct {
		content []byte
		mode    os.FileMode
		says    string
	}{
		"too short":                  {make([]byte, 31), 0o600, "holds 31 bytes and not 32"},
		"too long":                   {make([]byte, 33), 0o600, "holds 33 bytes and not 32"},
		"empty":                      {nil, 0o600, "holds 0 bytes and not 32"},
		"readable by the group":      {make([]byte, 32), 0o640, "chmod 0600"},
		"writable by everybody else": {make([]byte, 32), 0o602, "chmod 0600"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"secret.key", "signing.key"} {
				dir := t.TempDir()
				path := filepath.Join(dir, file)
				if err := os.WriteFile(path, test.content, test.mode); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, test.mode); err != nil {
					t.Fatal(err)
				}
				_, err := account.OpenSecrets(dir)
				if file == "signing.key" {
					_, err = account.Open(account.Config{Dir: dir})
				}
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s answers %v, want words with %q", file, err, test.says)
				}
			}
		})
	}
}

func TestAFreshKeyFileIsPrivate(t *testing.T) {
	dir := t.TempDir()
	openSecrets(t, dir)
	info, err := os.Stat(filepath.Join(dir, "secret.key"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Errorf("the key file is %v, %v", info, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}
