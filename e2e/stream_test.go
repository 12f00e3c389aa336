package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/jpeg"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// message is one server-sent event.
type message struct{ id, event, data string }

// listen reads server-sent events of a path until take says that it has seen enough.
func (s *served) listen(path, after string, take func(message) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.info.URL+"/api/v1"+path, nil)
	check(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.token())
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	client := http.Client{}
	response, err := client.Do(request)
	check(s.t, err)
	defer func() { _ = response.Body.Close() }()
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		s.t.Fatalf("%s answers %s %s", path, response.Status, kind)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 8<<20)
	var m message
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			m.data += value
		case "":
			if m.data != "" && take(m) {
				return
			}
			m = message{}
		}
	}
	s.t.Fatalf("the stream %s ended too early: %v", path, lines.Err())
}

func TestFramesShowTheLivePageOnBothRoads(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		t := r.t
		r.snapshot()
		r.listen("/sessions/"+r.session+"/frames", "", func(m message) bool {
			var frame struct {
				JPEG          string
				Width, Height int
			}
			decodeJSON(t, m.data, &frame)
			raw, err := base64.StdEncoding.DecodeString(frame.JPEG)
			check(t, err)
			picture, err := jpeg.Decode(bytes.NewReader(raw))
			check(t, err)
			if picture.Bounds().Dx() < 300 || frame.Width < 300 {
				t.Errorf("the frame is %v for a page %d wide", picture.Bounds(), frame.Width)
			}
			return true
		})
	})
}

func TestEventsAreResumedWhereTheyWereLeft(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	session := r.session("managed")
	for range 3 {
		r.act(session, action{"action": "open", "url": s.URL + "/"})
	}
	var ids []string
	r.listen("/sessions/"+session+"/events", "", func(m message) bool {
		ids = append(ids, m.id)
		return len(ids) == 4 // opened and three actions
	})
	var kinds []string
	r.listen("/projects/default/events", ids[1], func(m message) bool {
		var e struct {
			Kind   string
			Seq    int64
			Fields json.RawMessage
		}
		decodeJSON(t, m.data, &e)
		if strconv.FormatInt(e.Seq, 10) != m.id {
			t.Errorf("event %d has the id %s", e.Seq, m.id)
		}
		kinds = append(kinds, e.Kind)
		return m.id == ids[3]
	})
	if len(kinds) != 2 || kinds[0] != "browser.action" {
		t.Errorf("after event %s came %v, want two actions", ids[1], kinds)
	}
}
