package endpoint_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

// edge is a browser that does what a test says. Commands are answered in order, with {} unless the script says
// otherwise.
type edge struct {
	mu      sync.Mutex
	tabs    []program.Tab
	changed chan struct{}
	done    chan struct{}
	holds   map[string]*held
	made    int
	held    int // how often, in all
	// answer, when set, answers a command; ok false means {}.
	answer func(sent) (result string, err error, ok bool)
	// silent, when set, says what is never answered.
	silent func(sent) bool
	// holding, when set, may keep or refuse a hold.
	holding func(ctx context.Context, tab string) error
	sent    []sent
	news    chan struct{}
	casts   []program.CastOptions
	picture chan program.Picture
}

// sent is one command that went down.
type sent struct {
	tab, child, method, params string
}

func newEdge(tabs ...string) *edge {
	e := &edge{
		changed: make(chan struct{}), done: make(chan struct{}), news: make(chan struct{}), holds: map[string]*held{},
		picture: make(chan program.Picture),
	}
	for _, name := range tabs {
		e.tabs = append(e.tabs, page(name))
	}
	return e
}

func page(name string) program.Tab {
	return program.Tab{
		ID: name, URL: "https://" + name + ".example/", Title: name, Level: program.LevelAct, Target: "TARGET" + name, Session: "s_1", Made: true,
	}
}

func (e *edge) Tabs() []program.Tab {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.tabs)
}

func (e *edge) Changed() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed
}

// change changes the list of tabs and says so.
func (e *edge) change(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *edge) NewTab(context.Context) (string, error) {
	var name string
	e.change(func() {
		e.made++
		name = fmt.Sprintf("t%d", 100+e.made)
		tab := page(name)
		tab.URL = "about:blank"
		e.tabs = append(e.tabs, tab)
	})
	return name, nil
}

func (e *edge) CloseTab(_ context.Context, tab string) error {
	e.mu.Lock()
	i := slices.IndexFunc(e.tabs, func(t program.Tab) bool { return t.ID == tab })
	if i < 0 || !e.tabs[i].Made {
		e.mu.Unlock()
		return &program.Error{Code: "forbidden", Message: "the tab is the person's own"}
	}
	h := e.holds[tab]
	e.mu.Unlock()
	if h != nil {
		h.tell(func() { h.sink.Gone(&program.Error{Code: "tab_closed", Message: "the tab is closed"}) })
	}
	e.change(func() {
		e.tabs = slices.DeleteFunc(e.tabs, func(t program.Tab) bool { return t.ID == tab })
	})
	return nil
}

func (e *edge) Hold(ctx context.Context, tab string, sink endpoint.Sink) (endpoint.Wire, error) {
	if e.holding != nil {
		if err := e.holding(ctx, tab); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.holds[tab] != nil {
		panic("held twice: " + tab)
	}
	h := &held{edge: e, tab: tab, sink: sink, queue: make(chan func(), 4096), over: make(chan struct{})}
	e.holds[tab] = h
	e.held++
	h.group.Go(h.run)
	return h, nil
}

func (e *edge) Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error {
	e.mu.Lock()
	e.casts = append(e.casts, o)
	e.wake()
	e.mu.Unlock()
	for {
		select {
		case p := <-e.picture:
			sink(p)
		case <-ctx.Done():
			return nil
		}
	}
}

func (e *edge) Done() <-chan struct{} { return e.done }

// wake is called with mu held.
func (e *edge) wake() {
	close(e.news)
	e.news = make(chan struct{})
}

// hold answers the tab's hold, nil when nobody has it.
func (e *edge) hold(tab string) *held {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.holds[tab]
}

// down lists the commands with that method.
func (e *edge) down(method string) []sent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.sent), func(s sent) bool { return s.method != method })
}

// held is a held tab. What it tells is told in order by one goroutine.
type held struct {
	edge  *edge
	tab   string
	sink  endpoint.Sink
	queue chan func()
	over  chan struct{}
	group sync.WaitGroup

	mu     sync.Mutex
	silent bool
}

func (h *held) run() {
	for {
		select {
		case f := <-h.queue:
			h.mu.Lock()
			if !h.silent {
				f()
			}
			h.mu.Unlock()
		case <-h.over:
			return
		}
	}
}

// tell queues something to be told after all that was queued before.
func (h *held) tell(f func()) {
	select {
	case h.queue <- f:
	case <-h.over:
	}
}

func (h *held) event(child, method, params string) {
	h.tell(func() { h.sink.Event(child, method, []byte(params)) })
}

func (h *held) Target() string { return "TARGET" + h.tab }

func (h *held) Send(_ context.Context, child, method string, params []byte, reply func([]byte, error)) error {
	s := sent{h.tab, child, method, string(params)}
	h.edge.mu.Lock()
	h.edge.sent = append(h.edge.sent, s)
	answer, isSilent := h.edge.answer, h.edge.silent != nil && h.edge.silent(s)
	h.edge.wake()
	h.edge.mu.Unlock()
	if isSilent {
		return nil
	}
	h.tell(func() {
		result, err := "{}", error(nil)
		if method == "Page.getFrameTree" {
			result = `{"frameTree":{"frame":{"id":"TARGET` + h.tab + `","loaderId":"L1","url":"https://x/"}}}`
		}
		if answer != nil {
			if r, e, ok := answer(s); ok {
				result, err = r, e
			}
		}
		if err != nil {
			reply(nil, err)
			return
		}
		reply([]byte(result), nil)
	})
	return nil
}

func (h *held) Release() {
	h.mu.Lock()
	h.silent = true
	h.mu.Unlock()
	close(h.over)
	h.group.Wait()
	h.edge.mu.Lock()
	defer h.edge.mu.Unlock()
	delete(h.edge.holds, h.tab)
	h.edge.wake()
}
