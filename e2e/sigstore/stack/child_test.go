package stack

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// heldProgram is the variable that makes this test binary hold a stack with that
// program until it is killed.
const heldProgram = "PACKGATE_HOLD_STACK"

// rekorProgram is the program of the stack that the tests use.
var rekorProgram string

// hold says where Rekor listens and then waits for the end of its standard input.
func hold() int {
	fmt.Println(running.Services.Rekor)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// TestNothingOutlives kills a process that holds a stack, and sees the connection to
// the stack's child process end.
func TestNothingOutlives(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	holder := exec.CommandContext(t.Context(), self)
	holder.Env = append(os.Environ(), heldProgram+"="+rekorProgram, "TMPDIR="+t.TempDir())
	holder.Stderr = os.Stderr
	if _, err := holder.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes; wanted the end of the connection", n)
	}
	// The kernel closes what the process had open one after the other.
	for end := time.Now().Add(readyWithin); ; {
		again, err := net.Dial("tcp", address.Host)
		if err != nil {
			return
		}
		again.Close()
		if time.Now().After(end) {
			t.Fatalf("%s still listens", address.Host)
		}
	}
}

// TestChildThatEnds is told what the program said.
func TestChildThatEnds(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"no such flag $1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := startChild(dir, "program", program, 1, func(ports []int) ([]string, string) {
		return []string{"--wrong"}, fmt.Sprintf("http://127.0.0.1:%d/", ports[0])
	})
	if err == nil || !strings.Contains(err.Error(), "no such flag --wrong") {
		t.Errorf("starting a program that ends: %v; wanted what it said", err)
	}
}
