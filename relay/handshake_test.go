package relay_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay"
	"chaperone/relay/program"
)

func TestAPairingIsProvedByBothSides(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.upgrade()
		challenge, _ := e.greet(honest().with(tab("t1", "")))
		theirs, _ := challenge["nonce"].(string)
		if want := mac(token, "server", project, nonce(), theirs); challenge["mac"] != want {
			w.t.Errorf("server's proof %v, want %v", challenge["mac"], want)
		}
		got := e.want("paired").head
		want := object{
			"t": "paired", "project": object{"id": project, "name": "Docs"}, "account": "me", "level": "act",
			"heartbeat_s": 20.0, "expires_s": 28800.0, "server": host, "features": []any{"cdp"},
		}
		if !reflect.DeepEqual(got, want) {
			w.t.Errorf("paired\n got %v\nwant %v", got, want)
		}
		s := w.status()
		if !s.Connected || s.Browser != (relay.BrowserInfo{Name: "Chromium", Version: "156.0", Extension: "0.1.0", Install: "install-1"}) {
			w.t.Errorf("status %+v", s)
		}
		if len(s.Tabs) != 1 || s.Level != program.LevelAct || !s.Since.Equal(time.Now()) {
			w.t.Errorf("status %+v", s)
		}
		w.log.want(w.t, "link.connected", "tab.shared t1")
	})
}

// The extension's tests hold the same values (extension/src/worker/proof.test.ts).
func TestProofsAreThoseOfTheExtension(t *testing.T) {
	const secret = "secret-token"
	for who, want := range map[string]string{
		"server":    "Q_Aq6srTiH2sKCSPZAuvvBIP2ItSWyJ6JS1CBeJrtEQ",
		"extension": "A30ZacdQfEJg9tXjvwwapUahqWT9IWysVkd4QSclB-E",
	} {
		if got := relay.Proof(secret, who, "p_1", "nonce-e", "nonce-s"); got != want {
			t.Errorf("%s's proof %s, want %s", who, got, want)
		}
	}
	if got, want := relay.TokenID(secret), "abc847688f88e21e"; got != want {
		t.Errorf("token id %s, want %s", got, want)
	}
}

func TestOpeningsThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		open    func(w *world, e *extension)
		code    string
		message string
		close   int
		retry   bool
	}{
		"a wrong proof": {
			open:    func(_ *world, e *extension) { p := honest(); p.token = "guess"; e.greet(p) },
			code:    "unauthorised",
			message: "this connection code is not known", close: 4001,
		},
		"an unknown token looks the same": {
			open: func(_ *world, e *extension) {
				p := honest()
				p.token, p.tokenID = "guess", relay.TokenID("guess")
				e.greet(p)
			},
			code: "unauthorised", message: "this connection code is not known", close: 4001,
		},
		"an unknown token with the proof of an empty one": {
			open: func(_ *world, e *extension) {
				p := honest()
				p.token, p.tokenID = "", relay.TokenID("")
				e.greet(p)
			},
			code: "unauthorised", message: "this connection code is not known", close: 4001,
		},
		"an unknown project looks the same": {
			open:    func(_ *world, e *extension) { p := honest(); p.project = "p_2"; e.greet(p) },
			code:    "unauthorised",
			message: "this connection code is not known", close: 4001,
		},
		"a project without access says so to who has proved the token": {
			open: func(w *world, e *extension) {
				w.auth.set(func(a *authority) {
					a.projects["p_3"] = &program.Error{Code: "not_found", Message: "the project is gone"}
				})
				p := honest()
				p.project = "p_3"
				e.greet(p)
			},
			code: "not_found", message: "the project is gone", close: 4001,
		},
		"a project without access says nothing to who has not": {
			open: func(w *world, e *extension) {
				w.auth.set(func(a *authority) {
					a.projects["p_3"] = &program.Error{Code: "not_found", Message: "the project is gone"}
				})
				p := honest()
				p.project, p.token = "p_3", "guess"
				e.greet(p)
			},
			code: "unauthorised", message: "this connection code is not known", close: 4001,
		},
		"an error of the authority's own is not told": {
			open: func(w *world, e *extension) {
				w.auth.set(func(a *authority) { a.projects["p_3"] = errors.New("disk full at /secret") })
				p := honest()
				p.project = "p_3"
				e.greet(p)
			},
			code: "forbidden", message: "this project cannot be reached", close: 4001,
		},
		"an authority in trouble asks to come again": {
			open: func(w *world, e *extension) {
				w.auth.set(func(a *authority) { a.pairing = &program.Error{Code: "unavailable", Message: "locked"} })
				e.send(honest().hello(nonce()))
			},
			code: "unavailable", message: "the server cannot look up", close: 1001, retry: true,
		},
		"the server's own proof sent back": {
			open: func(_ *world, e *extension) {
				e.send(honest().hello(nonce()))
				e.send(object{"t": "proof", "mac": e.want("challenge").head["mac"]})
			},
			code: "unauthorised", message: "this connection code is not known", close: 4001,
		},
		"a captured opening played again": {
			open: func(w *world, e *extension) {
				first := w.upgrade()
				_, proof := first.greet(honest())
				first.want("paired")
				e.send(honest().hello(nonce()))
				e.want("challenge")
				e.send(proof)
			},
			code: "unauthorised", message: "this connection code is not known", close: 4001,
		},
		"a second hello": {
			open: func(_ *world, e *extension) {
				e.send(honest().hello(nonce()))
				e.want("challenge")
				e.send(honest().hello(nonce()))
			},
			code: "bad_request", message: "after challenge comes proof", close: 4004,
		},
		"a hello cut off": {
			open: func(_ *world, e *extension) { e.raw(`{"t":"hello","v":1,"exten`) },
			code: "bad_request", message: "not readable", close: 4004,
		},
		"a proof before hello": {
			open: func(_ *world, e *extension) { e.send(object{"t": "proof", "mac": ""}) },
			code: "bad_request", message: "first frame is hello", close: 4004,
		},
		"another version": {
			open: func(_ *world, e *extension) {
				hello := honest().hello(nonce())
				hello["v"] = 2
				e.send(hello)
			},
			code: "update_required", message: "another version", close: 4004,
		},
		"a short nonce": {
			open: func(_ *world, e *extension) { e.send(honest().hello(nonce()[:42])) },
			code: "bad_request", message: "lacks", close: 4004,
		},
		"a nonce in another spelling": {
			open: func(_ *world, e *extension) { e.send(honest().hello(nonce()[:42] + "d")) },
			code: "bad_request", message: "lacks", close: 4004,
		},
		"a project that holds the proof's separator": {
			open: func(_ *world, e *extension) { p := honest(); p.project = "p_1|x"; e.send(p.hello(nonce())) },
			code: "bad_request", message: "lacks", close: 4004,
		},
		"a proof that names a tab twice": {
			open: func(_ *world, e *extension) { e.greet(honest().with(tab("t1", ""), tab("t1", ""))) },
			code: "bad_request", message: "tabs", close: 4004,
		},
		"a proof with more tabs than a link carries, for now": {
			open: func(_ *world, e *extension) { e.greet(honest().with(manyTabs(129)...)) },
			code: "too_large", message: "more tabs", close: 1009, retry: true,
		},
		"binary": {
			open: func(_ *world, e *extension) {
				_ = e.conn.Write(context.Background(), websocket.MessageBinary, []byte("{}"))
			},
			code: "bad_request", message: "text only", close: 4004,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				e := w.upgrade()
				tt.open(w, e)
				got := e.want("refused").head
				message, _ := got["message"].(string)
				if got["code"] != tt.code || got["retry"] != tt.retry || !strings.Contains(message, tt.message) {
					w.t.Errorf("refused %v, want %s, %q, retry %v", got, tt.code, tt.message, tt.retry)
				}
				e.wantClose(tt.close)
			})
		})
	}
}

func TestAWrongProofAndAnUnknownTokenCannotBeToldApart(t *testing.T) {
	inWorld(t, func(w *world) {
		known, unknown := honest(), honest()
		known.token = "guess"
		unknown.token, unknown.tokenID = "guess", relay.TokenID("guess")
		seen := make([]object, 0, 2)
		for _, p := range []persona{known, unknown} {
			e := w.upgrade()
			challenge, _ := e.greet(p)
			for _, field := range []string{"nonce", "mac"} {
				if text, _ := challenge[field].(string); len(text) != 43 {
					w.t.Errorf("challenge %v", challenge)
				}
			}
			theirs, _ := challenge["nonce"].(string)
			if challenge["mac"] == mac("", "server", project, nonce(), theirs) {
				w.t.Error("the challenge's proof is made with a secret that anybody knows")
			}
			seen = append(seen, e.want("refused").head)
			e.wantClose(4001)
		}
		if !reflect.DeepEqual(seen[0], seen[1]) {
			w.t.Errorf("told apart: %v and %v", seen[0], seen[1])
		}
	})
}

func TestHelloAndProofAreAwaitedTenSeconds(t *testing.T) {
	inWorld(t, func(w *world) {
		just := w.upgrade()
		pass(w.t, 10*time.Second-time.Millisecond)
		just.send(honest().hello(nonce()))
		just.want("challenge")
		start := time.Now()
		just.wantClose(-1)
		if got := time.Since(start); got != 10*time.Second {
			w.t.Errorf("proof awaited %s", got)
		}
		start = time.Now()
		late := w.upgrade()
		late.wantClose(-1)
		if got := time.Since(start); got != 10*time.Second {
			w.t.Errorf("hello awaited %s", got)
		}
	})
}

func TestAMessageBeforePairingIsAtMostOneMebibyte(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.upgrade()
		go func() {
			_ = e.conn.Write(context.Background(), websocket.MessageText, make([]byte, 1<<20+2))
		}()
		e.wantClose(1009)
	})
}

func TestAProofMayListManyLongAddresses(t *testing.T) {
	inWorld(t, func(w *world) {
		long := tab("t1", "")
		long.URL += strings.Repeat("x", 1<<19)
		w.pair(honest().with(long))
		if got := w.status().Tabs; len(got) != 1 || got[0].URL != long.URL {
			w.t.Errorf("%d tabs", len(got))
		}
	})
}

func TestAnOpeningCapturedBeforeAResetIsNothingAfterIt(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.upgrade()
		_, proof := first.greet(honest())
		first.want("paired")
		w.auth.set(func(a *authority) { a.token = "another-token" })
		w.hub.Disconnect(account, project, relay.ReasonReset)
		first.wantClose(4001)
		captured := w.upgrade()
		captured.send(honest().hello(nonce()))
		challenge := captured.want("challenge").head
		theirs, _ := challenge["nonce"].(string)
		if challenge["mac"] == mac(token, "server", project, nonce(), theirs) || challenge["nonce"] == "" {
			w.t.Error("the server still proves the token that was replaced")
		}
		captured.send(proof)
		if got := captured.want("refused").head; got["code"] != "unauthorised" || got["retry"] != false {
			w.t.Errorf("refused %v", got)
		}
		captured.wantClose(4001)
		fresh := honest()
		fresh.token, fresh.tokenID = "another-token", relay.TokenID("another-token")
		w.pair(fresh)
	})
}

func TestASecondBrowserTakesOneProjectAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.auth.set(func(a *authority) { a.projects["p_2"] = nil })
		first := w.pair(honest().with(tab("t1", "")))
		elsewhere := honest().with(tab("t1", ""))
		elsewhere.project = "p_2"
		other := w.pair(elsewhere)
		b := w.open("s_1")
		wire, s := w.held(first, b, "t1")
		second := w.pair(elsewhere.as("install-2"))
		other.wantClose(4002)
		first.send(object{"t": "ping"})
		first.want("pong")
		send(w.t, wire, s, "A.b", "{}")
		first.reply(first.want("cdp"), "{}")
		s.want(w.t, "A.b {}")
		second.send(object{"t": "ping"})
		second.want("pong")
		if isDone(b) || !w.status().Connected {
			w.t.Error("the project that nobody took has lost its browser")
		}
	})
}
