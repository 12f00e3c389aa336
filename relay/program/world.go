package program

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// worldName is what Chrome calls the page script's isolated world.
const worldName = "chaperone"

// maxWorlds bounds how often one call makes a new world in a frame whose documents keep going away.
const maxWorlds = 4

// world is the page script, installed in one document of one frame.
type world struct {
	frame   string
	child   string // the target session that hosts the frame
	context int    // CDP's executionContextId; unique only within one renderer process
	// handle is the page script's entry. Unlike the context's number it cannot come to mean something of
	// another process after a navigation, so calls go through it.
	handle string
	owners map[string]string // by frame id: handles of the frames' elements in this document
}

// callHandle is the only source the edge evaluates beside the page script.
const callHandle = "function(n,a){return this(n,a)}"

type remoteObject struct {
	ObjectID string          `json:"objectId"`
	Value    json.RawMessage `json:"value"`
}

type evaluated struct {
	Result           remoteObject `json:"result"`
	ExceptionDetails *struct {
		Text      string `json:"text"`
		Exception struct {
			Description string `json:"description"`
		} `json:"exception"`
	} `json:"exceptionDetails"`
}

// world answers the page script's world of a frame and installs it where it is missing.
func (e *Executor) world(ctx context.Context, f place) (*world, error) {
	if w := e.view.world(f.frame); w != nil && w.handle != "" && w.child == f.child {
		return w, nil
	}
	for range maxWorlds {
		w, err := e.install(ctx, f)
		if err != nil && !isContextGone(err) && !isContextLost(err) {
			return nil, err
		}
		if err == nil && e.view.world(f.frame) == w {
			return w, nil
		}
	}
	return nil, fault(codeInternal, "the frame's documents go away faster than the page script can be installed")
}

// install puts the page script into the frame's present document. The view drops the world when that document
// goes away meanwhile.
func (e *Executor) install(ctx context.Context, f place) (*world, error) {
	w := &world{frame: f.frame, child: f.child, owners: map[string]string{}}
	e.view.setWorld(f.frame, w)
	var made struct {
		ExecutionContextID int `json:"executionContextId"`
	}
	err := e.ask(ctx, f.child, "Page.createIsolatedWorld", map[string]any{"frameId": f.frame, "worldName": worldName}, &made)
	if err != nil {
		return nil, err
	}
	var installed evaluated
	source := e.options.PageScript + "\n;globalThis.chaperone"
	err = e.ask(ctx, f.child, "Runtime.evaluate", map[string]any{"expression": source, "contextId": made.ExecutionContextID}, &installed)
	if err != nil {
		return nil, err
	}
	if installed.ExceptionDetails != nil || installed.Result.ObjectID == "" {
		return nil, fault(codeInternal, "the page script did not install")
	}
	w.context, w.handle = made.ExecutionContextID, installed.Result.ObjectID
	return w, nil
}

// function calls a page-script function in a frame. A document that went away before it began is replaced by the
// present one; while it ran, only where the function may run again.
func (e *Executor) function(ctx context.Context, f place, name string, args json.RawMessage) (json.RawMessage, error) {
	if name == functionLocate && e.options.Level == LevelRead {
		args = readOnly(args)
	}
	if args == nil {
		args = json.RawMessage(`{}`)
	}
	var last error
	for range maxWorlds {
		w, err := e.world(ctx, f)
		if err != nil {
			return nil, err
		}
		value, err := e.open(ctx, w, name, map[string]any{"value": args})
		if err == nil {
			return value, nil
		}
		mayRepeat := isContextGone(err) || isContextLost(err) && e.options.Table.CanRetry(name)
		if !mayRepeat {
			return nil, err
		}
		e.view.dropWorld(f.frame)
		last = err
	}
	return nil, last
}

// invoke calls the page script's entry with a name and one CDP call argument.
func (e *Executor) invoke(ctx context.Context, w *world, name string, argument map[string]any) (json.RawMessage, error) {
	said, err := e.converse(ctx, w, name, argument)
	return said.value, err
}

func (e *Executor) converse(ctx context.Context, w *world, name string, argument map[string]any) (answer, error) {
	var answered evaluated
	err := e.ask(ctx, w.child, "Runtime.callFunctionOn", map[string]any{
		"objectId":            w.handle,
		"functionDeclaration": callHandle,
		"arguments":           []any{map[string]any{"value": name}, argument},
		"awaitPromise":        true,
		"returnByValue":       true,
	}, &answered)
	if err != nil {
		return answer{}, err
	}
	if thrown := answered.ExceptionDetails; thrown != nil {
		return answer{}, fault(codeInternal, name+": "+thrown.Text+" "+thrown.Exception.Description)
	}
	return parseAnswer(name, answered.Result.Value)
}

// parseAnswer reads the page script's one JSON string.
func parseAnswer(name string, raw json.RawMessage) (answer, error) {
	var text string
	var said struct {
		Value json.RawMessage `json:"value"`
		Error *Error          `json:"error"`
		Hosts bool            `json:"hosts"`
	}
	if json.Unmarshal(raw, &text) != nil || json.Unmarshal([]byte(text), &said) != nil {
		return answer{}, fault(codeInternal, name+" did not answer in JSON")
	}
	switch {
	case said.Error != nil && said.Error.Code != "":
		return answer{}, said.Error
	case said.Error != nil:
		return answer{}, fault(codeInternal, name+" failed without a code")
	case said.Value == nil:
		return answer{value: nothing()}, nil
	default:
		return answer{value: said.Value, hosts: said.Hosts}, nil
	}
}

// readOnly tells @locate, whatever the program says, that nothing may be submitted.
func readOnly(args json.RawMessage) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if args != nil && json.Unmarshal(args, &fields) != nil {
		fields = map[string]json.RawMessage{}
	}
	fields["read_only"] = json.RawMessage("true")
	raw, err := json.Marshal(fields)
	if err != nil {
		return json.RawMessage(`{"read_only":true}`)
	}
	return raw
}

// ask sends a command of the edge's own and decodes the reply.
func (e *Executor) ask(ctx context.Context, child, method string, params map[string]any, reply any) error {
	raw, err := encode(params)
	if err != nil {
		return err
	}
	answer, err := e.target.Call(ctx, child, method, raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, reply); err != nil {
		return fault(codeInternal, method+" was answered in another shape than expected")
	}
	return nil
}

// Chrome tells what became of a context by text alone: every such refusal has the code -32000.

// isContextGone: the context was not there any more, so nothing ran.
func isContextGone(err error) bool {
	return refusedWith(err, "Cannot find context with specified id", "Could not find object with given id")
}

// isContextLost: the document went away while the function ran.
func isContextLost(err error) bool {
	return refusedWith(err, "Execution context was destroyed", "Inspected target navigated or closed", "Promise was collected")
}

func refusedWith(err error, messages ...string) bool {
	var refused *CallError
	if !errors.As(err, &refused) {
		return false
	}
	for _, message := range messages {
		if strings.HasPrefix(refused.Message, message) {
			return true
		}
	}
	return false
}
