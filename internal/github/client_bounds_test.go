package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/test/githubtest"
)

// endless is a server of which the answers do not end.
type endless struct{}

func (endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: endless{}}, nil
}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
func (endless) Close() error               { return nil }

// An answer that never ends is waited for no longer than the limit of a request, which
// nothing else in this test depends on.
func TestAnswerThatNeverEnds(t *testing.T) {
	g := githubtest.New(t)
	g.FailAlways(githubtest.GetPull, githubtest.Fault{Kind: githubtest.SlowBody})
	c, _ := newClient(t, g, func(o *Options) { o.HTTP, o.Timeout = http.DefaultTransport, 20*time.Millisecond })
	_, err := c.PullRequest(t.Context(), 7)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "no complete answer within 20ms") {
		t.Errorf("error %v", err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	c, _ := newClient(t, githubtest.New(t), func(o *Options) { o.HTTP = endless{} })
	_, err := c.PullRequest(t.Context(), 7)
	if !errors.Is(err, ErrTooLarge) || strings.Contains(err.Error(), "http") {
		t.Errorf("error %v", err)
	}
}
