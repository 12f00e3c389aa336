// Package bundle turns the TypeScript sources into what browsers run: the page script, the extension around it,
// the extension's ZIP and the dashboard.
//
// It owns esbuild, and the layout of a bundle. It does not know who embeds or serves the files. It reads only
// the source tree, never the network, and its output depends on the sources alone: the same tree gives the same bytes.
//
// Its life: Build compiles everything in memory (the page script first, because the worker holds its source as
// text), then Write replaces what an earlier bundle left in a folder.
package bundle
