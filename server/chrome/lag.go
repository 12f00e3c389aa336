package chrome

import (
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
)

const (
	// mostLag is how late Chrome's answers may be while a tab tells lateEvents that clients can do without: on a busy
	// machine a tab that tells little may still be more than Chrome can carry.
	mostLag    = time.Second
	lateEvents = 300
	// lagEvery is the least time between two questions.
	lagEvery = 250 * time.Millisecond
)

// lag measures how late Chrome answers while a tab tells much; it is the connection's goroutine's.
type lag struct {
	asked, answered time.Time
	told            int // since asked
}

// isLate counts one event that clients can do without and reports that Chrome is too late while there are so many.
func (l *lag) isLate(c *conn, now time.Time) bool {
	if l.asked.IsZero() {
		if now.Sub(l.answered) < lagEvery {
			return false
		}
		l.asked, l.told = now, 0
		err := c.ask("", browser.GetVersion.Method, cdp.Empty{}, func(reply) { l.asked, l.answered = time.Time{}, time.Now() })
		if err != nil {
			return false // the connection has ended, and all with it
		}
	}
	l.told++
	return now.Sub(l.asked) > mostLag && l.told > lateEvents
}
