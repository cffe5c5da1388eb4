package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// readyWithin bounds the start of a child process, which takes a tenth of a second.
const readyWithin = 30 * time.Second

// child is a program that this process started and that does not outlive it.
type child struct {
	process *os.Process
	ended   chan struct{} // closed when it has ended
}

// startChild starts a program on free ports, for which args is called, and waits
// until the address that args returns answers 200. The program writes to name.log in
// dir. A port that somebody else took in between ends the program at once: then other
// ports are tried.
func startChild(dir, name, program string, ports int, args func(ports []int) (arguments []string, ready string)) (*child, error) {
	var err error
	for range 3 {
		var free []int
		if free, err = freePorts(ports); err != nil {
			return nil, err
		}
		arguments, ready := args(free)
		var c *child
		if c, err = launch(filepath.Join(dir, name+".log"), program, arguments); err != nil {
			return nil, err
		}
		if err = c.await(ready); err == nil {
			return c, nil
		}
		c.Close()
		said, _ := os.ReadFile(filepath.Join(dir, name+".log"))
		err = fmt.Errorf("%s: %w\n%s", name, err, said)
	}
	return nil, err
}

// launch starts the program. It dies with the thread that started it, so that thread
// is kept for as long as the program runs.
func launch(log, program string, args []string) (*child, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, dieWithParent()
	c := &child{ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer close(c.ended)
		defer out.Close()
		err := cmd.Start()
		c.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // killed, or else its log says why it ended
		}
	}()
	return c, <-started
}

var errEnded = errors.New("ended before it was ready")

// await returns when the address answers 200.
func (c *child) await(ready string) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := answers(ctx, ready)
		if err == nil {
			return nil
		}
		select {
		case <-c.ended:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("not ready after %v: %w", readyWithin, err)
		case <-tick.C:
		}
	}
}

func answers(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	// A registry that wants credentials is up as well.
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("%s answers %s", address, resp.Status)
	}
	return nil
}

// Close kills the program and returns when it has ended.
func (c *child) Close() {
	_ = c.process.Kill() // an error says that it has ended
	<-c.ended
}

// freePorts returns ports of the loopback interface that nobody listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
