package endpoint_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

// printing is an edge whose page prints to size bytes.
func printing(size int) (*edge, []byte) {
	e := newEdge("t1")
	data := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
	e.answer = func(s sent) (string, error, bool) {
		if s.method != "Page.printToPDF" {
			return "", nil, false
		}
		return `{"data":"` + base64.StdEncoding.EncodeToString(data) + `"}`, nil, true
	}
	return e, data
}

const asStream = `{"transferMode":"ReturnAsStream","scale":1}`

func TestAPrintedPageIsReadAsAStream(t *testing.T) {
	e, data := printing(2<<20 + 5)
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	handle := c.call(session, "Page.printToPDF", asStream, "stream")
	if got := e.down("Page.printToPDF")[0].params; got != `{"scale":1,"transferMode":"ReturnAsBase64"}` {
		t.Errorf("went down: %s", got)
	}
	var read []byte
	for {
		m := c.ask(session, "IO.read", `{"handle":"`+handle+`"}`)
		piece, err := base64.StdEncoding.DecodeString(pick(t, m.Result, "data"))
		if err != nil || pick(t, m.Result, "base64Encoded") != "true" || len(piece) == 0 {
			t.Fatalf("answered %.200s (%v)", m.raw, err)
		}
		read = append(read, piece...)
		if pick(t, m.Result, "eof") == "true" {
			break
		}
	}
	if !bytes.Equal(read, data) {
		t.Errorf("read %d bytes, other than the %d that were printed", len(read), len(data))
	}
	for params, want := range map[string]string{
		`"offset":3,"size":4`:                   `"data":"MzQ1Ng==","eof":false`,
		`"offset":2097155,"size":2`:             `"data":"NTY=","eof":true`,
		`"offset":9999999`:                      `"data":"","eof":true`,
		`"offset":-1,"size":-1`:                 `"data":"MA==","eof":false`,
		`"offset":"x"`:                          `-32602`,
		`"size":9223372036854775807,"offset":0`: `"eof":false`,
	} {
		if m := c.ask(session, "IO.read", `{"handle":"`+handle+`",`+params+`}`); !strings.Contains(m.raw, want) {
			t.Errorf("%s: answered %.200s, want %s", params, m.raw, want)
		}
	}
	c.call(session, "IO.close", `{"handle":"`+handle+`"}`)
	if m := c.ask(session, "IO.read", `{"handle":"`+handle+`"}`); m.Error == nil {
		t.Errorf("a closed one is read: %.200s", m.raw)
	}
	if len(e.down("IO.read"))+len(e.down("IO.close")) > 0 {
		t.Error("the browser was asked for a stream")
	}
}

func TestPrintedPagesOfAClientAreBoundedAndItsOwn(t *testing.T) {
	e, _ := printing(10)
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	var handle string
	for range 4 {
		handle = a.call(inA, "Page.printToPDF", asStream, "stream")
	}
	if m := a.ask(inA, "Page.printToPDF", asStream); m.Error == nil || !strings.Contains(m.Error.Message, "4 printed pages") {
		t.Errorf("a fifth is answered %s", m.raw)
	}
	if m := b.ask(inB, "IO.read", `{"handle":"`+handle+`"}`); m.Error == nil {
		t.Errorf("another's is read: %s", m.raw)
	}
	a.call(inA, "IO.close", `{"handle":"`+handle+`"}`)
	a.call(inA, "Page.printToPDF", asStream, "stream")
	if got := a.call(inA, "Page.printToPDF", `{"transferMode":"ReturnAsBase64"}`, "data"); got == "" {
		t.Error("a whole answer is empty")
	}
}
