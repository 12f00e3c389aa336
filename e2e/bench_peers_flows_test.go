package e2e_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// operator goes through a flow with a tool and reads nothing but its answers.
type operator struct {
	b    *testing.B
	tool tool
	site string

	answers []string // the newest last
	last    string
}

func (o *operator) do(m move) {
	o.b.Helper()
	o.last = o.tool.do(o.b, m)
	o.answers = append(o.answers, o.last)
}

func (o *operator) open(page string, look bool) {
	o.b.Helper()
	o.do(move{verb: "open", value: o.site + "/" + page, look: look})
}

// at does something with an element that an answer has shown, the newest answer first.
func (o *operator) at(verb, role, name, value string) {
	o.b.Helper()
	o.do(move{verb: verb, ref: o.ref("", role, name), value: value})
}

// press is a click whose outcome the operator has to see.
func (o *operator) press(role, name string) {
	o.b.Helper()
	o.do(move{verb: "click", ref: o.ref("", role, name), look: true})
}

// inRow looks into the row that an answer shows with a text, where the answer leaves out what else is in it.
func (o *operator) inRow(text string) {
	o.b.Helper()
	if _, isShown := refIn(o.last, text, "button", "Approve"); isShown {
		return
	}
	rows := rowRef.FindAllStringSubmatch(o.last[:max(0, strings.LastIndex(o.last, text))], -1)
	if rows == nil {
		o.b.Fatalf("no row of %s in\n%s", text, o.last)
	}
	o.do(move{verb: "within", ref: rows[len(rows)-1][1]})
}

var rowRef = regexp.MustCompile(`- row[^\n]*\[ref=(\w+)\]`)

func (o *operator) ref(mark, role, name string) string {
	o.b.Helper()
	for _, answer := range slices.Backward(o.answers) {
		if ref, ok := refIn(answer, mark, role, name); ok {
			return ref
		}
	}
	o.b.Fatalf("no %s %q in\n%s", role, name, o.last)
	return ""
}

// flows are what there is to do on each page, and what the operator must have read at its end.
var flows = []struct {
	page, end string
	do        func(o *operator)
}{
	{page: "links.html", end: "4532", do: func(o *operator) {
		o.open("links.html", true)
		o.press("link", "Link number 17")
		o.do(move{verb: "text"})
	}},
	{page: "news.html", end: "4147", do: func(o *operator) {
		o.open("news.html", false)
		o.do(move{verb: "find", value: "harbour seals"})
		title := regexp.MustCompile(`link "(Harbour seals[^"]*)"`).FindStringSubmatch(o.last)
		if title == nil {
			o.b.Fatalf("the story is not in\n%s", o.last)
		}
		o.do(move{verb: "click", ref: o.ref("", "link", title[1])})
		o.do(move{verb: "text"})
	}},
	{page: "table.html", end: "2221", do: func(o *operator) {
		o.open("table.html", false)
		o.do(move{verb: "find", value: "Order 1777"})
		o.inRow("Order 1777")
		o.do(move{verb: "click", ref: o.ref("Order 1777", "button", "Approve")})
		if !strings.Contains(o.last, "is approved") {
			o.do(move{verb: "status", value: "is approved"})
		}
	}},
	{page: "form.html", end: "order 4711 is placed", do: func(o *operator) {
		o.open("form.html", true)
		o.at("fill", "textbox", "Name", "Kim Berg")
		o.at("fill", "textbox", "Mail", "kim@example.com")
		o.at("fill", "textbox", "Street", "Long Lane 5")
		o.press("button", "Next")
		o.at("fill", "textbox", "City", "Oslo")
		o.at("select", "combobox", "Country", "Norway")
		o.at("check", "checkbox", "Gift wrap", "")
		o.press("button", "Next")
		o.at("click", "radio", "Express", "")
		o.at("check", "checkbox", "I accept the terms", "")
		o.press("button", "Place order")
		if !strings.Contains(o.last, "4711") {
			o.do(move{verb: "text"})
		}
	}},
}

// walk goes through a flow and answers how many characters the operator has read.
func walk(b *testing.B, t tool, site string, flow int) int {
	b.Helper()
	o := &operator{b: b, tool: t, site: site}
	flows[flow].do(o)
	read := strings.Join(o.answers, "")
	if !strings.Contains(read, flows[flow].end) {
		b.Errorf("%s is not finished: no %q in\n%s", flows[flow].page, flows[flow].end, o.last)
	}
	return utf8.RuneCountInString(read)
}
