// Package packager carries what a browser runs inside the one binary: the extension (as a folder and as a
// ZIP), the page script for the browsers that the server starts itself, and the dashboard.
//
// It owns the folder dist, which the command packager/cmd/bundle fills, and embeds it. It does not know how the
// sources become a bundle (package bundle does, so that esbuild stays out of the binary), who asks for a file,
// or what it is for.
//
// Its life: `make bundle` fills dist; the next `go build` embeds it; the functions here answer from the
// embedded copy and never read the disk. Where dist was empty at build time they return ErrNotBundled.
package packager
