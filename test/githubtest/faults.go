package githubtest

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Kind is a way to fail.
type Kind int

// The ways to fail.
const (
	Forbidden       Kind = iota // 403, the token may not
	NotFound                    // 404
	TooLong                     // 422, the body is too long
	TooManyRequests             // 429 with Retry-After
	SecondaryLimit              // 403 with Retry-After
	PrimaryLimit                // 403, nothing of the limit remains for ten seconds
	ServerError                 // 500
	BadGateway                  // 502 with a page of HTML
	Reset                       // the connection is reset before an answer
	SlowBody                    // half of an answer, and then nothing more
	Truncated                   // half of an answer as if it were all
)

// Kinds returns all ways to fail, with a name for tests.
func Kinds() map[string]Kind {
	return map[string]Kind{
		"403 forbidden": Forbidden, "404": NotFound, "422 too long": TooLong, "429": TooManyRequests, "403 secondary limit": SecondaryLimit,
		"403 primary limit": PrimaryLimit, "500": ServerError, "502": BadGateway, "connection reset": Reset, "slow body": SlowBody,
		"truncated JSON": Truncated,
	}
}

// RetryAfter is what a limit says, in seconds.
const RetryAfter = 7

// Now is the time of the stand-in's clock, which does not move.
var Now = time.Date(2026, 5, 9, 12, 0, 0, 0, time.UTC)

// stopsAt is the header that says of an answer after how many bytes it stops.
const stopsAt = "X-Githubtest-Stops-At"

// Impatient sends requests as net/http does. An answer that stops in its middle ends with
// what a time limit ends it with, at once, so that no test waits for one.
type Impatient struct{}

// RoundTrip implements http.RoundTripper.
func (Impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.ParseInt(answer.Header.Get(stopsAt), 10, 64); err == nil {
		answer.Body = &stopping{io.LimitReader(answer.Body, n), answer.Body}
	}
	return answer, nil
}

// stopping is the body of an answer that stops.
type stopping struct {
	io.Reader
	io.Closer
}

// Read implements io.Reader.
func (s *stopping) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		err = context.DeadlineExceeded
	}
	return n, err
}

// Fault is one failure of an operation.
type Fault struct {
	Kind Kind
	// Done carries the request out before it fails. What GitHub refuses it does
	// not carry out, so this is for the other kinds.
	Done bool
}

// Fail makes the next calls of an operation fail, one for each fault.
func (g *GitHub) Fail(operation string, faults ...Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults[operation] = append(g.faults[operation], faults...)
}

// FailAlways makes an operation fail for as long as a test can ask.
func (g *GitHub) FailAlways(operation string, fault Fault) {
	g.Fail(operation, slices.Repeat([]Fault{fault}, 100)...)
}

// Recover ends the failures of an operation.
func (g *GitHub) Recover(operation string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.faults, operation)
}

func (g *GitHub) next(operation string) (Fault, bool) {
	list := g.faults[operation]
	if len(list) == 0 {
		return Fault{}, false
	}
	g.faults[operation] = list[1:]
	return list[0], true
}

// refuses reports whether GitHub says that it will not.
func (k Kind) refuses() bool { return k < ServerError }

// answers reports whether there is an answer at all.
func (k Kind) answers() bool { return k != Reset && k != SlowBody && k != Truncated }

func (k Kind) answer() answer {
	wait := map[string]string{"Retry-After": strconv.Itoa(RetryAfter)}
	switch k {
	case Forbidden:
		a := failure(http.StatusForbidden, "Resource not accessible by integration")
		a.header = map[string]string{"X-Accepted-Github-Permissions": "issues=write; pull_requests=write"}
		return a
	case NotFound:
		return failure(http.StatusNotFound, "Not Found")
	case TooLong:
		return unprocessable("Body is too long (maximum is 65536 characters)")
	case TooManyRequests:
		a := failure(http.StatusTooManyRequests, "You have exceeded a secondary rate limit.")
		a.header = wait
		return a
	case SecondaryLimit:
		a := failure(http.StatusForbidden, "You have exceeded a secondary rate limit.")
		a.value.(object)["documentation_url"] = "https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
		a.header = wait
		return a
	case PrimaryLimit:
		a := failure(http.StatusForbidden, "API rate limit exceeded for installation.")
		a.header = map[string]string{
			"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": strconv.FormatInt(Now.Add(10*time.Second).Unix(), 10),
		}
		return a
	case ServerError:
		return failure(http.StatusInternalServerError, "Server Error")
	}
	return answer{
		status: http.StatusBadGateway, raw: []byte("<html><body>Unicorn!</body></html>"),
		header: map[string]string{"Content-Type": "text/html"},
	}
}

// breakOff ends an answer before it is whole.
func (k Kind) breakOff(w http.ResponseWriter, r *http.Request, data []byte) {
	if len(data) < 2 {
		data = []byte("{}")
	}
	switch k {
	case Reset:
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return // the client has gone
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // a reset and not an end
		}
		conn.Close()
	case Truncated:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusOK)
		w.Write(data[:len(data)/2])
	case SlowBody:
		w.Header().Set("Content-Length", strconv.Itoa(len(data)+1))
		w.Header().Set(stopsAt, strconv.Itoa(len(data)/2))
		w.WriteHeader(http.StatusOK)
		w.Write(data[:len(data)/2])
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		<-r.Context().Done() // the client gives up
	}
}

func failure(status int, message string) answer {
	return answer{status: status, value: object{
		"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

func unprocessable(message string) answer {
	return answer{status: http.StatusUnprocessableEntity, value: object{
		"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest",
		"errors": []object{{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": message}},
	}}
}
