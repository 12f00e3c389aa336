package packager_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"chaperone/packager"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whether dist was filled when this test was built is not the test's to choose: each part must be whole, or say
// in words what to do.
func TestEachPartIsWholeOrSaysWhatToDo(t *testing.T) {
	t.Parallel()
	parts := map[string]func() error{
		"the extension has a manifest": func() error { return holds(packager.Extension, "manifest.json") },
		"the dashboard has an index":   func() error { return holds(packager.Dashboard, "index.html") },
		"the page script has text": func() error {
			source, err := packager.PageScript()
			if err == nil && source == "" {
				return fs.ErrInvalid
			}
			return err
		},
		"the archive is a ZIP": func() error {
			content, err := packager.ExtensionZip()
			if err == nil && !strings.HasPrefix(string(content), "PK\x03\x04") {
				return fs.ErrInvalid
			}
			return err
		},
	}
	for sentence, check := range parts {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			err := check()
			if err == nil {
				return
			}
			if !errors.Is(err, packager.ErrNotBundled) || !strings.Contains(err.Error(), "run make bundle") {
				t.Errorf("error %q does not say that it is not bundled", err)
			}
		})
	}
}

func holds(open func() (fs.FS, error), name string) error {
	files, err := open()
	if err != nil {
		return err
	}
	_, err = fs.Stat(files, name)
	return err
}
