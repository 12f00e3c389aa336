package bundle

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"
)

// zipped packs files in the order of their names, all of one fixed time, so that equal files make equal bytes.
func zipped(files Files) ([]byte, error) {
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	epoch := time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC) // the oldest time a ZIP can hold
	for _, name := range slices.Sorted(maps.Keys(files)) {
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch})
		if err != nil {
			return nil, fmt.Errorf("add %s to archive: %w", name, err)
		}
		if _, err := entry.Write(files[name]); err != nil {
			return nil, fmt.Errorf("write %s to archive: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("close archive: %w", err)
	}
	return buffer.Bytes(), nil
}
