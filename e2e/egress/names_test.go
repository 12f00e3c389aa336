package egress_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is the network's name server.
type names struct {
	mu     sync.Mutex
	zone   map[string]func(lookup int) []string // addresses, or a name that ends in a dot: an alias
	asked  map[string]int                       // for A
	closed sync.WaitGroup
}

func always(list ...string) func(int) []string { return func(int) []string { return list } }

// openNames answers for zone at nameServer until the test ends.
func openNames(t *testing.T, zone map[string]func(int) []string) *names {
	t.Helper()
	n := &names{zone: zone, asked: map[string]int{}}
	udp, err := new(net.ListenConfig).ListenPacket(context.Background(), "udp", nameServer+":53")
	check(t, err)
	tcp, err := new(net.ListenConfig).Listen(context.Background(), "tcp", nameServer+":53")
	check(t, err)
	n.closed.Go(func() { n.answerUDP(udp) })
	n.closed.Go(func() { n.answerTCP(tcp) })
	t.Cleanup(func() {
		_, _ = udp.Close(), tcp.Close()
		n.closed.Wait()
	})
	return n
}

func (n *names) answerUDP(conn net.PacketConn) {
	buffer := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply := n.answer(buffer[:size], 1232); reply != nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

func (n *names) answerTCP(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		size := make([]byte, 2)
		if _, err := io.ReadFull(conn, size); err == nil {
			query := make([]byte, binary.BigEndian.Uint16(size))
			if _, err := io.ReadFull(conn, query); err == nil {
				reply := n.answer(query, 65535)
				_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
			}
		}
		_ = conn.Close()
	}
}

// answer is the whole answer, or a truncated one that sends the resolver to TCP.
func (n *names) answer(raw []byte, most int) []byte {
	var query dnsmessage.Message
	if query.Unpack(raw) != nil || len(query.Questions) != 1 {
		return nil
	}
	q := query.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: query.ID, Response: true, RecursionDesired: true, RecursionAvailable: true},
		Questions: query.Questions,
	}
	answers, exists := n.look(q.Name.String(), q.Type)
	if !exists {
		reply.RCode = dnsmessage.RCodeNameError
	}
	owner := q.Name
	for _, text := range answers {
		head := dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET}
		addr, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			owner = dnsmessage.MustNewName(text)
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.CNAMEResource{CNAME: owner}})
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	packed, err := reply.Pack()
	if err != nil || len(packed) > most {
		reply.Truncated, reply.Answers = true, nil
		packed, _ = reply.Pack()
	}
	return packed
}

func (n *names) look(name string, kind dnsmessage.Type) ([]string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers, ok := n.zone[name]
	if !ok {
		return nil, false
	}
	if kind == dnsmessage.TypeA {
		n.asked[name]++
	}
	return answers(n.asked[name]), true
}

func (n *names) lookups(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[name]
}
