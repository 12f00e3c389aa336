package artifact_test

import (
	"testing"
	"time"

	"chaperone/server/artifact"
	"chaperone/server/fault"
)

func TestASignedLinkOpensOneArtifactUntilItExpires(t *testing.T) {
	w := newWorld(t)
	w.now = w.now.Truncate(time.Second)
	kept := w.save(t, "picture")
	link := w.artifacts.Sign(kept.ID, w.now.Add(time.Minute))
	w.now = w.now.Add(time.Minute - time.Millisecond)
	_, in, err := w.artifacts.ReadSigned(t.Context(), kept.ID, link)
	if err != nil {
		t.Fatalf("a moment before: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	w.now = w.now.Add(time.Millisecond)
	if _, _, err := w.artifacts.ReadSigned(t.Context(), kept.ID, link); !fault.Is(err, fault.Unauthorised) {
		t.Errorf("at the minute: %v", err)
	}
}

func TestALinkThatWasNotSignedHereIsRefused(t *testing.T) {
	w := newWorld(t)
	kept, other := w.save(t, "picture"), w.save(t, "another")
	good := w.artifacts.Sign(kept.ID, w.now.Add(time.Minute))
	for name, test := range map[string]struct {
		id   string
		link artifact.Link
	}{
		"another artifact": {other.ID, good},
		"a later expiry":   {kept.ID, artifact.Link{Until: good.Until + 1, Signature: good.Signature}},
		"a changed letter": {kept.ID, artifact.Link{Until: good.Until, Signature: "A" + good.Signature[1:] + "A"}},
		"a cut signature":  {kept.ID, artifact.Link{Until: good.Until, Signature: good.Signature[:20]}},
		"no signature":     {kept.ID, artifact.Link{Until: good.Until}},
		"nothing":          {kept.ID, artifact.Link{}},
	} {
		if _, _, err := w.artifacts.ReadSigned(t.Context(), test.id, test.link); !fault.Is(err, fault.Unauthorised) {
			t.Errorf("%s answers %v", name, err)
		}
	}
	if err := w.artifacts.CheckSignature(kept.ID, good); err != nil {
		t.Errorf("the good one answers %v", err)
	}
}

func TestAShortKeyIsRefused(t *testing.T) {
	if _, err := artifact.Open(artifact.Config{Dir: t.TempDir(), LinkKey: make([]byte, 31)}); err == nil {
		t.Error("a key of 31 bytes signs links")
	}
}
