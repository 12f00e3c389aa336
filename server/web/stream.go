package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"chaperone/server/fault"
)

// heartbeat is how often a quiet stream says that it lives, and how often its credential is asked again:
// shorter than the minute after which proxies drop a silent connection.
const heartbeat = 15 * time.Second

// writeWait bounds one write to a stream, so that a reader who stopped reading does not hold it for ever.
const writeWait = 20 * time.Second

// stream writes server-sent events (WHATWG HTML, 9.2) to one reader. Its methods may be called at the same time.
type stream struct {
	writeMu sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
}

func openStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, control: http.NewResponseController(w)}
}

// send writes one event; id 0 is none. JSON has no line break, so one data line holds it.
func (st *stream) send(id int64, kind string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if id > 0 {
		return st.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", id, kind, raw))
	}
	return st.write(fmt.Sprintf("event: %s\ndata: %s\n\n", kind, raw))
}

func (st *stream) write(text string) error {
	st.writeMu.Lock()
	defer st.writeMu.Unlock()
	// A writer without deadlines (a test's recorder) has no slow reader either.
	_ = st.control.SetWriteDeadline(time.Now().Add(writeWait))
	if _, err := st.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return st.control.Flush()
}

// streaming is an answer that goes on: feed writes until the reader leaves, the credential ends or feed
// returns. What feed returns is told as a last event.
func (s *site) streaming(feed func(ctx context.Context, st *stream) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		st := openStream(w)
		var beat sync.WaitGroup
		beat.Go(func() { s.beat(ctx, cancel, st, r) })
		err := st.write(": open\n\n")
		if err == nil {
			err = feed(ctx, st)
		}
		left := ctx.Err() != nil
		cancel()
		beat.Wait()
		if !left {
			st.finish(err)
		}
	})
}

// finish tells why the stream ends, to a reader who is still there, and frees the connection for its next request.
func (st *stream) finish(err error) {
	if err != nil {
		_ = st.send(0, "error", refusal{fault.Of(err)})
	} else {
		_ = st.send(0, "end", struct{}{})
	}
	_ = st.control.SetWriteDeadline(time.Time{})
}

// beat keeps the stream alive while its reader may still read.
func (s *site) beat(ctx context.Context, cancel context.CancelFunc, st *stream, r *http.Request) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	ended := s.o.Exposure.CredentialEnded()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-ended:
			ended = s.o.Exposure.CredentialEnded()
		}
		if _, err := s.whoever(r); err != nil || st.write(": alive\n\n") != nil {
			cancel()
			return
		}
	}
}
