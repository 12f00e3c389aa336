package program

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
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

// eval runs a script in the world of a frame's own document.
func (e *Executor) eval(ctx context.Context, s Step) (json.RawMessage, error) {
	var told scripted
	err := e.evaluate(ctx, s, &told)
	if err != nil {
		return nil, err
	}
	return encode(told.shown(s.Eval.MaxChars))
}

func (e *Executor) evaluate(ctx context.Context, s Step, told *scripted) error {
	if s.Frame == "" || s.Frame == e.view.mainFrame() {
		return e.evaluateIn(ctx, "", s.Eval.Expression, told)
	}
	l, err := e.layout(ctx)
	if err != nil {
		return err
	}
	f, known := l.frames[s.Frame]
	if !known {
		return fault(codeNotFound, "the frame is gone")
	}
	if l.frames[f.parent].child != f.child {
		return e.evaluateIn(ctx, f.child, s.Eval.Expression, told)
	}
	return e.evaluateInside(ctx, f.place, s.Eval.Expression, told)
}

// evaluateIn runs it in the outermost document of a target session.
func (e *Executor) evaluateIn(ctx context.Context, child, expression string, told *scripted) error {
	return e.ask(ctx, child, methodEvaluate, map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true,
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
			"objectId": document, "functionDeclaration": source, "returnByValue": true, "awaitPromise": true,
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
