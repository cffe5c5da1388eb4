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

func TestAnswerIsBounded(t *testing.T) {
	c, _ := newClient(t, githubtest.New(t), func(o *Options) { o.HTTP, o.Timeout = endless{}, time.Minute })
	_, err := c.PullRequest(t.Context(), 7)
	if !errors.Is(err, ErrTooLarge) || strings.Contains(err.Error(), "http") {
		t.Errorf("error %v", err)
	}
}
