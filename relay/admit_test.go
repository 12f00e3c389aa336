package relay_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestAdmission(t *testing.T) {
	tests := map[string]struct {
		origins []string
		host    string
		status  int
	}{
		"the extension itself":              {[]string{origin}, host, http.StatusSwitchingProtocols},
		"no origin":                         {nil, host, http.StatusForbidden},
		"an empty origin":                   {[]string{""}, host, http.StatusForbidden},
		"two origins":                       {[]string{origin, origin}, host, http.StatusForbidden},
		"another extension":                 {[]string{"chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh"}, host, http.StatusForbidden},
		"the extension with a port":         {[]string{origin + ":80"}, host, http.StatusForbidden},
		"a page that calls itself the host": {[]string{"http://" + host}, host, http.StatusForbidden},
		"a rebound name":                    {[]string{origin}, "evil.test:7788", http.StatusForbidden},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if got := w.dialStatus(tt.host, http.Header{"Origin": tt.origins}); got != tt.status {
					w.t.Errorf("status %d, want %d", got, tt.status)
				}
			})
		})
	}
}

// dialStatus tries one upgrade and answers the HTTP status.
func (w *world) dialStatus(host string, header http.Header) int {
	w.t.Helper()
	conn, response, err := websocket.Dial(w.t.Context(), "http://relay.test:7788", &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPClient: w.net.client(), HTTPHeader: header, Host: host,
	})
	if err == nil {
		_ = conn.CloseNow()
	}
	if response == nil {
		w.t.Fatalf("dial: %v", err)
	}
	return response.StatusCode
}

func TestSocketsThatHaveProvedNothingAreAtMostSixtyFour(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 64 {
			w.upgrade()
		}
		header := http.Header{"Origin": {origin}}
		if got := w.dialStatus(host, header); got != http.StatusServiceUnavailable {
			w.t.Errorf("the sixty-fifth got %d", got)
		}
		pass(w.t, 10*time.Second)
		if got := w.dialStatus(host, header); got != http.StatusSwitchingProtocols {
			w.t.Errorf("after their time was over got %d", got)
		}
	})
}
