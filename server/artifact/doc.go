// Package artifact keeps screenshots: files on disk, a row each, and links that expire.
package artifact
