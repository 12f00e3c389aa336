package server

import (
	"context"
	"io/fs"
	"net/http"

	"chaperone/packager"
	"chaperone/server/mcp"
	"chaperone/server/web"
)

// handler makes the faces of the server.
func (r *rooms) handler() (http.Handler, error) {
	faces := mcp.New(mcp.Options{Projects: r.projects, Sessions: r.sessions, Version: r.config.Version, Logger: r.log})
	r.atEnd(faces.Close)
	return web.New(web.Options{
		Hosts: r.hosts, Identity: r.accounts, Logins: r.accounts, Tokens: r.accounts,
		Projects: r.projects, Keeper: r.projects, Profiles: r.pool, Pairing: r.projects, Unpair: r.projects, Links: r.hub, Link: r.hub,
		Sessions: r.sessions, Actions: r.sessions, Exposure: r.sessions, Happened: r.sessions, Screens: r.sessions, Cast: r.viewers,
		Artifacts: r.artifacts, Signed: r.artifacts, Ledger: r.ledger, MCP: faces,
		Extension: packager.ExtensionZip, Dashboard: dashboard(), Ready: r.ready,
		Metrics: r.metrics, FrameFPS: r.config.FrameFPS, Version: r.config.Version, Logger: r.log,
	})
}

// dashboard is nil where nothing was bundled: the API works without it.
func dashboard() fs.FS {
	files, err := packager.Dashboard()
	if err != nil {
		return nil
	}
	return files
}

// ready says whether the store answers.
func (r *rooms) ready(ctx context.Context) error {
	_, err := r.accounts.EnsureDefault(ctx)
	return err
}
