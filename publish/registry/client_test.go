package registry

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	wait := backoff(time.Second)
	for attempt := range 20 {
		full := min(time.Second<<min(attempt, 10), maxWait)
		for range 50 {
			if got := wait(attempt, nil); got < full/2 || got > full {
				t.Fatalf("attempt %d waits %v, want %v to %v", attempt, got, full/2, full)
			}
		}
	}
	for header, want := range map[string]time.Duration{"7": 7 * time.Second, "0": 0} {
		resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {header}}}
		if got := wait(3, resp); got != want {
			t.Errorf("Retry-After: %s waits %v, want %v", header, got, want)
		}
	}
	for _, header := range []string{"-1", "soon", "99999999999999999999"} {
		resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {header}}}
		if got := wait(0, resp); got < time.Second/2 || got > time.Second {
			t.Errorf("Retry-After: %s waits %v, want the usual wait", header, got)
		}
	}
}

func TestRedirects(t *testing.T) {
	request := func(address string) *http.Request {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	first := request("https://ghcr.io/v2/")
	if err := checkRedirect(request("https://storage.example/x"), []*http.Request{first}); err != nil {
		t.Error(err)
	}
	if err := checkRedirect(request("http://storage.example/x"), []*http.Request{first}); !errors.Is(err, ErrContent) {
		t.Errorf("a redirect without encryption: %v", err)
	}
	if err := checkRedirect(first, []*http.Request{first, first, first, first, first}); !errors.Is(err, ErrContent) {
		t.Errorf("a sixth redirect: %v", err)
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "localhost:5000": true, "127.0.0.1:80": true, "127.9.9.9": true, "[::1]:5000": true, "[::1]": true,
		"ghcr.io": false, "localhost.example": false, "127.0.0.1.example:80": false, "10.0.0.1": false, "0.0.0.0:5000": false} {
		if got := loopback(host); got != want {
			t.Errorf("loopback(%q) = %v", host, got)
		}
	}
}
