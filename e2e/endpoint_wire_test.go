package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// opening is a session's CDP endpoint.
type opening struct {
	WS   string
	HTTP string
}

// openCDP asks for the endpoint of a session that must get one.
func (s *served) openCDP(session string) opening {
	s.t.Helper()
	var o opening
	s.ask(http.MethodPost, "/sessions/"+session+"/cdp", nil, &o)
	return o
}

// host is where the endpoint listens; secret is what opens it.
func (o opening) host() string { return strings.Split(strings.TrimPrefix(o.HTTP, "http://"), "/")[0] }

func (o opening) secret() string { return o.HTTP[strings.LastIndex(o.HTTP, "/")+1:] }

// speaker is a bare CDP client that sends one command at a time.
type speaker struct {
	t      *testing.T
	socket *websocket.Conn
	id     int
}

func speak(t *testing.T, address string) *speaker {
	t.Helper()
	socket, _, err := websocket.Dial(t.Context(), address, nil) //nolint:bodyclose // the library has read and closed it
	check(t, err)
	socket.SetReadLimit(32 << 20)
	t.Cleanup(func() { _ = socket.CloseNow() })
	return &speaker{t: t, socket: socket}
}

type spoken struct {
	ID     int
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// try sends one command and answers its reply; an error means that the socket has ended.
func (s *speaker) try(session, method string, params any) (spoken, error) {
	s.id++
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	raw, err := json.Marshal(map[string]any{"id": s.id, "method": method, "params": params, "sessionId": session})
	if err != nil {
		return spoken{}, err
	}
	if session == "" {
		raw = []byte(strings.Replace(string(raw), `,"sessionId":""`, "", 1))
	}
	if err := s.socket.Write(ctx, websocket.MessageText, raw); err != nil {
		return spoken{}, err
	}
	for {
		_, raw, err := s.socket.Read(ctx)
		if err != nil {
			return spoken{}, err
		}
		var answer spoken
		if err := json.Unmarshal(raw, &answer); err != nil {
			return spoken{}, err
		}
		if answer.ID == s.id {
			return answer, nil
		}
	}
}

// must sends a command that must succeed and decodes its result.
func (s *speaker) must(session, method string, params, into any) {
	s.t.Helper()
	answer, err := s.try(session, method, params)
	check(s.t, err)
	if answer.Error != nil {
		s.t.Fatalf("%s: %s", method, answer.Error.Message)
	}
	if into != nil {
		check(s.t, json.Unmarshal(answer.Result, into))
	}
}

// refused sends a command that must be refused in words.
func (s *speaker) refused(session, method string, params any) {
	s.t.Helper()
	answer, err := s.try(session, method, params)
	check(s.t, err)
	if answer.Error == nil || answer.Error.Message == "" {
		s.t.Errorf("%s %v: was answered %s", method, params, answer.Result)
	}
}

// page attaches to the first page and answers its target and the target session.
func (s *speaker) page() (target, session string) {
	s.t.Helper()
	var list struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	s.must("", "Target.getTargets", struct{}{}, &list)
	for _, info := range list.TargetInfos {
		if info.Type == "page" {
			return info.TargetID, s.attach(info.TargetID)
		}
	}
	s.t.Fatal("there is no page")
	return "", ""
}

func (s *speaker) attach(target string) string {
	s.t.Helper()
	var attached struct{ SessionID string }
	s.must("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &attached)
	return attached.SessionID
}

// eval evaluates in the page and answers the value as text.
func (s *speaker) eval(session, script string) string {
	s.t.Helper()
	var answer struct{ Result struct{ Value any } }
	s.must(session, "Runtime.evaluate", evaluate(script), &answer)
	return fmt.Sprint(answer.Result.Value)
}

func evaluate(script string) any {
	return map[string]any{"expression": script, "returnByValue": true}
}
