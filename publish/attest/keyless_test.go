package attest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestNewKeylessRefuses(t *testing.T) {
	in := newInstance(t)
	for name, c := range map[string]struct {
		change  func(*KeylessOptions)
		kind    error
		message string
	}{
		"no token":    {func(o *KeylessOptions) { o.Token = nil }, ErrToken, "no source of identity tokens"},
		"no identity": {func(o *KeylessOptions) { o.Identity = Identity{} }, ErrMalformed, `the issuer is ""`},
		"config":      {func(o *KeylessOptions) { o.Config = []byte("{") }, ErrMalformed, "the signing config cannot be read"},
		"root":        {func(o *KeylessOptions) { o.Root = []byte("{") }, ErrMalformed, "the trusted root cannot be read"},
		"no authority": {func(o *KeylessOptions) {
			o.Config = bytes.Replace(o.Config, []byte(`"caUrls"`), []byte(`"oidcUrls"`), 1)
		}, ErrMalformed, "names no usable certificate authority"},
		"not yet valid": {func(o *KeylessOptions) {
			o.Now = func() time.Time { return time.Now().Add(-48 * time.Hour) }
		}, ErrMalformed, "names no usable certificate authority"},
		"plain HTTP": {func(o *KeylessOptions) {
			o.Config = bytes.ReplaceAll(o.Config, []byte("https://fulcio.test"), []byte("http://fulcio.test"))
		}, ErrMalformed, `names no usable address: "http://fulcio.test", wanted one that begins with https://`},
		"timestamps of a later version": {func(o *KeylessOptions) {
			o.Config = versioned(o.Config, "https://tsa.test/api/v1/timestamp")
		}, ErrMalformed, "names no usable timestamp authority"},
		"log of a later version": {func(o *KeylessOptions) {
			o.Config = versioned(o.Config, "https://rekor1.test")
		}, ErrMalformed, "names no usable transparency log"},
	} {
		t.Run(name, func(t *testing.T) {
			o := in.options(full)
			c.change(&o)
			k, err := NewKeyless(context.Background(), o)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.message) || k != nil {
				t.Errorf("got  %v\nwant %s", err, c.message)
			}
		})
	}
}

// versioned makes a service one of version 9.
func versioned(config []byte, address string) []byte {
	out := string(config)
	at := strings.Index(out, `"`+address+`"`)
	return []byte(out[:at] + strings.Replace(strings.Replace(out[at:], `"majorApiVersion":1`, `"majorApiVersion":9`, 1), `"majorApiVersion": 1`, `"majorApiVersion":9`, 1))
}

func TestSecureAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"https://fulcio.sigstore.dev": true, "http://127.0.0.1:5555": true, "http://[::1]:1": true, "http://localhost:1": true,
		"http://fulcio.sigstore.dev": false, "http://127.0.0.1.example.com": false, "fulcio.sigstore.dev": false, "": false,
		"ftp://localhost": false, "https://user@fulcio.sigstore.dev": false, "https://%zz": false,
	} {
		if got := secure(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

// A service that sends its caller elsewhere does not send the token along.
func TestTheTokenStaysWithItsHost(t *testing.T) {
	in := newInstance(t)
	k, _ := in.signer(full)
	in.faults["fulcio.test"] = fails(1, answer(http.StatusTemporaryRedirect, "", "Location: https://rekor1.test/steal"))
	in.faults["rekor1.test"] = fails(1, answer(403, "no"))
	if _, err := k.Sign(context.Background(), sample()); !errors.Is(err, ErrRefusedBySigning) {
		t.Error(err)
	}
	if in.calls["rekor1.test"] != 1 {
		t.Fatalf("the redirect was not followed: %v", in.calls)
	}
	for _, sent := range in.tokens {
		if !strings.HasPrefix(sent, "fulcio.test ") {
			t.Errorf("the token went to %.20s", sent)
		}
	}
}

// deaf is a network without the public instance.
type deaf struct{ calls int }

func (d *deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	d.calls++
	return answer(http.StatusForbidden, "")(r)
}

func TestThePublicRootIsOutOfReach(t *testing.T) {
	in, net := newInstance(t), &deaf{}
	if _, err := TrustPublic(context.Background(), TUFOptions{Cache: t.TempDir(), HTTP: net}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "could not be fetched") {
		t.Error(err)
	}
	for name, change := range map[string]func(*KeylessOptions){
		"config": func(o *KeylessOptions) { o.Config = nil },
		"root":   func(o *KeylessOptions) { o.Root = nil },
	} {
		o := in.options(full)
		o.HTTP, o.TUFCache = net, t.TempDir()
		change(&o)
		if _, err := NewKeyless(context.Background(), o); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if net.calls == 0 {
		t.Error("nothing was fetched")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := TrustPublic(ctx, TUFOptions{Cache: t.TempDir(), HTTP: net}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
