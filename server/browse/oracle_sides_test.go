package browse_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// operable are the roles of what can be operated.
func operable() []string {
	return strings.Fields("button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider spinbutton switch tab textbox treeitem")
}

// chromesOwn are Chrome's names for what has another role in ARIA.
func chromesOwn() map[string]string {
	return map[string]string{
		"DisclosureTriangle": "button", "DisclosureTriangleGrouped": "button", "ColorWell": "button",
		"Date": "textbox", "DateTime": "textbox", "InputTime": "textbox",
	}
}

// oracleScript is the page script with a door to its elements by their numbers.
func oracleScript(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	built := api.Build(api.BuildOptions{
		AbsWorkingDir: root, Bundle: true, Format: api.FormatIIFE, Target: api.ES2022,
		Stdin: &api.StdinOptions{
			Contents:   `import './main.ts'; import { elementNumbered } from './nodes.ts'; globalThis.numbered ??= elementNumbered;`,
			ResolveDir: filepath.Join(root, "extension/src/page"), Loader: api.LoaderTS,
		},
	})
	for _, message := range built.Errors {
		t.Fatalf("bundle page script: %s (%v)", message.Text, message.Location)
	}
	return string(built.OutputFiles[0].Contents)
}

type oracleFrame struct {
	Frame       struct{ ID string }
	ChildFrames []oracleFrame
}

func (f oracleFrame) all() []string {
	ids := []string{f.Frame.ID}
	for _, child := range f.ChildFrames {
		ids = append(ids, child.all()...)
	}
	return ids
}

func (p *tab) frames() []string {
	p.t.Helper()
	var tree struct{ FrameTree oracleFrame }
	p.decode(&tree, "Page.getFrameTree", map[string]any{})
	return tree.FrameTree.all()
}

func (p *tab) decode(into any, method string, params map[string]any) {
	p.t.Helper()
	if err := json.Unmarshal(p.must(p.session, method, params), into); err != nil {
		p.t.Fatal(err)
	}
}

// ours are the operable lines of the snapshots of all frames of this process, by Chrome's number of the node.
func (p *tab) ours() map[int]seen {
	p.t.Helper()
	main := p.context
	defer func() { p.context = main }()
	found := map[int]seen{}
	for _, frame := range p.frames() {
		p.enter(frame)
		shot := p.snapshot(map[string]any{"full": true, "budget": oracleBudget})
		lines := slices.DeleteFunc(shot.Lines, func(l line) bool { return l.Node == 0 || !slices.Contains(operable(), l.Role) })
		for i, node := range p.backendNodes(lines) {
			found[node] = seen{role: lines[i].Role, name: lines[i].Name, states: told(lines[i].States)}
		}
	}
	return found
}

func (p *tab) enter(frame string) {
	p.t.Helper()
	var world struct{ ExecutionContextID float64 }
	p.decode(&world, "Page.createIsolatedWorld", map[string]any{"frameId": frame, "worldName": "chaperone"})
	p.context = world.ExecutionContextID
	p.must(p.session, "Runtime.evaluate", map[string]any{"expression": p.script, "contextId": p.context})
}

func (p *tab) backendNodes(lines []line) []int {
	p.t.Helper()
	numbers := make([]int, len(lines))
	for i, l := range lines {
		numbers[i] = l.Node
	}
	raw, err := json.Marshal(numbers)
	if err != nil {
		p.t.Fatal(err)
	}
	var list struct{ Result struct{ ObjectID string } }
	p.decode(&list, "Runtime.evaluate", map[string]any{"expression": string(raw) + ".map(numbered)", "contextId": p.context})
	var members struct {
		Result []struct {
			Name  string
			Value struct{ ObjectID string }
		}
	}
	p.decode(&members, "Runtime.getProperties", map[string]any{"objectId": list.Result.ObjectID, "ownProperties": true})
	nodes := make([]int, 0, len(lines))
	for _, member := range members.Result[:len(lines)] {
		var described struct{ Node struct{ BackendNodeID int } }
		p.decode(&described, "DOM.describeNode", map[string]any{"objectId": member.Value.ObjectID})
		nodes = append(nodes, described.Node.BackendNodeID)
	}
	return nodes
}

type axNode struct {
	Ignored          bool
	Role, Name       struct{ Value any }
	BackendDOMNodeID int
	Properties       []struct {
		Name  string
		Value struct{ Value any }
	}
}

// states are Chrome's properties in the words of a snapshot; that a native select is closed goes without saying.
func (n axNode) states(w widgets) []string {
	var states []string
	for _, p := range n.Properties {
		switch value := fmt.Sprint(p.Value.Value); {
		case p.Name == "expanded" && value == "false":
			if !w.closed[n.BackendDOMNodeID] {
				states = append(states, "collapsed")
			}
		case value == "mixed":
			states = append(states, p.Name+"=mixed")
		case value == "true" || p.Name == "invalid" && value != "false":
			states = append(states, p.Name)
		}
	}
	return states
}

// told are the states that both sides tell, in one order.
func told(states []string) string {
	both := strings.Fields("checked checked=mixed pressed pressed=mixed expanded collapsed disabled required readonly selected invalid")
	kept := slices.DeleteFunc(slices.Clone(states), func(state string) bool { return !slices.Contains(both, state) })
	slices.Sort(kept)
	return strings.Join(kept, " ")
}

// chromes are the operable nodes of Chrome's own tree, without what the browser has put into its widgets and
// without native options, which are their select's.
func (p *tab) chromes() map[int]seen {
	p.t.Helper()
	widgets := p.widgets()
	found := map[int]seen{}
	for _, frame := range p.frames() {
		var tree struct{ Nodes []axNode }
		p.decode(&tree, "Accessibility.getFullAXTree", map[string]any{"frameId": frame})
		for _, node := range tree.Nodes {
			role, _ := node.Role.Value.(string)
			name, _ := node.Name.Value.(string)
			if own := chromesOwn()[role]; own != "" {
				role = own
			}
			if !node.Ignored && slices.Contains(operable(), role) && !widgets.inside[node.BackendDOMNodeID] {
				found[node.BackendDOMNodeID] = seen{role: role, name: cutName(name), states: told(node.states(widgets))}
			}
		}
	}
	return found
}

// cutName is the page script's cut, on names of one plane.
func cutName(name string) string {
	const longest = 200
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return name
}

type domNode struct {
	BackendNodeID   int
	NodeName        string
	ShadowRootType  string
	Children        []domNode
	ShadowRoots     []domNode
	ContentDocument *domNode
}

// widgets are the browser's own: what it has put inside of them, and the selects.
type widgets struct{ inside, closed map[int]bool }

func (p *tab) widgets() widgets {
	p.t.Helper()
	var document struct{ Root domNode }
	p.decode(&document, "DOM.getDocument", map[string]any{"depth": -1, "pierce": true})
	w := widgets{inside: map[int]bool{}, closed: map[int]bool{}}
	w.visit(document.Root, false)
	return w
}

func (w widgets) visit(n domNode, inside bool) {
	inside = inside || n.ShadowRootType == "user-agent"
	w.inside[n.BackendNodeID] = inside || n.NodeName == "OPTION"
	w.closed[n.BackendNodeID] = n.NodeName == "SELECT"
	below := slices.Concat(n.Children, n.ShadowRoots)
	if n.ContentDocument != nil {
		below = append(below, *n.ContentDocument)
	}
	for _, child := range below {
		w.visit(child, inside)
	}
}
