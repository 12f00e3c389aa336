package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostNamed is how many methods a line names; the rest are counted together.
const mostNamed = 6

// commandsSaid says what a row of CDP commands counted: "40 commands (12 writes, 1 refused): Input.insertText 11, …".
// Running digests of clients are left to the export. It is empty where detail counts no commands.
func commandsSaid(detail string) string {
	var said map[string]string
	if json.Unmarshal([]byte(detail), &said) != nil || said["commands"] == "" {
		return ""
	}
	line := said["commands"] + " commands"
	if said["commands"] == "1" {
		line = "1 command"
	}
	if kinds := kindsSaid(said); kinds != "" {
		line += " (" + kinds + ")"
	}
	if names := namesSaid(said); names != "" {
		line += ": " + names
	}
	return line
}

func kindsSaid(said map[string]string) string {
	var kinds []string
	for _, kind := range []string{"writes", "refused"} {
		if n := said[kind]; n != "" {
			kinds = append(kinds, n+" "+kind)
		}
	}
	return strings.Join(kinds, ", ")
}

// namesSaid are the methods, the most frequent first. A method's name has a dot, and so has a client's digest.
func namesSaid(said map[string]string) string {
	type counted struct {
		name string
		n    int
	}
	var methods []counted
	for name, text := range said {
		n, err := strconv.Atoi(text)
		if err != nil || !strings.Contains(name, ".") && name != "other" {
			continue
		}
		if domain, refused := strings.CutPrefix(name, "refused."); refused {
			name = domain + " (refused)"
		}
		methods = append(methods, counted{name, n})
	}
	slices.SortFunc(methods, func(a, b counted) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name)) })
	var words []string
	for _, m := range methods[:min(len(methods), mostNamed)] {
		words = append(words, fmt.Sprintf("%s %d", m.name, m.n))
	}
	if more := len(methods) - mostNamed; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}
