package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"chaperone/server/fault"
)

// dashboardPolicy lets the dashboard run its own files and nothing else; pictures are blobs it makes.
const dashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// assets are the dashboard's files by address.
type assets map[string]asset

type asset struct {
	content   []byte
	mediaType string
	tag       string
}

func readAssets(files fs.FS) (assets, error) {
	read := assets{}
	if files == nil {
		return read, nil
	}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		address := "/" + name
		if name == "index.html" {
			address = "/"
		}
		read[address] = newAsset(name, content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read dashboard: %w", err)
	}
	return read, nil
}

func newAsset(name string, content []byte) asset {
	sum := sha256.Sum256(content)
	return asset{content: content, mediaType: mime.TypeByExtension(path.Ext(name)), tag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

func (files assets) register(g *gin.Engine) {
	for address, file := range files {
		g.GET(address, func(c *gin.Context) { file.serve(c.Writer, c.Request) })
	}
	if _, ok := files["/"]; ok {
		return
	}
	g.GET("/", func(c *gin.Context) {
		refuse(c.Writer, 0, fault.New(fault.Unavailable, "this build does not carry the dashboard", "Run make bundle and build again."))
	})
}

func (file asset) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", dashboardPolicy)
	if !strings.HasPrefix(file.mediaType, "text/html") { // the page itself is never kept, so that going back to it asks for it
		w.Header().Set("Cache-Control", "no-cache")
	}
	w.Header().Set("Content-Type", file.mediaType)
	w.Header().Set("ETag", file.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.content))
}
