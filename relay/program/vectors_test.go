package program_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"chaperone/relay/cdp"
	"chaperone/relay/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const pageScript = "PAGE SCRIPT"

// vector is one of ../testdata/programs; the README there says what the fields mean.
type vector struct {
	Name       string            `json:"name"`
	Level      program.Level     `json:"level"`
	Program    json.RawMessage   `json:"program"`
	Earlier    []event           `json:"earlier"`
	Browser    []json.RawMessage `json:"browser"`
	Events     []event           `json:"events"`
	CancelAtMS int               `json:"cancel_at_ms"`
	Result     struct {
		Steps     []any            `json:"steps"`
		Stopped   bool             `json:"stopped"`
		Error     *program.Error   `json:"error"`
		Dialogs   []program.Dialog `json:"dialogs"`
		ElapsedMS *int             `json:"elapsed_ms"`
	} `json:"result"`
}

type event struct {
	AtMS   int             `json:"at_ms"`
	Child  string          `json:"child"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func loadTable(tb testing.TB) *cdp.Table {
	tb.Helper()
	table, err := cdp.Load()
	if err != nil {
		tb.Fatal(err)
	}
	return table
}

func TestVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/programs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	table := loadTable(t)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var vectors []vector
		if err := json.Unmarshal(data, &vectors); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, v := range vectors {
			t.Run(v.Name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { play(t, v, table) })
			})
		}
	}
}

func play(t *testing.T, v vector, table *cdp.Table) {
	t.Helper()
	b := newBrowser(t, v.Browser)
	e := program.NewExecutor(b, program.Options{PageScript: pageScript, Level: v.Level, Table: table})
	b.executor = e
	if err := e.Attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.attached = true
	for _, event := range v.Earlier {
		e.Deliver(event.Child, event.Method, event.Params)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if v.CancelAtMS > 0 {
		time.AfterFunc(time.Duration(v.CancelAtMS)*time.Millisecond, cancel)
	}
	for _, event := range v.Events {
		time.AfterFunc(time.Duration(event.AtMS)*time.Millisecond, func() { e.Deliver(event.Child, event.Method, event.Params) })
	}
	p, err := program.Decode(v.Program)
	if err != nil {
		if want := v.Result.Error; want == nil || want.Code != "bad_request" {
			t.Fatal(err)
		}
		return
	}
	compare(t, v, e.Run(ctx, p))
	b.finished()
}

func compare(t *testing.T, v vector, got program.Result) {
	t.Helper()
	compareErrors(t, got.Error, v.Result.Error)
	if steps := mustMarshal(t, got.Steps); !isSameJSON(t, steps, mustMarshal(t, v.Result.Steps)) {
		t.Errorf("steps %s, want %s", steps, mustMarshal(t, v.Result.Steps))
	}
	if got.Stopped != v.Result.Stopped {
		t.Errorf("stopped %v, want %v", got.Stopped, v.Result.Stopped)
	}
	if len(got.Dialogs)+len(v.Result.Dialogs) > 0 && !reflect.DeepEqual(got.Dialogs, v.Result.Dialogs) {
		t.Errorf("dialogs %+v, want %+v", got.Dialogs, v.Result.Dialogs)
	}
	if want := v.Result.ElapsedMS; want != nil && got.ElapsedMS != *want {
		t.Errorf("elapsed %d ms, want %d ms", got.ElapsedMS, *want)
	}
}

func compareErrors(t *testing.T, got, want *program.Error) {
	t.Helper()
	if got == nil || want == nil {
		if got != want {
			t.Errorf("error %v, want %v", got, want)
		}
		return
	}
	if got.Step != want.Step || got.Code != want.Code || !strings.Contains(got.Message, want.Message) {
		t.Errorf("error %d %q %q, want %d %q %q", got.Step, got.Code, got.Message, want.Step, want.Code, want.Message)
	}
	if !isSameJSON(t, got.Detail, want.Detail) {
		t.Errorf("detail %s, want %s", got.Detail, want.Detail)
	}
}

func mustMarshal(t *testing.T, value any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func isSameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var left, right any
	for raw, value := range map[*json.RawMessage]*any{&a: &left, &b: &right} {
		if len(*raw) == 0 {
			continue
		}
		if err := json.Unmarshal(*raw, value); err != nil {
			t.Fatalf("%s: %v", *raw, err)
		}
	}
	return reflect.DeepEqual(left, right)
}
