package browse_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"chaperone/server/browse"
)

// drawn is a page of one box, and what its picture must be.
type drawn struct {
	style         string
	width, height int    // in pixels of a plain screen; 0 where it is the window's
	says          string // of where the picture ends; empty for nothing
	ink           []int  // the rows that the box is in
}

// A picture of a whole page has an end where a browser cannot draw more, and says so: nothing of it is drawn twice or left out.
func TestPicturesOfWholePagesEnd(t *testing.T) {
	script, at := pageScript(t), formSite(t)
	pages := map[string]drawn{
		"a short page":              {"width:100px;height:3000px", 0, 3000, "", []int{0, 2999}},
		"a long page":               {"width:100px;height:250000px", 0, 16384, "of a page of", []int{0, 8000, 13000}},
		"a page beyond any picture": {"width:100px;height:30000000px", 0, 16384, "of a page of", []int{0, 13000}},
		"a wide page":               {"width:40000px;height:100px", 16384, 0, "of a page of 40000 × ", []int{0, 99}},
		"a wide and long page":      {"width:9000px;height:9000px", 9000, 3728, "of a page of 9000 × 9000 px", []int{0, 1800}},
		"a page of no size":         {"display:none", 0, 0, "", nil},
	}
	for _, ratio := range []int{1, 2} {
		t.Run(fmt.Sprintf("a screen of %d pixels a CSS pixel", ratio), func(t *testing.T) {
			c := launch(t, fmt.Sprintf("--force-device-scale-factor=%d", ratio))
			d := drive(t, c, script, browse.Options{})
			d.at = at
			d.open("links.html")
			for sentence, page := range pages {
				d.page(`(() => { document.documentElement.innerHTML = '<body style="margin:0"><div style="` + page.style + `;background:rgb(1,2,3)"></div>'; return '' })()`)
				r := d.do(`{"action":"screenshot","full":true}`)
				ends := strings.Contains(strings.Join(r.Notices, " "), "The picture ends at")
				if ends != (page.says != "") || !strings.Contains(strings.Join(r.Notices, " "), page.says) {
					t.Errorf("%s: %q", sentence, r.Notices)
				}
				page.check(t, sentence, r)
				if ratio == 1 {
					page.measure(t, sentence, *r.Screenshot)
				}
			}
		})
	}
}

func (p drawn) measure(t *testing.T, sentence string, s browse.Screenshot) {
	t.Helper()
	if p.width > 0 && s.Width != p.width || p.height > 0 && s.Height != p.height {
		t.Errorf("%s: %d × %d", sentence, s.Width, s.Height)
	}
}

// check holds the picture to the bounds, and to the box.
func (p drawn) check(t *testing.T, sentence string, r browse.Result) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(r.Picture))
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Size()
	if size.X > 16384 || size.Y > 16384 || size.X*size.Y > 1<<25 || size.Eq(image.Point{}) {
		t.Errorf("%s: %v", sentence, size)
	}
	for _, y := range p.ink {
		if red, green, blue, _ := img.At(1, y).RGBA(); red>>8 != 1 || green>>8 != 2 || blue>>8 != 3 {
			t.Errorf("%s: row %d is not drawn", sentence, y)
		}
	}
}
