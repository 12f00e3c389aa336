package browse_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"chaperone/server/browse"
)

// A picture of a whole page has an end where a browser cannot draw more, and says so: nothing of it is drawn twice or left out.
func TestPicturesOfWholePagesEnd(t *testing.T) {
	script, at := pageScript(t), formSite(t)
	for screen, ratio := range map[string]int{"a plain screen": 1, "a dense screen": 2} {
		t.Run(screen, func(t *testing.T) {
			c := launch(t, "--force-device-scale-factor="+map[int]string{1: "1", 2: "2"}[ratio])
			d := drive(t, c, script, browse.Options{})
			d.at = at
			d.open("links.html")
			for sentence, tc := range map[string]struct {
				style         string
				width, height int // in pixels of the page; 0 where it is the window's
				says          string
			}{
				"a short page":              {"width:100px;height:3000px", 0, 3000, ""},
				"a long page":               {"width:100px;height:250000px", 0, 16384, "of a page of"},
				"a page beyond any picture": {"width:100px;height:30000000px", 0, 16384, "of a page of"},
				"a wide page":               {"width:40000px;height:100px", 16384, 0, "of a page of 40000 × "},
				"a wide and long page":      {"width:9000px;height:9000px", 9000, 3728, "of a page of 9000 × 9000 px"},
				"a page of no size":         {"display:none", 0, 0, ""},
			} {
				d.page(`(() => { document.documentElement.innerHTML = '<body style="margin:0"><div style="` + tc.style + `;background:rgb(1,2,3)"></div>'; return '' })()`)
				r := d.do(`{"action":"screenshot","full":true}`)
				notices := strings.Join(r.Notices, " ")
				if (tc.says == "") != !strings.Contains(notices, "The picture ends at") || !strings.Contains(notices, tc.says) {
					t.Errorf("%s: %q", sentence, r.Notices)
				}
				isInk(t, sentence, r, tc.style != "display:none")
				if width, height := r.Screenshot.Width, r.Screenshot.Height; width > 16384 || height > 16384 || width*height > 1<<25 || width < 1 || height < 1 {
					t.Errorf("%s: %d × %d", sentence, width, height)
				}
				if ratio == 1 && (tc.width > 0 && r.Screenshot.Width != tc.width || tc.height > 0 && r.Screenshot.Height != tc.height) {
					t.Errorf("%s: %d × %d", sentence, r.Screenshot.Width, r.Screenshot.Height)
				}
			}
		})
	}
}

// isInk checks the first and the last row that are to be drawn.
func isInk(t *testing.T, sentence string, r browse.Result, isDrawn bool) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(r.Picture))
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{0, min(99, img.Bounds().Dy()-1)}
	if len(r.Notices) > 0 && img.Bounds().Dy() > img.Bounds().Dx() {
		rows = append(rows, img.Bounds().Dy()-1)
	}
	for _, y := range rows {
		if red, green, blue, _ := img.At(1, y).RGBA(); isDrawn && (red>>8 != 1 || green>>8 != 2 || blue>>8 != 3) {
			t.Errorf("%s: row %d is not drawn", sentence, y)
		}
	}
}
