package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"chaperone/server/fault"
)

type ledgerRow struct {
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Actor   string    `json:"actor_kind"`
	ActorID string    `json:"actor"`
	Method  string    `json:"method"`
	Peer    string    `json:"peer"`
	Outcome string    `json:"outcome"`
	Session string    `json:"session"`
	Hash    string    `json:"hash"`
	Detail  string    `json:"detail"`
}

type ledgerReport struct {
	Rows int64  `json:"rows"`
	Hash string `json:"hash"`
	Bad  *struct {
		Seq   int64  `json:"seq"`
		Class string `json:"class"`
		Why   string `json:"why"`
	} `json:"bad"`
}

func (a *app) ledgerCommand() *cobra.Command {
	return group("ledger", "Read and prove what was done", a.ledgerList(), a.ledgerVerify(), a.ledgerExport())
}

// ledgerFilter is the query of a list or an export.
type ledgerFilter struct{ kind, project, session, peer, since, until string }

func (f *ledgerFilter) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(choose(&f.kind, "browser", "cdp", "access"), "kind", "rows of this kind alone: actions, commands of CDP clients, or changes of access")
	flags.StringVar(&f.project, "project", "", "one project")
	flags.StringVar(&f.session, "session", "", "one session")
	flags.StringVar(&f.peer, "peer", "", "one host")
	flags.StringVar(&f.since, "since", "", "from this time on, like 2026-01-31T12:00:00Z")
	flags.StringVar(&f.until, "until", "", "up to this time")
}

func (f *ledgerFilter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"kind": f.kind, "project": f.project, "session": f.session, "peer": f.peer, "since": f.since, "until": f.until} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

const listHelp = `List rows, newest first.

A row of kind cdp is one second of a session's CDP clients at one host: how many commands, how many of them could change
something (writes) or were refused, and the methods by count. --json and export show all of a row; there client.3 is the
running digest N:HASH of the third client's messages. HASH 0 is SHA-256 of "chaperone-cdp-1:" and the last part of the endpoint's address,
HASH N is SHA-256 of HASH N-1 (32 bytes) and the N-th message as it was sent, so a log of the connection can be held against the ledger.`

func (a *app) ledgerList() *cobra.Command {
	var filter ledgerFilter
	var limit int
	var cursor string
	cmd := &cobra.Command{Use: "list", Short: "List rows, newest first", Long: listHelp, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		q := filter.query()
		q.Set("limit", strconv.Itoa(limit))
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		raw, err := c.call(cmd.Context(), http.MethodGet, "/api/v1/ledger?"+q.Encode(), nil)
		if err != nil {
			return err
		}
		return show(a, raw, printRows)
	}}
	filter.flags(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "rows at most")
	cmd.Flags().StringVar(&cursor, "cursor", "", "go on where an earlier list ended")
	return cmd
}

func printRows(w io.Writer, rows list[ledgerRow]) {
	lines := make([][]string, 0, len(rows.Items))
	for _, r := range rows.Items {
		lines = append(lines, []string{
			strconv.FormatInt(r.Seq, 10), r.Time.Local().Format("2006-01-02 15:04:05 MST"), r.Actor + " " + r.ActorID, r.Kind, r.Method, r.Outcome, r.Peer, short(r.Hash), r.Session, commandsSaid(r.Detail),
		})
	}
	table(w, []string{"SEQ", "TIME", "WHO", "KIND", "METHOD", "OUTCOME", "PEER", "HASH", "SESSION", "COUNTS"}, lines)
	if rows.Next != "" {
		line(w, "There are older rows: --cursor %s", rows.Next)
	}
}

func short(hash string) string { return hash[:min(len(hash), 12)] }

func (a *app) ledgerVerify() *cobra.Command {
	return &cobra.Command{Use: "verify", Short: "Recompute the chain and name the first bad row", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		raw, err := c.call(cmd.Context(), http.MethodGet, "/api/v1/ledger/verify", nil)
		if err != nil {
			return err
		}
		if err := show(a, raw, func(w io.Writer, r ledgerReport) { r.print(w) }); err != nil {
			return err
		}
		return badRow(raw)
	}}
}

func (r ledgerReport) print(w io.Writer) {
	if r.Bad == nil {
		line(w, "%d rows hold; the last hash is %s", r.Rows, r.Hash)
	}
}

// badRow is the error of a report that names one.
func badRow(raw []byte) error {
	var r ledgerReport
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("decode report: %w", err)
	}
	if r.Bad == nil {
		return nil
	}
	return fault.New(fault.Internal, fmt.Sprintf("row %d does not hold: %s: %s", r.Bad.Seq, r.Bad.Class, r.Bad.Why), "Keep a copy of the data folder as it is.")
}

func (a *app) ledgerExport() *cobra.Command {
	var filter ledgerFilter
	cmd := &cobra.Command{Use: "export", Short: "Print every row that fits, one JSON object a line", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		return c.download(cmd.Context(), "/api/v1/ledger/export?"+filter.query().Encode(), a.out)
	}}
	filter.flags(cmd)
	return cmd
}
