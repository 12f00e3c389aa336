package store_test

import (
	"testing"

	"chaperone/server/store"
)

func TestIsIDTakesOnlyWhatNewIDWrites(t *testing.T) {
	if id := newID(t, "p"); !store.IsID("p", id) {
		t.Errorf("%s is no id", id)
	}
	for name, text := range map[string]string{
		"another prefix":     newID(t, "s"),
		"nothing":            "",
		"lower case":         "p_01kb9zzzzzzzzzzzzzzzzzzzzz",
		"one character less": newID(t, "p")[:27],
		"one character more": newID(t, "p") + "0",
		"a path":             "p_../../../../../etc/passwd0",
		"a letter it lacks":  "p_01KB9ZZZZZZZZZZZZZZZZZZZZU",
		"more than 128 bits": "p_81KB9ZZZZZZZZZZZZZZZZZZZZZ",
	} {
		if store.IsID("p", text) {
			t.Errorf("%s (%q) is an id", name, text)
		}
	}
}
