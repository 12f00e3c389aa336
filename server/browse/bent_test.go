package browse_test

import (
	"fmt"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// A frame that is drawn in another size is aimed at where things in it are drawn; where a page could lead a press astray by
// how it draws one, nothing in it is pressed.
func TestFramesThatAreDrawnOtherwise(t *testing.T) {
	const frame = `<iframe title="held" src="{SITE}/two" width="400" height="300" style="border:3px solid;padding:7px;`
	pages := map[string]struct {
		html  string
		isHit bool
	}{
		"scaled":   {frame + `transform:scale(.5);transform-origin:0 0"></iframe>`, true},
		"grown":    {frame + `scale:1.5 1.2;transform-origin:0 0"></iframe>`, true},
		"zoomed":   {frame + `zoom:2"></iframe>`, true},
		"small":    {`<div style="zoom:.75"><div style="transform:scale(.4);transform-origin:0 0">` + frame + `zoom:.5"></iframe></div></div>`, true},
		"page":     {`<style>html{zoom:1.25}</style>` + frame + `"></iframe>`, true},
		"around":   {`<iframe src="{SITE}/scaled" width="500" height="400" style="zoom:1.5"></iframe>`, true},
		"moved":    {frame + `transform:translate(20px,30px)"></iframe>`, true},
		"turned":   {`<div style="rotate:180deg;width:400px">` + frame + `"></iframe></div>`, false},
		"mirrored": {frame + `transform:scaleX(-1)"></iframe>`, false},
		"flipped":  {frame + `scale:1 -1"></iframe>`, false},
		"deep":     {frame + `transform:rotateY(60deg)"></iframe>`, false},
		"slanted":  {frame + `transform:skewX(20deg)"></iframe>`, false},
		"drawing":  {`<svg width="800" height="600" viewBox="0 0 200 150"><foreignObject width="420" height="320">` + frame + `"></iframe></foreignObject></svg>`, false},
		"dot":      {frame + `transform:scale(.02)"></iframe>`, false},
	}
	const two = `<body style="margin:0"><button onclick="this.textContent='Pressed'" style="width:100px;height:100px">First</button><button style="position:absolute;left:100px;top:100px;width:200px;height:150px" onclick="this.textContent='Wrong'">Second</button><input aria-label="Field" style="position:absolute;left:10px;top:250px">`
	for _, site := range []string{"", "{OTHER}"} {
		served := map[string]string{"/two": two}
		for name, page := range pages {
			served["/"+name] = strings.ReplaceAll(page.html, "{SITE}", site)
		}
		c, script, at := hostile(t, served)
		for name, page := range pages {
			t.Run(fmt.Sprintf("%s %q", name, site), func(t *testing.T) {
				d := drive(t, c, script, browse.Options{})
				d.at = at
				d.open(name)
				d.do(`{"action":"wait","text":"First"}`)
				const press = `{"action":"click","role":"button","name":"First"}`
				if !page.isHit {
					_ = d.refused(press, fault.NotVisible)
					return
				}
				d.do(press)
				_ = d.ref("Pressed")
				d.do(`{"action":"click","role":"textbox","name":"Field"}`)
				if r := d.do(`{"action":"type","role":"textbox","name":"Field","text":"x"}`); r.Value == nil || *r.Value != "x" {
					t.Errorf("the field holds %s", heldText(r.Value))
				}
			})
		}
	}
}
