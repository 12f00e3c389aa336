package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"

	"chaperone/server/account"
	"chaperone/server/fault"
)

// call is one request as a handler sees it.
type call struct {
	w     http.ResponseWriter
	r     *http.Request
	param func(name string) string // a part of the path by name
	actor account.Actor            // the zero Actor on open routes
}

// handler answers one call: nil is an answer without a body, an http.Handler writes itself, all else is JSON.
type handler func(c *call) (any, error)

// created is the answer of a route that made something.
type created struct{ body any }

// adapt makes a route's handler serve HTTP: actor, handler, answer or fault.
func (s *site) adapt(rt route) func(w http.ResponseWriter, r *http.Request, param func(string) string) {
	return func(w http.ResponseWriter, r *http.Request, param func(string) string) {
		c := &call{w: w, r: r, param: param}
		var answer any
		err := s.authenticate(c, rt)
		if err == nil {
			answer, err = rt.handle(c)
		}
		if err != nil {
			s.refuse(c, rt, err)
			return
		}
		write(c, answer)
	}
}

func write(c *call, answer any) {
	switch body := answer.(type) {
	case nil:
		c.w.WriteHeader(http.StatusNoContent)
	case http.Handler:
		body.ServeHTTP(c.w, c.r)
	case created:
		writeJSON(c.w, http.StatusCreated, body.body)
	default:
		writeJSON(c.w, http.StatusOK, body)
	}
}

func (s *site) authenticate(c *call, rt route) error {
	if rt.open {
		return nil
	}
	actor, err := s.whoever(c.r)
	c.actor = actor
	return err
}

// whoever names the bearer of a request.
func (s *site) whoever(r *http.Request) (account.Actor, error) {
	bearer, err := bearerOf(r)
	if err != nil {
		return account.Actor{}, err
	}
	return s.o.Identity.Authenticate(r.Context(), bearer)
}

func bearerOf(r *http.Request) (string, error) {
	bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || bearer == "" {
		return "", fault.New(fault.Unauthorised, "no bearer token was sent", "Send the header Authorization: Bearer TOKEN.")
	}
	return bearer, nil
}

// refuse answers with err's fault; what is our own trouble is logged, with its cause.
func (s *site) refuse(c *call, rt route, err error) {
	f := fault.Of(err)
	if f.Code == fault.Internal && c.r.Context().Err() == nil {
		s.o.Logger.ErrorContext(c.r.Context(), "request failed", slog.String("route", rt.method+" "+rt.path), slog.Any("error", err))
	}
	refuse(c.w, 0, f)
}

// take decodes the request's body, strictly: one JSON object, no unknown field.
func take[T any](c *call) (T, error) {
	var body T
	decoder := json.NewDecoder(c.r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		return body, unreadable(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return body, fault.New(fault.BadRequest, "there is something after the JSON object", "Send one JSON object.")
	}
	return body, nil
}

// takeRaw reads the request's body for a room that decodes it itself.
func takeRaw(c *call) ([]byte, error) {
	raw, err := io.ReadAll(c.r.Body)
	if err != nil {
		return nil, unreadable(err)
	}
	return raw, nil
}

func unreadable(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return fault.New(fault.TooLarge, fmt.Sprintf("the body is larger than %d bytes", large.Limit), "Send less.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.Timeout, "the request's body did not come in time", "Send it at once.")
	}
	return fault.Misread(err, "the body", "See /api/v1/openapi.json.")
}

// number reads a query parameter; absent is 0.
func (c *call) number(name string) (int64, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(fault.BadRequest, name+" is not a number", "Leave it out or send a whole number from 0.")
	}
	return n, nil
}

// peer is the caller's address, for the ledger.
func (c *call) peer() string {
	if isLocalSocket(c.r) {
		return "local"
	}
	return c.r.RemoteAddr
}
