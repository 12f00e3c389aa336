// Package live shows a session's pictures to the people who watch it.
//
// It owns the fan-out: one cast a session however many watch, started by the first viewer and stopped
// a few seconds after the last, and for each viewer the newest picture at that viewer's rate. It does
// not know who may watch (session says so), where the pictures come from (a Source) or how they reach
// a viewer (web writes them).
//
// A viewer's life: Watch joins the session's stream, or starts it; pictures arrive at sink until the
// viewer's context, the source or the hub ends; the stream lingers, then stops its cast.
package live
