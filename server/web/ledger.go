package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"chaperone/server/fault"
	"chaperone/server/ledger"
)

func (s *site) ledgerRoutes() []route {
	filters := []string{"kind", "project", "session", "peer", "since", "until"}
	return []route{
		{method: http.MethodGet, path: api + "/ledger", does: "The account's ledger, newest first.", query: append([]string{"limit", "cursor"}, filters...), gives: page[ledger.Row]{}, handle: s.listLedger},
		{method: http.MethodGet, path: api + "/ledger/verify", does: "Recompute the account's chain.", gives: ledger.Report{}, handle: s.verifyLedger},
		{method: http.MethodGet, path: api + "/ledger/export", does: "Every row that fits, newest first, one JSON object a line.", query: filters, media: "application/x-ndjson", handle: s.exportLedger},
	}
}

func (s *site) listLedger(c *call) (any, error) {
	filter, err := s.ledgerFilter(c)
	if err != nil {
		return nil, err
	}
	rows, err := s.o.Ledger.List(c.r.Context(), filter)
	if err != nil {
		return nil, err
	}
	list := all(rows)
	if len(rows) == filter.Limit {
		list.Next = strconv.FormatInt(rows[len(rows)-1].Seq, 10)
	}
	return list, nil
}

// verifyLedger is for whoever may see the whole account: the chain is the account's, not a project's.
func (s *site) verifyLedger(c *call) (any, error) {
	if c.actor.Project != "" {
		return nil, fault.New(fault.Forbidden, "a project's token cannot verify the account's ledger", "Use a token that no project binds.")
	}
	return s.o.Ledger.Verify(c.r.Context(), c.actor.Account)
}

// exportPage is how many rows an export reads at a time.
const exportPage = 500

func (s *site) exportLedger(c *call) (any, error) {
	filter, err := s.ledgerFilter(c)
	if err != nil {
		return nil, err
	}
	filter.Limit = exportPage
	first, err := s.o.Ledger.List(c.r.Context(), filter)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		if err := s.writeRows(r.Context(), w, filter, first); err != nil {
			panic(http.ErrAbortHandler) // a cut connection is the one way to say that rows are missing
		}
	}), nil
}

func (s *site) writeRows(ctx context.Context, w io.Writer, filter ledger.Filter, rows []ledger.Row) error {
	encoder := json.NewEncoder(w)
	for {
		for _, row := range rows {
			if err := encoder.Encode(row); err != nil {
				return err
			}
		}
		if len(rows) < filter.Limit {
			return nil
		}
		filter.Before = rows[len(rows)-1].Seq
		var err error
		if rows, err = s.o.Ledger.List(ctx, filter); err != nil {
			return err
		}
	}
}

// ledgerFilter reads the query; a token that a project binds sees that project's rows alone.
func (s *site) ledgerFilter(c *call) (ledger.Filter, error) {
	query := c.r.URL.Query()
	filter := ledger.Filter{
		Account: c.actor.Account, Kind: query.Get("kind"), Session: query.Get("session"), Peer: query.Get("peer"), Limit: defaultPage,
	}
	var err error
	if !isKind(filter.Kind) {
		return filter, fault.New(fault.BadRequest, "there is no kind "+quoted(filter.Kind), "Use browser, cdp or access, or leave it out for all.")
	}
	if filter.Project, err = s.ledgerProject(c, query.Get("project")); err != nil {
		return filter, err
	}
	if filter.Since, err = moment(query, "since"); err != nil {
		return filter, err
	}
	if filter.Until, err = moment(query, "until"); err != nil {
		return filter, err
	}
	if filter.Before, err = c.number("cursor"); err != nil {
		return filter, err
	}
	limit, err := c.number("limit")
	if limit > 0 && limit <= exportPage {
		filter.Limit = int(limit)
	}
	return filter, err
}

func isKind(name string) bool {
	return slices.Contains([]ledger.Kind{"", ledger.Browser, ledger.CDP, ledger.Skill, ledger.Access}, ledger.Kind(name))
}

func (s *site) ledgerProject(c *call, named string) (string, error) {
	if named == "" {
		return c.actor.Project, nil
	}
	p, err := s.projectNamed(c, named)
	return p.ID, err
}

func moment(query url.Values, name string) (time.Time, error) {
	text := query.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.New(fault.BadRequest, name+" is not a time", "Write it like 2026-01-31T12:00:00Z.")
	}
	return t, nil
}
