package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// show prints an answer: its JSON unchanged, or as people prints it.
func show[T any](a *app, raw []byte, people func(w io.Writer, answer T)) error {
	if a.json {
		_, err := a.out.Write(raw)
		return err
	}
	var answer T
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	people(a.out, answer)
	return nil
}

// tellOwn prints what this program found out by itself, in the same two ways.
func tellOwn[T any](a *app, answer T, people func(w io.Writer, answer T)) error {
	if a.json {
		return json.NewEncoder(a.out).Encode(answer)
	}
	people(a.out, answer)
	return nil
}

// list is one page of the API's lists.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// table writes lines in columns.
func table(w io.Writer, head []string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		_, _ = fmt.Fprintln(t, printable(strings.Join(row, "\t")))
	}
	_ = t.Flush()
}

// printable takes out what would move a terminal's cursor or turn its text; columns stay apart.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// note says something on the side, where people read it and programs do not.
func (a *app) note(format string, args ...any) { line(a.err, "chaperone: "+format, args...) }

func line(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintln(w, printable(fmt.Sprintf(format, args...)))
}
