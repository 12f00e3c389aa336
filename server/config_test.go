package server_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"chaperone/server"
	"chaperone/server/fault"
)

func TestWhatCannotBeServedIsRefusedBeforeAnythingIsMade(t *testing.T) {
	for sentence, change := range map[string]func(*server.Config){
		"an address that is none":               func(c *server.Config) { c.Addr = "bogus" },
		"a public address without a public URL": func(c *server.Config) { c.Addr = "0.0.0.0:0" },
		"a public URL without TLS":              func(c *server.Config) { c.PublicURL = "http://example.com" },
		"a public URL with a path":              func(c *server.Config) { c.PublicURL = "https://example.com/x" },
		"a test origin on a public address":     func(c *server.Config) { c.Addr, c.TestOrigins = "0.0.0.0:0", []string{"http://127.0.0.1:1"} },
		"a test origin that is not on loopback": func(c *server.Config) { c.TestOrigins = []string{"http://10.0.0.1:80"} },
		"a test origin with a path":             func(c *server.Config) { c.TestOrigins = []string{"http://127.0.0.1:80/x"} },
		"fewer sessions than none":              func(c *server.Config) { c.MaxSessions = -1 },
		"an idle timeout before it began":       func(c *server.Config) { c.IdleTimeout = -time.Second },
		"a log format that is none":             func(c *server.Config) { c.Log = "loud" },
		"CDP clients at a public address":       func(c *server.Config) { c.CDPListen = "0.0.0.0:0" },
		"CDP clients at an address of a name":   func(c *server.Config) { c.CDPListen = "example.com:0" },
		"CDP clients at no address":             func(c *server.Config) { c.CDPListen = "127.0.0.1" },
		"no data folder":                        func(c *server.Config) { c.Data = "" },
	} {
		t.Run(sentence, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			c := server.Config{Addr: "127.0.0.1:0", Data: data, Out: io.Discard, Err: io.Discard}
			change(&c)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := server.Run(ctx, c)
			if !fault.Is(err, fault.BadRequest) || fault.Of(err).Hint == "" {
				t.Fatalf("got %v, want bad_request with a hint", err)
			}
			if left, _ := filepath.Glob(data); len(left) > 0 {
				t.Error("the data folder was made")
			}
		})
	}
}
