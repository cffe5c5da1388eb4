package attest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/contextosai/packgate/finding/fault"
)

// The waits between tries: the first, doubled for each further one up to the
// longest, each longer by a random part so that runs that failed together do not
// come back together. maxTries ends it where the clock does not.
const (
	firstWait   = time.Second
	longestWait = 15 * time.Second
	maxTries    = 12
)

const laterHint = "run it again later; what is done already is kept"

// retry calls f until it succeeds, fails for good, or patience ends.
func (k *Keyless) retry(ctx context.Context, f func(context.Context) ([]byte, error)) ([]byte, error) {
	end := k.o.Now().Add(k.o.Patience)
	bound, cancel := context.WithTimeout(ctx, k.o.Patience)
	defer cancel()
	wait := firstWait
	for try := 1; ; try++ {
		out, err := f(bound)
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, &fault.Error{Kind: ErrUnavailable, Message: "signing was ended", Hint: laterHint, Cause: context.Cause(ctx)}
		}
		if final := permanent(err); final != nil {
			return nil, final
		}
		pause := max(wait+rand.N(wait/2), asked(err))
		wait = min(2*wait, longestWait)
		if try == maxTries || bound.Err() != nil || k.o.Now().Add(pause).After(end) {
			return nil, outage(err, try)
		}
		if err := k.o.Sleep(bound, pause); err != nil {
			return nil, outage(err, try)
		}
	}
}

// outage is the error of a signing that was given up.
func outage(err error, tries int) error {
	times := "once"
	if tries > 1 {
		times = fmt.Sprintf("%d times", tries)
	}
	return &fault.Error{Kind: ErrUnavailable, Message: "signing failed after it was tried " + times, Hint: laterHint, Cause: err}
}

// permanent returns the error that another try would meet as well, nil for one
// that it may not: an outage, a lost connection, or an answer that makes no sense.
func permanent(err error) error {
	var ours *fault.Error
	if errors.As(err, &ours) {
		return ours
	}
	var refusal *serviceError
	if errors.As(err, &refusal) && !passing(refusal.status) {
		return &fault.Error{Kind: ErrRefusedBySigning, Message: "signing was refused", Cause: refusal,
			Hint: "check that the signing config names the services that accept this run's identity"}
	}
	return nil
}

// passing holds for the statuses that a later try may not meet. 409 is the log's
// answer to an entry whose first answer was lost: another key makes another entry.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// asked returns how long the service asked to wait.
func asked(err error) time.Duration {
	var refusal *serviceError
	if errors.As(err, &refusal) {
		return refusal.after
	}
	return 0
}

// isNetwork holds for errors of a connection.
func isNetwork(err error) bool {
	var network net.Error
	var address *url.Error
	return errors.As(err, &network) || errors.As(err, &address)
}

// sleep waits, and ends with ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
