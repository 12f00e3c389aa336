package web

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"chaperone/server/fault"
)

// site is the handler's parts.
type site struct {
	o           Options
	files       assets
	description []byte
	measures    measures
}

// New makes the handler of every route. It fails where an option is missing, the dashboard cannot be read
// or a metric is registered twice.
func New(o Options) (http.Handler, error) {
	s, err := newSite(o)
	if err != nil {
		return nil, err
	}
	return guard(s.o, s.router()), nil
}

func newSite(o Options) (*site, error) {
	if o.Hosts == nil || o.Identity == nil || o.Metrics == nil {
		return nil, errors.New("make web: Hosts, Identity and Metrics are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.BodyWait <= 0 {
		o.BodyWait = bodyWait
	}
	if o.FrameFPS <= 0 {
		o.FrameFPS = 4
	}
	s := &site{o: o}
	var err error
	if s.files, err = readAssets(o.Dashboard); err != nil {
		return nil, err
	}
	if s.measures, err = newMeasures(o.Metrics); err != nil {
		return nil, err
	}
	if s.description, err = describe(s.routes(), o.Version); err != nil {
		return nil, err
	}
	return s, nil
}

// router hands each route to gin; unknown paths and methods get the shape of every other refusal.
func (s *site) router() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.HandleMethodNotAllowed = true
	g.RedirectTrailingSlash = false
	g.Use(s.recover)
	for _, rt := range s.routes() {
		serve := s.measure(rt, s.adapt(rt))
		g.Handle(rt.method, rt.path, func(c *gin.Context) { serve(c.Writer, c.Request, c.Param) })
	}
	s.files.register(g)
	g.NoRoute(func(c *gin.Context) {
		refuse(c.Writer, 0, fault.New(fault.NotFound, "there is nothing at this address", "See "+api+"/openapi.json."))
	})
	g.NoMethod(func(c *gin.Context) {
		refuse(c.Writer, http.StatusMethodNotAllowed,
			fault.New(fault.BadRequest, "this address does not take "+c.Request.Method, "See "+api+"/openapi.json."))
	})
	return g
}

// recover turns a panic of a handler into an internal fault; one that means "abort" goes on.
func (s *site) recover(c *gin.Context) {
	defer func() {
		what := recover()
		if what == nil {
			return
		}
		if err, ok := what.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(what)
		}
		s.o.Logger.ErrorContext(c.Request.Context(), "handler panicked", slog.Any("panic", what), slog.String("route", c.FullPath()))
		if !c.Writer.Written() {
			refuse(c.Writer, 0, fault.New(fault.Internal, "something went wrong inside the server", "See the server's log."))
		}
	}()
	c.Next()
}
