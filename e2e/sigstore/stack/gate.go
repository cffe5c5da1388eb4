package stack

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
)

// Fault is what a gate does with one request. The zero value lets it pass.
type Fault struct {
	// Hold is called before the request goes on; the request waits for it.
	Hold func()
	// Status answers in place of the service, with the header.
	Status int
	Header http.Header
	// Cut ends the connection in place of the service's answer: before the service
	// sees the request or, with Late, after it has answered.
	Cut, Late bool
	// Then is called before the connection is cut, when the service has seen the
	// request or never will.
	Then func()
	// Change returns the body that the client gets in place of the service's.
	Change func(body []byte) []byte
}

// Rule decides over the nth request that comes to a gate, counted from 1.
type Rule func(n int, r *http.Request) Fault

// Gate is between a client and services, and misbehaves as it is told to.
type Gate struct {
	mu      sync.Mutex
	rule    Rule
	seen    []string
	servers []*httptest.Server
}

// Before returns an address at which the gate is in front of a service.
func (g *Gate) Before(address string) (string, error) {
	target, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	server := httptest.NewServer(g.handler(&url.URL{Scheme: target.Scheme, Host: target.Host}))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.servers = append(g.servers, server)
	target.Scheme, target.Host = "http", server.Listener.Addr().String()
	return target.String(), nil
}

// Close ends the gate's servers.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.servers {
		s.CloseClientConnections()
		s.Close()
	}
	g.servers = nil
}

// Set makes the rule count from 1 and forgets the requests before; nil lets
// everything pass.
func (g *Gate) Set(rule Rule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rule, g.seen = rule, nil
}

// Seen returns the requests since the rule was set, as method and path.
func (g *Gate) Seen() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.seen)
}

func (g *Gate) decide(r *http.Request) Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, r.Method+" "+r.URL.Path)
	if g.rule == nil {
		return Fault{}
	}
	return g.rule(len(g.seen), r)
}

func (g *Gate) handler(target *url.URL) http.Handler {
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // a registry makes addresses of it that lead through the gate
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := g.decide(r)
		if f.Hold != nil {
			f.Hold()
		}
		switch {
		case f.Cut && !f.Late:
			f.cut(w)
		case f.Status != 0:
			maps.Copy(w.Header(), f.Header)
			http.Error(w, http.StatusText(f.Status), f.Status)
		case f.Cut:
			forward.ServeHTTP(httptest.NewRecorder(), r)
			f.cut(w)
		case f.Change != nil:
			answer := httptest.NewRecorder()
			forward.ServeHTTP(answer, r)
			body := f.Change(answer.Body.Bytes())
			maps.Copy(w.Header(), answer.Header())
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.WriteHeader(answer.Code)
			_, _ = w.Write(body) // a client that has gone
		default:
			forward.ServeHTTP(w, r)
		}
	})
}

// cut ends the connection as a machine does that is switched off.
func (f Fault) cut(w http.ResponseWriter) {
	if f.Then != nil {
		f.Then()
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client has gone
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset and not an end
	}
	_ = conn.Close()
}

// First lets the first n requests that match fail in that way.
func First(n int, f Fault, match func(*http.Request) bool) Rule {
	left := n // under the gate's lock
	return func(_ int, r *http.Request) Fault {
		if left > 0 && match(r) {
			left--
			return f
		}
		return Fault{}
	}
}

// Always lets every request that matches fail in that way.
func Always(f Fault, match func(*http.Request) bool) Rule {
	return func(_ int, r *http.Request) Fault {
		if match(r) {
			return f
		}
		return Fault{}
	}
}

// Any matches every request.
func Any(*http.Request) bool { return true }

// Meet makes the first n requests that match wait for one another, or until the
// returned function is called.
func Meet(n int, match func(*http.Request) bool) (rule Rule, release func()) {
	left, all := n, make(chan struct{}) // left is under the gate's lock
	release = sync.OnceFunc(func() { close(all) })
	return func(_ int, r *http.Request) Fault {
		if left == 0 || !match(r) {
			return Fault{}
		}
		if left--; left == 0 {
			release()
		}
		return Fault{Hold: func() { <-all }}
	}, release
}
