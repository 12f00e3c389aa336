// Package artifact keeps screenshots and downloads: a file each beneath the data folder, a row each in the store, and
// links that let whoever holds one fetch one file until it expires.
//
// It decides who may read an artifact, how many a session keeps and for how long. It does not know how a
// picture is taken or shown.
//
// An artifact's life: Save writes the file durably and then its row, after the session's oldest have made
// room; Read and ReadSigned hand it out; Sweep removes what is older than the retention, and what a crash
// left without a row. Files are 0600 at artifacts/ACCOUNT/PROJECT/SESSION/ID.EXT, reached through one
// os.Root, so no id can lead elsewhere.
package artifact
