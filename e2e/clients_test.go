package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clientPatience bounds one client's whole list of steps, stepPatience one of them. Both are many times what
// a quiet machine takes.
const (
	clientPatience = 3 * time.Minute
	stepPatience   = 25 * time.Second
)

// clientRoad is where a client connects and what it visits, as its script reads it.
type clientRoad struct {
	WS     string `json:"ws"`
	HTTP   string `json:"http"`
	Site   string `json:"site"`
	Far    string `json:"far"`
	Folder string `json:"folder"`
	StepMS int    `json:"stepMs"`
}

// clientLine is one step of a client, as its script says it.
type clientLine struct {
	Step  string `json:"step"`
	Value any    `json:"value"`
	Error string `json:"error"`
	MS    int    `json:"ms"`
}

// clientSteps are what the clients do and what each step must give. A picture's value is its file.
var clientSteps = []struct{ step, gives string }{
	{"connect", "1"},
	{"open", "Start"},
	{"text", "Welcome, reader."},
	{"click", "pressed 1"},
	{"fill and press", "Hello, OSLO."},
	{"back", "Start"},
	{"reload", "not pressed"},
	{"evaluate", "42"},
	{"screenshot", aPicture},
	{"dark", "true"},
	{"viewport", "500x400"},
	{"script on every document", "behind 42"},
	{ownSession, "42"},
	{"console", "the page speaks 42"},
	{"network", "200 GET"},
	{"second site", "The second page's text."},
	{"frame", "inner waits, inner pressed"},
	{"service worker", "the service worker answered"},
	{"worker", "the worker says 42"},
	{"script in a worker", "undefined42"},
	{"dialog", "answered true"},
	{"link to a new tab", "Second"},
	{"window", "A window of its own."},
	{"new tab", "2 tabs, The second page's text., 1 left"},
	{"context", "a context of its own"},
	{"record", "it moves"},
	{"leave", "false"},
}

const (
	aPicture   = "a picture"
	ownSession = "a session of one's own"
)

// clientHits is what the site must have counted once a client has been there: nothing done twice or never.
var clientHits = map[string]int{"count": 2, "greet Oslo": 1, "inner": 1}

// client is an unmodified CDP client; lacks are the steps that it has no means for.
type client struct {
	name  string
	lacks []string
}

var clients = []client{
	{"agent-browser", []string{"script on every document", "script in a worker", "context", ownSession}},
	{"chrome-devtools-mcp", []string{"script in a worker", "record", ownSession}},
	{"chromedp", []string{"script in a worker", "record", ownSession}},
	{"playwright", []string{"record"}},
	{"playwright-mcp", []string{"script on every document", "script in a worker", "context", "record", ownSession}},
	{"puppeteer", []string{"record"}},
}

// backend is one kind of browser behind an endpoint, ready to take one client after the other.
type backend struct {
	site *workshop
	// visit says where a client connects; what it returns is called when the client has left.
	visit func(t *testing.T, road *clientRoad) (left func())
	// limits are the steps that this kind of browser refuses, with a part of the words in which it does.
	limits map[string]string
}

// drive lets every client go through its steps on a backend.
func (b *backend) drive(t *testing.T) {
	t.Helper()
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			b.site.taken()
			road := clientRoad{
				Site: b.site.URL, Far: b.site.far(), Folder: folder(t), StepMS: int(stepPatience.Milliseconds()),
			}
			left := b.visit(t, &road)
			b.judge(t, c, c.run(t, road))
			if hits := b.site.taken(); !maps.Equal(hits, clientHits) {
				t.Errorf("the site was sent %v, want %v", hits, clientHits)
			}
			left()
		})
	}
}

// judge holds what a client's steps gave against what they must give.
func (b *backend) judge(t *testing.T, c client, lines []clientLine) {
	t.Helper()
	said := map[string]clientLine{}
	for _, line := range lines {
		said[line.Step] = line
	}
	for _, s := range clientSteps {
		if slices.Contains(c.lacks, s.step) {
			continue
		}
		line, ok := said[s.step]
		delete(said, s.step)
		if !ok {
			t.Errorf("%s: the step was never tried", s.step)
			continue
		}
		b.judgeStep(t, line, s.gives)
	}
	if len(said) > 0 {
		t.Errorf("unknown steps: %v", said)
	}
}

func (b *backend) judgeStep(t *testing.T, line clientLine, gives string) {
	t.Helper()
	if refusal, ok := b.limits[line.Step]; ok {
		if !strings.Contains(line.Error, refusal) {
			t.Errorf("%s: %q, error %q: want an error with %q", line.Step, line.Value, line.Error, refusal)
		}
		return
	}
	value := fmt.Sprint(line.Value)
	switch {
	case line.Error != "":
		t.Errorf("%s: %s (after %d ms)", line.Step, line.Error, line.MS)
	case gives == aPicture:
		checkPicture(t, value)
	case value != gives:
		t.Errorf("%s: %q, want %q", line.Step, value, gives)
	}
}

// checkPicture wants a PNG in which something is drawn.
func checkPicture(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	check(t, err)
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Errorf("the screenshot is no PNG: %v", err)
		return
	}
	colours := map[[4]uint32]bool{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			r, g, b, a := picture.At(x, y).RGBA()
			colours[[4]uint32{r, g, b, a}] = true
		}
	}
	if len(colours) < 3 {
		t.Errorf("the screenshot of %v is blank", picture.Bounds().Size())
	}
}

// run lets a client go through its steps and returns what it said.
func (c client) run(t *testing.T, road clientRoad) []clientLine {
	t.Helper()
	if c.name != "chromedp" {
		return runScript(t, c.name, road)
	}
	var lines []clientLine
	driveByChromedp(t.Context(), road, func(line clientLine) { lines = append(lines, line) })
	return lines
}

// runScript runs a client's script to its end, and leaves nothing of it.
func runScript(t *testing.T, name string, road any) []clientLine {
	t.Helper()
	return startScript(t, name, road).rest()
}

// script is a client's script that runs.
type script struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	input io.WriteCloser
	lines *bufio.Scanner
	errs  *lockedBuffer
}

func startScript(t *testing.T, name string, road any) *script {
	t.Helper()
	if !exists(filepath.Join("clients", "node_modules")) {
		t.Fatal("the clients are not installed: run `make clients`")
	}
	argument, err := json.Marshal(road)
	check(t, err)
	cmd := exec.Command("node", filepath.Join("clients", name+".mjs"), string(argument)) //nolint:noctx // our own scripts; the group is killed below
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s := &script{t: t, name: name, cmd: cmd, errs: &lockedBuffer{}}
	cmd.Stderr = s.errs
	s.input, err = cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	s.lines = bufio.NewScanner(out)
	s.lines.Buffer(nil, 1<<20)
	check(t, cmd.Start())
	late := time.AfterFunc(clientPatience, s.kill)
	t.Cleanup(func() { late.Stop(); s.kill() })
	return s
}

// kill ends the script and what it started; a group that is gone already is none of its worry.
func (s *script) kill() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }

// next is the script's next step.
func (s *script) next() (clientLine, error) {
	if !s.lines.Scan() {
		return clientLine{}, errors.Join(io.EOF, s.lines.Err())
	}
	var line clientLine
	err := json.Unmarshal(s.lines.Bytes(), &line)
	return line, err
}

// rest is what the script says until its end, which must be a good one.
func (s *script) rest() []clientLine {
	s.t.Helper()
	var lines []clientLine
	for {
		line, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		check(s.t, err)
		lines = append(lines, line)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("%s ended with %v\n%s", s.name, err, s.errs)
	}
	return lines
}
