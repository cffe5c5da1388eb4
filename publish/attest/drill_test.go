package attest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/sethvargo/go-githubactions"
)

// clock is a clock that only waiting moves.
type clock struct {
	now   time.Time
	waits []time.Duration
}

func (c *clock) sleep(_ context.Context, d time.Duration) error {
	c.now, c.waits = c.now.Add(d), append(c.waits, d)
	return nil
}

// signer returns one with a clock of its own.
func (in *instance) signer(parts int, change ...func(*KeylessOptions)) (*Keyless, *clock) {
	in.t.Helper()
	c := &clock{now: time.Now()}
	o := in.options(parts)
	o.Now, o.Sleep = func() time.Time { return c.now }, c.sleep
	for _, f := range change {
		f(&o)
	}
	k, err := NewKeyless(context.Background(), o)
	if err != nil {
		in.t.Fatal(err)
	}
	return k, c
}

func lost(r *http.Request) (*http.Response, error) {
	return nil, &url.Error{Op: "Post", URL: r.URL.Redacted(), Err: errors.New("connection refused")}
}

func fails(n int, f func(*http.Request) (*http.Response, error)) []func(*http.Request) (*http.Response, error) {
	return slices.Repeat([]func(*http.Request) (*http.Response, error){f}, n)
}

// An outage that passes costs a whole new signature each time, and nothing else.
func TestSignOutlastsAnOutage(t *testing.T) {
	for _, host := range []string{"fulcio.test", "tsa.test", "rekor1.test", "rekor2.test"} {
		for name, fault := range map[string]func(*http.Request) (*http.Response, error){
			"500": answer(500, "oops"), "429": answer(429, "slow down"), "503": answer(503, ""), "408": answer(408, ""),
			"lost": lost, "no sense": answer(201, "<html>proxy</html>", "Content-Type: application/json"),
		} {
			t.Run(host+" "+name, func(t *testing.T) {
				in := newInstance(t)
				parts := full
				if host == "rekor2.test" {
					parts = full2
				}
				n := 0
				k, c := in.signer(parts, func(o *KeylessOptions) {
					o.Token = func(context.Context) (string, error) {
						n++
						claims := run()
						claims["jti"] = fmt.Sprint(n)
						return token(claims), nil
					}
				})
				in.faults[host] = fails(2, fault)
				if _, err := k.Sign(context.Background(), sample()); err != nil {
					t.Fatal(err)
				}
				if n != 3 || in.calls[host] != 3 || len(c.waits) != 2 {
					t.Errorf("%d tokens, %d calls, waits %v; wanted 3, 3 and 2 waits", n, in.calls[host], c.waits)
				}
				if slices.Sort(in.tokens); len(slices.Compact(in.tokens)) != 3 {
					t.Errorf("a token was used twice")
				}
				if host != "fulcio.test" && len(in.keys) != 3 {
					t.Errorf("%d keys, wanted a fresh one for each try", len(in.keys))
				}
				if c.waits[0] < firstWait || c.waits[0] > firstWait*3/2 || c.waits[1] < 2*firstWait || c.waits[1] > 3*firstWait {
					t.Errorf("waits %v", c.waits)
				}
			})
		}
	}
}

// The answer to an entry was lost, and the log has it already: version 2 refuses
// it for good, so that another key has to sign.
func TestSignOutlastsAConflict(t *testing.T) {
	in := newInstance(t)
	k, _ := in.signer(full2)
	in.faults["rekor2.test"] = fails(1, answer(409, `{"code":6,"message":"an equivalent entry already exists"}`))
	if _, err := k.Sign(context.Background(), sample()); err != nil {
		t.Fatal(err)
	}
	if in.calls["rekor2.test"] != 2 || len(in.keys) != 2 {
		t.Errorf("%d calls, %d keys", in.calls["rekor2.test"], len(in.keys))
	}
}

func TestSignEndsWithPatience(t *testing.T) {
	for _, host := range []string{"fulcio.test", "tsa.test", "rekor1.test"} {
		in := newInstance(t)
		k, c := in.signer(full, func(o *KeylessOptions) { o.Patience = 30 * time.Second })
		began := c.now
		in.faults[host] = fails(100, answer(503, "down\n\x1b[31mfor repairs"))
		_, err := k.Sign(context.Background(), sample())
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != ErrUnavailable || e.Hint == "" {
			t.Fatalf("%s: %v", host, err)
		}
		if !strings.Contains(err.Error(), "answered 503 Service Unavailable: down [31mfor repairs") {
			t.Errorf("%s: the reason is lost: %v", host, err)
		}
		if spent := c.now.Sub(began); spent > 30*time.Second || in.calls[host] < 4 {
			t.Errorf("%s: %d calls in %s", host, in.calls[host], spent)
		}
	}
}

// A clock that stands still does not make it go on for ever.
func TestSignEndsWithTries(t *testing.T) {
	in := newInstance(t)
	k, c := in.signer(full, func(o *KeylessOptions) {
		o.Sleep = func(context.Context, time.Duration) error { return nil }
	})
	in.faults["fulcio.test"] = fails(100, answer(500, ""))
	if _, err := k.Sign(context.Background(), sample()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "attempted 12 times") {
		t.Error(err)
	}
	if in.calls["fulcio.test"] != maxTries || c.waits != nil {
		t.Errorf("%d calls", in.calls["fulcio.test"])
	}
}

func TestSignWaitsAsLongAsItIsAsked(t *testing.T) {
	for name, header := range map[string]func(time.Time) string{
		"seconds": func(time.Time) string { return "40" },
		"date":    func(now time.Time) string { return now.Add(41 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		for _, host := range []string{"fulcio.test", "tsa.test", "rekor1.test", "rekor2.test"} {
			in := newInstance(t)
			parts := full
			if host == "rekor2.test" {
				parts = full2
			}
			k, c := in.signer(parts)
			in.faults[host] = fails(1, answer(429, "", "Retry-After: "+header(c.now)))
			if _, err := k.Sign(context.Background(), sample()); err != nil {
				t.Fatal(err)
			}
			if len(c.waits) != 1 || c.waits[0] < 39*time.Second || c.waits[0] > 41*time.Second {
				t.Errorf("%s, %s: waited %v", name, host, c.waits)
			}
		}
	}
	in := newInstance(t)
	k, c := in.signer(full)
	in.faults["fulcio.test"] = fails(1, answer(503, "", "Retry-After: 3600"))
	if _, err := k.Sign(context.Background(), sample()); !errors.Is(err, ErrUnavailable) || len(c.waits) != 0 {
		t.Errorf("asked to wait for an hour: waited %v, %v", c.waits, err)
	}
}

func TestSignDoesNotRepeatWhatIsRefused(t *testing.T) {
	for _, host := range []string{"fulcio.test", "tsa.test", "rekor1.test", "rekor2.test"} {
		for _, status := range []int{400, 401, 403, 404} {
			in := newInstance(t)
			parts := full
			if host == "rekor2.test" {
				parts = full2
			}
			k, c := in.signer(parts)
			secret := token(in.claims)
			in.faults[host] = fails(9, answer(status, "There was an error processing the identity token "+secret))
			_, err := k.Sign(context.Background(), sample())
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != ErrRefusedBySigning || in.calls[host] != 1 || len(c.waits) != 0 {
				t.Fatalf("%s %d: %d calls, %v", host, status, in.calls[host], err)
			}
			if !strings.Contains(err.Error(), fmt.Sprintf("answered %d %s: There was an error", status, http.StatusText(status))) {
				t.Errorf("%s: the reason is lost: %v", host, err)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(fmt.Sprintf("%+v %#v", err, e.Cause), secret) {
				t.Errorf("%s: the token is in the error", host)
			}
		}
	}
}

// The library makes requests without a context.
func TestSignEndsWithItsContext(t *testing.T) {
	for _, host := range []string{"fulcio.test", "tsa.test", "rekor1.test", "rekor2.test"} {
		in := newInstance(t)
		parts := full
		if host == "rekor2.test" {
			parts = full2
		}
		k, _ := in.signer(parts)
		ctx, cancel := context.WithCancel(context.Background())
		in.faults[host] = fails(9, func(r *http.Request) (*http.Response, error) {
			cancel()
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		_, err := k.Sign(ctx, sample())
		if !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) || in.calls[host] != 1 {
			t.Errorf("%s: %d calls, %v", host, in.calls[host], err)
		}
	}
	t.Run("while waiting", func(t *testing.T) {
		in := newInstance(t)
		ctx, cancel := context.WithCancel(context.Background())
		k, _ := in.signer(full, func(o *KeylessOptions) {
			o.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return sleep(ctx, time.Hour) }
		})
		in.faults["fulcio.test"] = fails(9, answer(500, ""))
		if _, err := k.Sign(ctx, sample()); !errors.Is(err, ErrUnavailable) || in.calls["fulcio.test"] != 1 {
			t.Errorf("%d calls, %v", in.calls["fulcio.test"], err)
		}
	})
}

// What a service certifies is held to the identity once more.
func TestSignRefusesWhatWouldNotVerify(t *testing.T) {
	in := newInstance(t)
	k, _ := in.signer(full, func(o *KeylessOptions) {
		o.Token = func(context.Context) (string, error) { return token(run()), nil }
	})
	in.claims["repository"] = "alice/packs"
	if b, err := k.Sign(context.Background(), sample()); !errors.Is(err, ErrRepository) || b != nil {
		t.Errorf("%v", err)
	}
	if _, err := k.Sign(context.Background(), []byte("{}")); !errors.Is(err, ErrMalformed) {
		t.Errorf("signed what is no statement: %v", err)
	}
}

// A run that is not the trusted one is told so before anything leaves it.
func TestSignLooksAtTheTokenFirst(t *testing.T) {
	claim := func(name, value string) string {
		c := run()
		c[name] = value
		return token(c)
	}
	for name, c := range map[string]struct {
		token   string
		kind    error
		message string
	}{
		"fork":            {claim("repository", "alice/packs"), ErrRepository, `this run has the repository "https://github.com/alice/packs", wanted "https://github.com/acme/packs"`},
		"workflow":        {claim("job_workflow_ref", "acme/packs/.github/workflows/ci.yml@refs/heads/main"), ErrWorkflow, `this run has the workflow "https://github.com/acme/packs/.github/workflows/ci.yml@refs/heads/main", wanted`},
		"branch":          {claim("job_workflow_ref", "acme/packs/.github/workflows/packs.yml@refs/heads/x"), ErrWorkflow, `@refs/heads/x"`},
		"issuer":          {claim("iss", "https://evil.example"), ErrIssuer, `this run has the issuer "https://evil.example"`},
		"repository id":   {claim("repository_id", "9"), ErrRepository, `with the ID "9", wanted "11"`},
		"owner id":        {claim("repository_owner_id", "9"), ErrRepository, `owner with the ID "9", wanted "22"`},
		"schedule":        {claim("event_name", "schedule"), ErrTrigger, `this run has the trigger "schedule"`},
		"pull request":    {claim("event_name", "pull_request"), ErrTrigger, `the trigger "pull_request"`},
		"audience":        {claim("aud", "https://github.com/acme"), ErrToken, `the identity token is for ["https://github.com/acme"], wanted "sigstore"`},
		"no token":        {"", ErrToken, "is not a JSON Web Token"},
		"two parts":       {"a.b", ErrToken, "is not a JSON Web Token"},
		"no base64":       {"a.!.c", ErrToken, "is not a JSON Web Token"},
		"no JSON":         {"a.aGk.c", ErrToken, "is not a JSON Web Token"},
		"numeric members": {token(map[string]any{"iss": 7}), ErrToken, "is not a JSON Web Token"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstance(t)
			k, _ := in.signer(full, func(o *KeylessOptions) {
				o.Token = func(context.Context) (string, error) { return c.token, nil }
			})
			_, err := k.Sign(context.Background(), sample())
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(err.Error(), c.message) || e.Hint == "" {
				t.Errorf("got  %v\nwant %s", err, c.message)
			}
			if len(in.calls) != 0 {
				t.Errorf("called %v", in.calls)
			}
			if early := acme.CheckToken(c.token); early == nil || early.Error() != err.Error() {
				t.Errorf("early %v", early)
			}
		})
	}
}

func TestCheckToken(t *testing.T) {
	if err := acme.CheckToken(token(run())); err != nil {
		t.Error(err)
	}
	if err := (Identity{}).CheckToken(token(run())); !errors.Is(err, ErrMalformed) {
		t.Errorf("without an identity: %v", err)
	}
}

// Several audiences are a list; claims that an issuer does not have wait for the
// certificate.
func TestSignTakesOtherFormsOfTokens(t *testing.T) {
	in := newInstance(t)
	k, _ := in.signer(full, func(o *KeylessOptions) {
		o.Token = func(context.Context) (string, error) {
			return token(map[string]any{"iss": gitHub, "aud": []string{"other", "sigstore"}, "sub": "x"}), nil
		}
	})
	if _, err := k.Sign(context.Background(), sample()); err != nil {
		t.Error(err)
	}
}

func TestSignWithoutAToken(t *testing.T) {
	secret := strings.Repeat("s3", 20)
	for name, c := range map[string]struct {
		err     error
		kind    error
		tries   int
		message string
	}{
		"permission": {&githubactions.EnvMissingError{Name: "ACTIONS_ID_TOKEN_REQUEST_URL"}, ErrToken, 1, "id-token: write"},
		"refused":    {&githubactions.RequestFailedError{StatusCode: 403, Body: secret}, ErrToken, 1, "did not issue a token: 403 Forbidden"},
		"outage":     {&githubactions.RequestFailedError{StatusCode: 503, Body: secret}, ErrUnavailable, maxTries, "the runner's token service answered 503 Service Unavailable"},
		"network":    {&url.Error{Op: "Get", URL: "https://runner.test", Err: errors.New("connection reset")}, ErrUnavailable, maxTries, "connection reset"},
		"typed":      {&fault.Error{Kind: ErrToken, Message: "sign in first"}, ErrToken, 1, "sign in first"},
		"other":      {errors.New("no runner"), ErrToken, 1, "no runner"},
	} {
		t.Run(name, func(t *testing.T) {
			in, n := newInstance(t), 0
			k, _ := in.signer(full, func(o *KeylessOptions) {
				o.Token = func(context.Context) (string, error) { n++; return "", fmt.Errorf("token: %w", c.err) }
				o.Patience = time.Hour
			})
			_, err := k.Sign(context.Background(), sample())
			if !errors.Is(err, c.kind) || n != c.tries || !strings.Contains(err.Error()+fault.Hint(err), c.message) || strings.Contains(err.Error(), secret) {
				t.Errorf("%d tries: %v", n, err)
			}
		})
	}
}

func TestSleepEnds(t *testing.T) {
	if err := sleep(context.Background(), time.Nanosecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
