package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const methodEvaluate = "Runtime.evaluate"

// What an eval step's answer has at most, in characters.
const (
	maxEvalChars   = 1 << 20
	maxThrownChars = 1000
)

// eval permits what the table permits a client to evaluate.
func (c checker) eval(s Eval) *Error {
	if s.Expression == "" || s.MaxChars < 1 || s.MaxChars > maxEvalChars {
		return refuse(codeBadRequest, "eval has an expression, and max_chars between 1 and %d", maxEvalChars)
	}
	params, err := encode(map[string]any{"expression": s.Expression})
	if err != nil {
		return refuse(codeBadRequest, "eval does not encode")
	}
	return permitted(c.table.Call(c.level, methodEvaluate, params))
}

// scripted is CDP's answer to a script of the page's own world.
type scripted struct {
	Result struct {
		Type           string          `json:"type"`
		Subtype        string          `json:"subtype"`
		ObjectID       string          `json:"objectId"`
		Value          json.RawMessage `json:"value"`
		Unserializable string          `json:"unserializableValue"`
		Description    string          `json:"description"`
	} `json:"result"`
	ExceptionDetails *struct {
		Text      string `json:"text"`
		Exception struct {
			ClassName   string          `json:"className"`
			Description string          `json:"description"`
			Value       json.RawMessage `json:"value"`
		} `json:"exception"`
	} `json:"exceptionDetails"`
}

// eval runs a script in the world of a frame's own document. An object is fetched only once it is known to be one that can
// be: Chrome fails the whole call for one that it cannot copy, and copies most others to an empty one.
func (e *Executor) eval(ctx context.Context, s Step) (json.RawMessage, error) {
	var told scripted
	child, err := e.evaluate(ctx, s, &told)
	if err != nil {
		return nil, err
	}
	opaque := told.isOpaque()
	if handle := told.Result.ObjectID; handle != "" {
		if told.isData() {
			opaque, err = e.copyObject(ctx, child, &told)
		}
		_, _ = e.target.Call(ctx, child, "Runtime.releaseObject", json.RawMessage(`{"objectId":`+quoted(handle)+`}`)) // or the page has done so
		if err != nil {
			return nil, err
		}
	}
	said := told.shown(s.Eval.MaxChars)
	said.Opaque = opaque && said.Thrown == ""
	return encode(said)
}

// copyObject puts a copy of the object in its place, and answers true where there can be none.
func (e *Executor) copyObject(ctx context.Context, child string, told *scripted) (bool, error) {
	var copied scripted
	err := e.ask(ctx, child, "Runtime.callFunctionOn", map[string]any{
		"objectId": told.Result.ObjectID, "functionDeclaration": "function(){return this}", "returnByValue": true,
	}, &copied)
	if _, isRefused := errors.AsType[*CallError](err); isRefused {
		return true, nil
	}
	*told = copied
	return false, err
}

// isData reports that it is an object of which a copy says what it is.
func (t scripted) isData() bool {
	return t.Result.Type == "object" && slices.Contains([]string{"", "array", "typedarray"}, t.Result.Subtype) && t.ExceptionDetails == nil
}

// isOpaque reports that the value is an object, a function or a symbol, of which only the name can be told.
func (t scripted) isOpaque() bool { return t.Result.ObjectID != "" && !t.isData() }

func quoted(text string) string {
	raw, _ := json.Marshal(text) //nolint:errchkjson // a text always encodes
	return string(raw)
}

// evaluate answers the target session that the script ran in.
func (e *Executor) evaluate(ctx context.Context, s Step, told *scripted) (string, error) {
	if s.Frame == "" || s.Frame == e.view.mainFrame() {
		return "", e.evaluateIn(ctx, "", s.Eval.Expression, told)
	}
	l, err := e.layout(ctx)
	if err != nil {
		return "", err
	}
	f, known := l.frames[s.Frame]
	if !known {
		return "", fault(codeNotFound, "the frame is gone")
	}
	if l.frames[f.parent].child != f.child {
		return f.child, e.evaluateIn(ctx, f.child, s.Eval.Expression, told)
	}
	return f.child, e.evaluateInside(ctx, f.place, s.Eval.Expression, told)
}

// evaluateIn runs it in the outermost document of a target session.
func (e *Executor) evaluateIn(ctx context.Context, child, expression string, told *scripted) error {
	return e.ask(ctx, child, methodEvaluate, map[string]any{
		"expression": expression, "awaitPromise": true,
	}, told)
}

// evaluateInside runs it in a frame that shares its target session with the document around it. Chrome evaluates there
// only by the number of a context, which it tells nobody who does not watch all contexts come: so a function is called
// on the frame's document as its own world has it. A script that is no expression is the function's body.
func (e *Executor) evaluateInside(ctx context.Context, f place, expression string, told *scripted) error {
	document, err := e.ownDocument(ctx, f)
	if err != nil {
		return err
	}
	for _, source := range []string{"async function(){return (" + expression + "\n)}", "async function(){" + expression + "\n}"} {
		*told = scripted{}
		err := e.ask(ctx, f.child, "Runtime.callFunctionOn", map[string]any{
			"objectId": document, "functionDeclaration": source, "awaitPromise": true,
		}, told)
		if err != nil || told.ExceptionDetails == nil || told.ExceptionDetails.Exception.ClassName != "SyntaxError" {
			return err
		}
	}
	return nil
}

// ownDocument is the handle of a frame's document in the page's own world.
func (e *Executor) ownDocument(ctx context.Context, f place) (string, error) {
	w, err := e.world(ctx, f)
	if err != nil {
		return "", err
	}
	var seen scripted
	err = e.ask(ctx, f.child, methodEvaluate, map[string]any{"expression": "document", "contextId": w.context}, &seen)
	if err != nil {
		return "", err
	}
	var described struct {
		Node struct {
			BackendNodeID int `json:"backendNodeId"`
		} `json:"node"`
	}
	err = e.ask(ctx, f.child, "DOM.describeNode", map[string]any{"objectId": seen.Result.ObjectID}, &described)
	if err != nil {
		return "", err
	}
	var resolved struct {
		Object remoteObject `json:"object"`
	}
	err = e.ask(ctx, f.child, "DOM.resolveNode", map[string]any{"backendNodeId": described.Node.BackendNodeID}, &resolved)
	return resolved.Object.ObjectID, err
}

// shown is an answer within its bounds.
func (t scripted) shown(most int) Evaluated {
	if x := t.ExceptionDetails; x != nil {
		why := x.Exception.Description
		if why == "" {
			why = strings.TrimSpace(x.Text + " " + string(x.Exception.Value))
		}
		thrown, _ := cut(why, maxThrownChars)
		return Evaluated{Thrown: thrown}
	}
	value, more := cut(t.text(), most)
	return Evaluated{Value: value, More: more}
}

func (t scripted) text() string {
	switch {
	case t.Result.Unserializable != "":
		return t.Result.Unserializable
	case len(t.Result.Value) > 0:
		return compact(t.Result.Value)
	case t.Result.Description != "":
		return t.Result.Description
	}
	return t.Result.Type
}

// compact is JSON text without space, in which as little is escaped as JSON.stringify escapes (ECMA-262, QuoteJSONString):
// Chrome's pipe escapes all that is not ASCII.
func compact(value json.RawMessage) string {
	var text bytes.Buffer
	if json.Compact(&text, value) != nil {
		return string(value)
	}
	return escaped().ReplaceAllStringFunc(text.String(), func(found string) string {
		var runes string
		if json.Unmarshal([]byte(`"`+found+`"`), &runes) != nil || strings.ContainsFunc(runes, mustBeEscaped) {
			return found
		}
		return runes
	})
}

// escaped finds escapes of characters, pairs of surrogates as one; an escaped backslash is found too, so that what follows it
// is not taken for an escape.
func escaped() *regexp.Regexp {
	return regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}`)
}

// mustBeEscaped holds for half a pair of surrogates too, which Go reads as U+FFFD.
func mustBeEscaped(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError }

// cut answers the first characters of a text and how many are left.
func cut(text string, most int) (string, int) {
	count := 0
	for i := range text {
		if count == most {
			return text[:i], utf8.RuneCountInString(text[i:])
		}
		count++
	}
	return text, 0
}
