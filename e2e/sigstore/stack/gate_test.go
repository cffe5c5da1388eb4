package stack

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestGate(t *testing.T) {
	served := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		io.WriteString(w, "from "+r.Host)
	}))
	defer service.Close()
	var g Gate
	defer g.Close()
	address, err := g.Before(service.URL + "/path")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(rule Rule) (string, error) {
		g.Set(rule)
		served = 0
		resp, err := http.Post(address, "text/plain", strings.NewReader("x")) // which no client repeats
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp.Status + " " + string(body), err
	}
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/path")
	called := 0
	for name, c := range map[string]struct {
		rule   Rule
		want   string // no answer where empty
		served int
	}{
		"nothing":    {nil, "200 OK from " + host, 1},
		"status":     {Always(Fault{Status: 503}, Any), "503 Service Unavailable Service Unavailable\n", 0},
		"cut before": {Always(Fault{Cut: true, Then: func() { called++ }}, Any), "", 0},
		"cut after":  {Always(Fault{Cut: true, Late: true, Then: func() { called++ }}, Any), "", 1},
		"changed":    {Always(Fault{Change: func([]byte) []byte { return []byte("other") }}, Any), "200 OK other", 1},
		"not first":  {First(1, Fault{Status: 503}, func(*http.Request) bool { return false }), "200 OK from " + host, 1},
	} {
		got, err := ask(c.rule)
		if got != c.want || (err == nil) != (c.want != "") || served != c.served {
			t.Errorf("%s: got %q, %v, served %d times; wanted %q, %d times", name, got, err, served, c.want, c.served)
		}
		if seen := g.Seen(); !slices.Equal(seen, []string{"POST /path"}) {
			t.Errorf("%s: saw %q; wanted one POST", name, seen)
		}
	}
	if called != 2 {
		t.Errorf("told of %d cuts; wanted 2", called)
	}
}

// TestMeet sends two requests of which neither is served before the other has come.
func TestMeet(t *testing.T) {
	var served atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer service.Close()
	var g Gate
	defer g.Close()
	address, err := g.Before(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() {
		resp, err := http.Post(address, "text/plain", nil)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
	}
	arrived := make(chan struct{})
	rule, _ := Meet(2, Any)
	g.Set(func(n int, r *http.Request) Fault {
		if n == 1 {
			close(arrived)
		}
		return rule(n, r)
	})
	var first sync.WaitGroup
	first.Go(ask)
	<-arrived
	if n := served.Load(); n != 0 {
		t.Errorf("%d requests were served before the second came", n)
	}
	ask()
	first.Wait()
	ask() // the third waits for nobody
	alone, release := Meet(2, Any)
	g.Set(func(n int, r *http.Request) Fault {
		defer release()
		return alone(n, r)
	})
	ask() // nor does one that is released
	if n := served.Load(); n != 4 {
		t.Errorf("%d requests were served; wanted 4", n)
	}
}
