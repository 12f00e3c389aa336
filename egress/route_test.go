package egress_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"chaperone/egress"
)

// addrs is a resolver's constant answer.
func addrs(list ...string) func(string, int) ([]netip.Addr, error) {
	return func(string, int) ([]netip.Addr, error) {
		all := make([]netip.Addr, 0, len(list))
		for _, text := range list {
			all = append(all, netip.MustParseAddr(text))
		}
		return all, nil
	}
}

func manyAddrs(n int) func(string, int) ([]netip.Addr, error) {
	return func(string, int) ([]netip.Addr, error) {
		all := make([]netip.Addr, 0, n)
		for a := goodAddr(); len(all) < n; a = a.Next() {
			all = append(all, a)
		}
		return all, nil
	}
}

func fails(err error) func(string, int) ([]netip.Addr, error) {
	return func(string, int) ([]netip.Addr, error) { return nil, err }
}

type dnsCase struct {
	answers func(string, int) ([]netip.Addr, error)
	reason  egress.Reason
}

const ownAddr = "198.41.0.4"

func dnsVectors() map[string]dnsCase {
	return map[string]dnsCase{
		"dns-01": {addrs("127.0.0.1"), egress.Loopback},
		"dns-02": {addrs("93.184.216.34", "10.0.0.1"), egress.Private},
		"dns-04": {addrs("93.184.216.34", "::1"), egress.Loopback},
		"dns-06": {addrs("64:ff9b::a9fe:a9fe"), egress.Special},
		"dns-07": {addrs("169.254.169.254"), egress.LinkLocal}, // a resolver follows aliases; what counts is the end
		"dns-11": {fails(&net.DNSError{Err: "no such host", IsNotFound: true}), egress.NotResolved},
		"dns-12": {fails(&net.DNSError{Err: "i/o timeout", IsTimeout: true}), egress.LookupTimeout},
		"dns-14": {manyAddrs(2000), egress.TooManyAnswers},
		"dns-17": {addrs(ownAddr), egress.OwnAddress},
	}
}

func TestEveryVectorAnswerIsRefusedAndNothingIsDialed(t *testing.T) {
	cases := dnsVectors()
	for _, v := range vectors(t, "dns") {
		_, isHere := cases[v.ID]
		if isElsewhere := v.ID == "dns-09" || v.ID == "dns-16"; !isHere && !isElsewhere {
			t.Errorf("%s has no test: %s", v.ID, v.Input)
		}
	}
	cases["no answer"] = dnsCase{addrs(), egress.NotResolved}
	cases["a mapped answer"] = dnsCase{addrs("::ffff:10.0.0.1"), egress.Private}
	cases["a bad answer that comes last"] = dnsCase{addrs("93.184.216.34", "2606:4700::1", "192.168.0.1"), egress.Private}
	cases["65 answers"] = dnsCase{manyAddrs(65), egress.TooManyAnswers}
	cases["64 answers of which none answers"] = dnsCase{manyAddrs(64), egress.Unreachable}
	cases["an answer with a zone"] = dnsCase{addrs("fe80::1%eth0"), egress.Zone}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(nil)
			w.answers = c.answers
			p := start(t, egress.Options{Deny: []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr(ownAddr), 0)}}, egress.ReadMethods, w)
			for _, request := range []string{"CONNECT good.test:443", "GET http://good.test/"} {
				got := p.ask(t, request)
				if got.status < 400 {
					t.Errorf("%s: status %d", request, got.status)
				}
				wantRefused(t, got, c.reason)
			}
			if c.reason != egress.Unreachable && len(w.dials()) > 0 {
				t.Errorf("dialed %v", w.dials())
			}
			if n := len(w.dials()); n > 8 {
				t.Errorf("%d attempts for two requests", n)
			}
			if n := w.lookupsOfGood(); n != 2 {
				t.Errorf("%d lookups for two requests", n)
			}
		})
	}
}

func TestARebindingNameIsLookedUpOnceAndStaysWhereItWasJudged(t *testing.T) {
	site := serve(t, func(rw http.ResponseWriter, _ *http.Request) { say(rw, "public") })
	w := newWorld(site)
	w.answers = func(_ string, lookup int) ([]netip.Addr, error) {
		if lookup == 1 {
			return []netip.Addr{goodAddr()}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	conn := p.wire(t)
	for range 3 {
		conn.send(t, "GET http://good.test/ HTTP/1.1\r\n"+hostLine+"\r\n")
		if got := conn.answer(t, http.MethodGet); got.body != "public" {
			t.Errorf("body %q", got.body)
		}
	}
	if d := p.last(t); d.Verdict != egress.VerdictAllow || d.Address != "93.184.216.34" || d.Host != "good.test" || d.Port != 80 {
		t.Errorf("decided %+v", d)
	}
	other := p.wire(t)
	other.send(t, "CONNECT good.test:443 HTTP/1.1\r\n"+hostLine+"\r\n")
	got := other.answer(t, http.MethodGet)
	wantRefused(t, got, egress.Loopback)
	if n := w.lookupsOfGood(); n != 2 {
		t.Errorf("%d lookups on two connections", n)
	}
	for _, to := range w.dials() {
		if to.Addr() != goodAddr() {
			t.Errorf("dialed %s", to)
		}
	}
}

func TestTheOwnAddressAndPortAreNoWayBackIntoTheServer(t *testing.T) {
	own := netip.MustParseAddrPort(ownAddr + ":443")
	w := newWorld(nil)
	w.answers = addrs(ownAddr)
	p := start(t, egress.Options{Deny: []netip.AddrPort{own}}, egress.ReadMethods, w)
	for port, reason := range map[string]egress.Reason{"443": egress.OwnAddress, "80": egress.Unreachable} {
		got := p.ask(t, "CONNECT good.test:"+port)
		wantRefused(t, got, reason)
	}
}

func TestAPeerThatIsNotTheJudgedOneGetsNoByte(t *testing.T) {
	cases := map[string]struct {
		peer   netip.AddrPort
		reason egress.Reason
	}{
		"another public address": {netip.MustParseAddrPort("93.184.216.35:443"), egress.PeerChanged},
		"loopback":               {netip.MustParseAddrPort("127.0.0.1:443"), egress.PeerChanged},
		"another port":           {netip.MustParseAddrPort("93.184.216.34:444"), egress.PeerChanged},
		"no address":             {netip.AddrPort{}, egress.PeerChanged},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the peer was asked") }))
			w.peer = func(netip.AddrPort) netip.AddrPort { return c.peer }
			p := start(t, egress.Options{}, egress.ReadMethods, w)
			for _, request := range []string{"CONNECT good.test:443", "GET http://good.test/"} {
				got := p.ask(t, request)
				wantRefused(t, got, c.reason)
			}
		})
	}
}

func TestALookupThatDoesNotEndIsBounded(t *testing.T) {
	o := egress.Options{Resolver: hanging{}, Limits: egress.Limits{Lookup: 20 * time.Millisecond}}
	p := start(t, o, egress.ReadMethods, nil)
	got := p.ask(t, "CONNECT good.test:443")
	wantRefused(t, got, egress.LookupTimeout)
}

type hanging struct{}

func (hanging) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTheSecondAddressIsTriedWhenTheFirstDoesNotAnswer(t *testing.T) {
	w := newWorld(serve(t, func(rw http.ResponseWriter, _ *http.Request) { say(rw, "there") }))
	w.answers = addrs("2606:4700::1", "93.184.216.34")
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	conn := p.wire(t)
	conn.send(t, "GET http://good.test/ HTTP/1.1\r\n"+hostLine+"\r\n")
	if got := conn.answer(t, http.MethodGet); got.body != "there" {
		t.Errorf("body %q", got.body)
	}
	if d := p.last(t); d.Address != "93.184.216.34" {
		t.Errorf("decided %+v", d)
	}
}
