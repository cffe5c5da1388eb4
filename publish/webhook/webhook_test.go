package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/contextosai/packgate/test/hang"
)

// now is when the tests send.
var now = time.Date(2026, 5, 9, 12, 0, 0, 0, time.UTC)

// The shared secret of the tests and of the vectors in the documentation: the bytes 0 to 31.
func secret() []byte {
	s := make([]byte, 32)
	for i := range s {
		s[i] = byte(i)
	}
	return s
}

// receiver is a server that keeps what it got, and answers what it is told to.
type receiver struct {
	*httptest.Server
	got    []*http.Request
	bodies [][]byte
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.got, r.bodies = append(r.got, req), append(r.bodies, body)
		answer(len(r.got), w, req)
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func status(code int) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// newSender returns a sender that may send to this machine, and what it slept.
func newSender(t *testing.T, r *receiver) (*Sender, *time.Duration) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	slept := new(time.Duration)
	s, err := New(Options{
		URL: r.URL + "/hook?token=private", Secret: secret(), Version: "1.2.3", TLS: &tls.Config{RootCAs: pool},
		Permit: func(string) error { return nil },
		Now:    func() time.Time { return now.Add(*slept) },
		Sleep:  func(ctx context.Context, d time.Duration) error { *slept += d; return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, slept
}

// What arrives is what was sent, and a receiver that checks it as documented takes it, within five
// minutes, with this secret, and unchanged.
func TestReceived(t *testing.T) {
	r := newReceiver(t, status(http.StatusNoContent))
	s, _ := newSender(t, r)
	body := []byte(`{"specversion":"1.0"}`)
	if err := s.Send(t.Context(), "id1", body); err != nil {
		t.Fatal(err)
	}
	req := r.got[0]
	if string(r.bodies[0]) != string(body) || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/cloudevents+json; charset=utf-8" ||
		req.UserAgent() != "packgate/1.2.3" || req.RequestURI != "/hook?token=private" {
		t.Errorf("%s %s %v %q", req.Method, req.RequestURI, req.Header, r.bodies[0])
	}
	for name, c := range map[string]struct {
		change func(http.Header)
		secret []byte
		body   string
		after  time.Duration
		ok     bool
	}{
		"as it came":        {ok: true},
		"five minutes old":  {after: 5 * time.Minute, ok: true},
		"older":             {after: 5*time.Minute + time.Second},
		"in the future":     {after: -5*time.Minute - time.Second},
		"another body":      {body: `{"specversion":"1.1"}`},
		"another id":        {change: func(h http.Header) { h.Set("Webhook-Id", "id2") }},
		"another time":      {change: func(h http.Header) { h.Set("Webhook-Timestamp", fmt.Sprint(now.Unix()+1)) }},
		"no time":           {change: func(h http.Header) { h.Del("Webhook-Timestamp") }},
		"no signature":      {change: func(h http.Header) { h.Del("Webhook-Signature") }},
		"another secret":    {secret: make([]byte, 32)},
		"a second, new key": {change: func(h http.Header) { h.Set("Webhook-Signature", "v1,AAAA "+h.Get("Webhook-Signature")) }, ok: true},
	} {
		h, key, got := req.Header.Clone(), secret(), string(body)
		if c.change != nil {
			c.change(h)
		}
		if c.secret != nil {
			key = c.secret
		}
		if c.body != "" {
			got = c.body
		}
		if err := received(key, h, []byte(got), now.Add(c.after)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The vectors of the documentation are what is signed, and its receiver is the one of these tests.
func TestDocumentedVectors(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "notices.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("receiver_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(source), "\nfunc received(")
	if !strings.Contains(string(docs), "func received("+function) {
		t.Error("docs/notices.md does not have the receiver of receiver_test.go")
	}
	for _, v := range []struct {
		id, body string
		at       int64
	}{
		{"7c2f0b1e", `{"specversion":"1.0"}`, 1778328000}, {"7c2f0b1e", `{"specversion":"1.0"}`, 1778328001}, {"a", "", 0},
	} {
		row := fmt.Sprintf("| `%s` | `%d` | `%s` | `%s` |", v.id, v.at, v.body, Sign(secret(), v.id, time.Unix(v.at, 0), []byte(v.body)))
		if !strings.Contains(string(docs), row) {
			t.Errorf("docs/notices.md does not have the row\n%s", row)
		}
	}
}

// The shipped default connects to nothing but public addresses, whatever the name and the way of
// writing, and not even begins to.
func TestDefaultRefusesThisNetwork(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var connected atomic.Int32
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "10.1.2.3", "[::1]", "[::ffff:10.0.0.1]", "[::ffff:7f00:1]", "169.254.169.254", "0.0.0.0", "[::]", "[fe80::1]", "192.168.0.1", "localhost"} {
		s, err := New(Options{URL: "https://" + host + ":" + port + "/", Secret: secret(), Sleep: func(context.Context, time.Duration) error {
			t.Errorf("%s is tried again", host)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		hang.Within(t, host, func() {
			if err := s.Send(t.Context(), "id", nil); !errors.Is(err, ErrAddress) {
				t.Errorf("%s: %v", host, err)
			}
		})
	}
	if n := connected.Load(); n > 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestPublic(t *testing.T) {
	for _, ip := range []string{
		"0.0.0.1", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.9", "224.0.0.1", "239.1.1.1",
		"240.0.0.1", "255.255.255.255", "168.63.129.16",
		"[::]", "[::1]", "[::7f00:1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[64:ff9b::a00:1]", "[64:ff9b:1::1]", "[100::1]",
		"[2001::1]", "[2001:10::1]", "[2001:db8::1]", "[2002:a00:1::1]", "[3fff::1]", "[5f00::1]", "[fc00::1]", "[fd12:3456::1]", "[fe80::1]", "[fe80::1%eth0]", "[fec0::1]", "[ff02::1]",
		"[2606:4700::1%eth0]",
	} {
		if err := Public(ip + ":443"); !errors.Is(err, ErrAddress) {
			t.Errorf("%s is taken: %v", ip, err)
		}
	}
	for _, ip := range []string{"1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "223.255.255.255", "[2606:4700::1]", "[2a00:1450::1]", "[::ffff:1.1.1.1]"} {
		if err := Public(ip + ":443"); err != nil {
			t.Errorf("%s is refused: %v", ip, err)
		}
	}
	for _, text := range []string{"", "1.1.1.1", "name:443", "[1.1.1.1", "1.1.1.1:https"} {
		if Public(text) == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// The judge sees the address that is connected to, and not the name: a name that means another
// address by then does not help.
func TestTheAddressIsJudged(t *testing.T) {
	r := newReceiver(t, status(http.StatusOK))
	s, _ := newSender(t, r)
	var seen []string
	o := Options{URL: strings.Replace(r.URL, "127.0.0.1", "localhost", 1), Secret: secret(), Permit: func(address string) error {
		seen = append(seen, address)
		return Public(address)
	}}
	judged, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := judged.Send(t.Context(), "id", nil); !errors.Is(err, ErrAddress) || len(r.got) > 0 {
		t.Errorf("%v, with %d events", err, len(r.got))
	}
	for _, address := range seen {
		host, _, err := net.SplitHostPort(address)
		if err != nil || net.ParseIP(host) == nil {
			t.Errorf("judged was %q", address)
		}
	}
	if len(seen) == 0 {
		t.Error("nothing was judged")
	}
	if s.client.Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy would connect in our place")
	}
}

// An event is sent again for what may pass, and for nothing else, each time with its own time, and
// no more often and no longer than is bounded.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		status, events int
		kind           error
	}{
		{200, 1, nil}, {202, 1, nil}, {301, 1, ErrRejected}, {307, 1, ErrRejected}, {400, 1, ErrRejected}, {401, 1, ErrRejected}, {410, 1, ErrRejected},
		{501, 1, ErrRejected}, {408, attempts, ErrUnavailable}, {425, attempts, ErrUnavailable}, {429, attempts, ErrUnavailable}, {500, attempts, ErrUnavailable}, {503, attempts, ErrUnavailable},
	} {
		elsewhere := newReceiver(t, status(200))
		r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(c.status)
		})
		s, slept := newSender(t, r)
		err := s.Send(t.Context(), "id", []byte("{}"))
		if !errors.Is(err, c.kind) || len(r.got) != c.events || len(elsewhere.got) > 0 || *slept > patience {
			t.Errorf("%d: %v after %d events and %s, %d elsewhere", c.status, err, len(r.got), *slept, len(elsewhere.got))
		}
		if err != nil && strings.Contains(err.Error(), "private") {
			t.Errorf("the error shows the address: %v", err)
		}
		stamps := map[string]bool{}
		for i, req := range r.got {
			stamps[req.Header.Get("Webhook-Timestamp")] = true
			if req.Header.Get("Webhook-Id") != "id" {
				t.Errorf("event %d has the id %q", i, req.Header.Get("Webhook-Id"))
			}
		}
		if c.events > 1 && len(stamps) < 3 {
			t.Errorf("%d: the times of sending are %v", c.status, stamps)
		}
	}
}

// Retry-After is kept, in both its forms, and one beyond the patience ends it.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		value  string
		least  time.Duration
		events int
	}{
		{"7", 7 * time.Second, 2}, {now.Add(9 * time.Second).Format(http.TimeFormat), 9 * time.Second, 2}, {"3600", 0, 1},
		{now.Add(time.Hour).Format(http.TimeFormat), 0, 1}, {"soon", 0, 2}, {"-1", 0, 2}, {now.Add(-time.Hour).Format(http.TimeFormat), 0, 2},
	} {
		r := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.Header().Set("Retry-After", c.value)
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		s, slept := newSender(t, r)
		err := s.Send(t.Context(), "id", nil)
		if len(r.got) != c.events || *slept < c.least || (err == nil) != (c.events == 2) {
			t.Errorf("%q: %v after %d events and %s", c.value, err, len(r.got), *slept)
		}
	}
}

// A receiver that breaks off is asked again, one that answers without end is not read to it, and the
// end of the context ends it all.
func TestBounds(t *testing.T) {
	r := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			panic(http.ErrAbortHandler)
		}
		for range 100 {
			if _, err := w.Write(make([]byte, maxAnswer)); err != nil {
				return
			}
		}
	})
	s, _ := newSender(t, r)
	if err := s.Send(t.Context(), "id", nil); err != nil || len(r.got) != 2 {
		t.Errorf("%v after %d events", err, len(r.got))
	}
	if err := s.Send(t.Context(), "id", make([]byte, MaxBody+1)); !errors.Is(err, ErrRejected) || len(r.got) != 2 {
		t.Errorf("a large event: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failing := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s, slept := newSender(t, failing)
	if err := s.Send(ctx, "id", nil); !errors.Is(err, ErrUnavailable) || len(failing.got) != 1 || *slept != 0 {
		t.Errorf("%v after %d events and %s", err, len(failing.got), *slept)
	}
}

// A receiver whose certificate nobody vouches for gets nothing.
func TestCertificate(t *testing.T) {
	r := newReceiver(t, status(200))
	s, err := New(Options{URL: r.URL, Secret: secret(), Permit: func(string) error { return nil }, Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), "id", nil); err == nil || len(r.got) > 0 {
		t.Errorf("%v, with %d events", err, len(r.got))
	}
}

// An address that the config could not name is none of a sender either.
func TestNewRefuses(t *testing.T) {
	for _, address := range []string{"", "http://hooks.example.com/", "https://user@hooks.example.com/"} {
		if _, err := New(Options{URL: address}); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestSecret(t *testing.T) {
	long := base64.StdEncoding.EncodeToString(secret())
	for text, ok := range map[string]bool{
		long: true, secretPrefix + long: true, " " + secretPrefix + long + "\n": true,
		"": false, secretPrefix: false, "password": false, base64.StdEncoding.EncodeToString(make([]byte, 23)): false, base64.StdEncoding.EncodeToString(make([]byte, 65)): false,
	} {
		got, err := Secret(text)
		if (err == nil) != ok || ok && string(got) != string(secret()) || err != nil && (!errors.Is(err, ErrSecret) || text != "" && strings.Contains(err.Error(), text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
