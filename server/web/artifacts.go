package web

import (
	"fmt"
	"io"
	"net/http"
	"strconv"

	"chaperone/server/artifact"
)

func (s *site) artifactRoutes() []route {
	return []route{
		{method: http.MethodGet, path: api + "/sessions/:s/artifacts", does: "What the session kept, oldest first.", gives: page[artifact.Artifact]{}, handle: s.listArtifacts},
		{method: http.MethodGet, path: api + "/artifacts/:a", open: true, does: "One artifact, for a bearer or by a signed link (until, signature).", query: []string{"until", "signature"}, media: "image/png", handle: s.getArtifact},
	}
}

func (s *site) listArtifacts(c *call) (any, error) {
	artifacts, err := s.o.Artifacts.List(c.r.Context(), c.actor, c.param("s"))
	return all(artifacts), err
}

// getArtifact has two doors: the bearer's, and the signed link's, which needs no bearer.
func (s *site) getArtifact(c *call) (any, error) {
	kept, content, err := s.openArtifact(c)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = content.Close() }()
		w.Header().Set("Content-Type", kept.MIME)
		w.Header().Set("Content-Disposition", fmt.Sprintf("%s; filename=%q", shows(kept), kept.ID))
		http.ServeContent(w, r, "", kept.Created, content)
	}), nil
}

// shows says whether a browser may show an artifact: a picture, but nothing that a page brought.
func shows(kept artifact.Artifact) string {
	if kept.MIME == artifact.Opaque {
		return "attachment"
	}
	return "inline"
}

func (s *site) openArtifact(c *call) (artifact.Artifact, io.ReadSeekCloser, error) {
	query := c.r.URL.Query()
	if signature := query.Get("signature"); signature != "" {
		until, _ := strconv.ParseInt(query.Get("until"), 10, 64) // a wrong one fails the signature
		return s.o.Signed.ReadSigned(c.r.Context(), c.param("a"), artifact.Link{Until: until, Signature: signature})
	}
	actor, err := s.whoever(c.r)
	if err != nil {
		return artifact.Artifact{}, nil, err
	}
	return s.o.Artifacts.Read(c.r.Context(), actor, c.param("a"))
}
