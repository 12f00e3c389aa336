package bench_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stripe/smokescreen/pkg/smokescreen"

	"chaperone/egress"
)

// What is measured runs in a process of its own, which this binary becomes when these are set.
const (
	roleKey   = "EGRESS_BENCH_ROLE"
	originKey = "EGRESS_BENCH_ORIGIN" // host:port
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleKey)
	if role == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := play(ctx, role, os.Getenv(originKey)); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

// play serves in a role until ctx ends; its first line of output is its address.
func play(ctx context.Context, role, origin string) error {
	switch role {
	case "egress":
		return egress.Run(ctx, egress.Config{
			Listen: "127.0.0.1:0", TestOrigins: []string{"http://" + origin}, Ready: func(a net.Addr) { fmt.Println(a) },
		})
	case "smokescreen":
		return playSmokescreen(ctx)
	case "io.Copy":
		return relay(ctx, origin)
	}
	return errors.New("no such role")
}

func playSmokescreen(ctx context.Context) error {
	c := smokescreen.NewConfig()
	c.Log = logrus.New()
	c.Log.SetOutput(io.Discard)
	c.AllowMissingRole = true
	if err := c.SetAllowRanges([]string{"127.0.0.0/8"}); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.Listener = ln
	quit := make(chan any)
	go func() { <-ctx.Done(); close(quit) }()
	fmt.Println(ln.Addr())
	smokescreen.StartWithConfig(c, quit)
	return nil
}

// relay joins each connection with one to the origin, and is nothing but io.Copy.
func relay(ctx context.Context, origin string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { <-ctx.Done(); _ = ln.Close() }()
	fmt.Println(ln.Addr())
	for {
		conn, err := ln.Accept()
		if err != nil {
			return nil
		}
		go func() {
			defer conn.Close()
			up, err := net.Dial("tcp", origin)
			if err != nil {
				return
			}
			defer up.Close()
			go func() { _, _ = io.Copy(up, conn) }()
			_, _ = io.Copy(conn, up)
		}()
	}
}

// child is a role's process.
type child struct {
	role, addr string
	pid        int
}

func start(b *testing.B, role, origin string) child {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleKey+"="+role, originKey+"="+origin)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("%s: %v", role, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return child{role: role, addr: strings.TrimSpace(line), pid: cmd.Process.Pid}
}
