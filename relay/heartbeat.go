package relay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// watch ends the link when its time has come, gives its place free at once, and then closes the socket,
// which can take as long as a close handshake.
func (l *link) watch(ctx context.Context) {
	l.attend(ctx)
	e := l.ended()
	l.hub.unseat(l, e.reason)
	l.letGo()
	_ = l.conn.Close(e.code, e.reason.words())
}

// attend looks after the link until it is over. The server asks the Authority by its own clock: a client
// that sends no ping is asked about all the same.
func (l *link) attend(ctx context.Context) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	age := time.NewTimer(maxAge)
	defer age.Stop()
	for {
		select {
		case <-l.over:
			return
		case <-quiet.C:
			l.missed(quiet)
		case <-age.C:
			l.shut(ending{reason: ReasonExpired, code: closeExpired})
		case <-beat.C:
			l.hub.holdAgain(l)
			l.ask(ctx)
		}
	}
}

// missed takes a minute's silence for death. The timer runs on whatever is heard, since to wake the watch for each
// message would cost more than to pass it on.
func (l *link) missed(quiet *time.Timer) {
	if left := silence - l.silentFor(); left > 0 {
		quiet.Reset(left)
		return
	}
	l.shut(ending{reason: ReasonLost, code: websocket.StatusGoingAway})
}

// ask checks that the pairing still holds, unless the link ends meanwhile.
func (l *link) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-l.over:
			cancel()
		case <-ctx.Done():
		}
	})
	defer watching.Wait()
	defer cancel()
	err := l.hub.options.Authority.Check(ctx, l.current())
	switch {
	case err == nil:
	case isTrouble(err):
		l.hub.log.WarnContext(ctx, "pairing not checked", slog.String("project", l.place.project), slog.Any("error", err))
		l.shut(ending{reason: ReasonTrouble, code: websocket.StatusGoingAway})
	default:
		l.shut(ending{reason: ReasonRevoked, code: closeRevoked})
	}
}

func (l *link) current() Pairing {
	l.hub.slotsMu.Lock()
	defer l.hub.slotsMu.Unlock()
	p := l.pairing
	p.Level = l.level
	return p
}
