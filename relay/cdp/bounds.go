package cdp

import (
	"encoding/json"
	"slices"
)

// notHuge stands in a rule for a size and its factor that together make no picture too large to draw.
const notHuge = "huge"

// What a picture may cost: a person's browser draws it in memory of a few times its pixels, and all its windows wait.
const (
	maxClipPixels  = 1 << 25 // before the screen's own factor
	maxClipSide    = 1 << 16
	maxClipScale   = 4
	maxViewPixels  = 1 << 26 // of an emulated screen, with its factor
	wrongClip      = "is not a box of finite numbers with at most 33554432 pixels, 65536 a side, and scale 4"
	reasonHugeView = "width and height with deviceScaleFactor are more than 67108864 pixels"
)

// Filled judges the parameters of a program's permitted call once its references are filled in: those whose values have
// bounds must keep to them.
func (t *Table) Filled(method string, params json.RawMessage) Verdict {
	rules := t.methods[method]
	if !slices.ContainsFunc(rules, rule.hasBounds) {
		return Verdict{}
	}
	given, err := members(params)
	if err != nil {
		return deny("%s: params are not one plain JSON object", method)
	}
	var refused string
	for _, rule := range rules {
		reason := rule.judgeBounds(given)
		if reason == "" {
			return Verdict{}
		}
		if refused == "" {
			refused = reason
		}
	}
	return deny("%s: %s", method, refused)
}

func (k kind) hasBounds() bool { return k.bounds != nil || k.name == kindClip }

func (r rule) hasBounds() bool {
	for _, kind := range r.Params {
		if kind.hasBounds() {
			return true
		}
	}
	return r.Not == notHuge
}

func (r rule) judgeBounds(given []member) string {
	for _, m := range given {
		if kind := r.Params[m.name]; kind.hasBounds() && !kind.admits(m.value) {
			return m.name + " " + kind.wrong()
		}
	}
	return r.refuseTogether(func(name string) []byte { return find(given, name) })
}

func isClip(raw []byte) bool {
	given, err := members(raw)
	if raw[0] != '{' || err != nil {
		return false
	}
	box := map[string]float64{}
	for _, m := range given {
		number, isNumber := short(m.value).(float64)
		if !isNumber {
			return false
		}
		box[m.name] = number
	}
	return fits(box)
}

// mayBeClip is isClip of what a program gives: a number that is filled in later is judged then.
func mayBeClip(value map[string]any) bool {
	box := map[string]float64{}
	for name, part := range value {
		number, isNumber := part.(float64)
		if !isNumber && !isReference(part) {
			return false
		}
		box[name] = number
	}
	return fits(box)
}

// fits reports whether a clip's picture is not too large. Chrome says itself what is missing. A scale below 1 counts as
// 1, since the page is laid out to the clip's size first.
func fits(clip map[string]float64) bool {
	for name := range clip {
		if !slices.Contains([]string{"x", "y", "width", "height", "scale"}, name) {
			return false
		}
	}
	width, height, scale := clip["width"], clip["height"], max(1, clip["scale"])
	if width < 0 || height < 0 || clip["scale"] < 0 || scale > maxClipScale {
		return false
	}
	width, height = width*scale, height*scale
	return width <= maxClipSide && height <= maxClipSide && width*height <= maxClipPixels
}

// isHuge reports whether an emulated screen has too many pixels. What is not given counts as Chrome's own; what is filled
// in later is judged then.
func isHuge(given func(name string) []byte) bool {
	number := func(name string) float64 {
		number, _ := short(given(name)).(float64)
		return number
	}
	factor := max(1, number("deviceScaleFactor"))
	return number("width")*number("height")*factor*factor > maxViewPixels
}

func find(given []member, name string) []byte {
	for _, m := range given {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
