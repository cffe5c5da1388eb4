package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
)

// fetchTimeout bounds the one fetch; a base of ordinary size takes a second.
const fetchTimeout = 2 * time.Minute

// fetch gets one commit and its files from "origin" into a store of its own.
//
// The store lives in memory, as the compressed pack the server sent. Fetching
// into the checkout would be simpler and would leave traces in it: files owned
// by root when the action runs in a container, which the next job on a
// self-hosted runner cannot remove, and a changed shallow boundary that later
// steps see.
func (r *Repository) fetch(ctx context.Context, server, token, sha string) (*store, error) {
	origin, err := r.origin()
	if err != nil {
		return nil, err
	}
	address, auth, err := access(origin, server, token)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	s := newStore(memfs.New())
	remote := git.NewRemote(s, &config.RemoteConfig{Name: "origin", URLs: []string{address}})
	err = remote.FetchContext(ctx, &git.FetchOptions{
		Auth:     auth,
		Depth:    1,
		RefSpecs: []config.RefSpec{config.RefSpec("+" + sha + ":refs/packgate/base")},
		Tags:     git.NoTags,
	})
	if err != nil {
		return nil, fetchError(err)
	}
	return s, nil
}

// origin returns the address of the remote that the checkout came from.
func (r *Repository) origin() (string, error) {
	r.store.Lock()
	defer r.store.Unlock()
	remote, err := r.git.Remote("origin")
	if err != nil {
		return "", fmt.Errorf("remote \"origin\": %w", err)
	}
	urls := remote.Config().URLs
	if len(urls) == 0 {
		return "", errors.New("remote \"origin\" has no address")
	}
	return urls[0], nil
}

// access decides how an address may be reached. The token goes to the event's
// own server alone, by the scheme that server is known by: origin is a setting
// of the checkout and may name any host. Where the token goes, credentials that
// are part of the address are dropped.
func access(origin, server, token string) (string, transport.AuthMethod, error) {
	endpoint, err := transport.NewEndpoint(origin)
	if err != nil {
		return "", nil, errors.New("the address of origin is not one of git's")
	}
	switch endpoint.Protocol {
	case "file", "http", "https":
	default:
		return "", nil, fmt.Errorf("origin is reached by %q, wanted https", endpoint.Protocol)
	}
	target, err := url.Parse(origin)
	own, serverErr := url.Parse(server)
	if token == "" || err != nil || serverErr != nil ||
		own.Host == "" || !strings.EqualFold(target.Host, own.Host) || target.Scheme != own.Scheme {
		return origin, nil, nil
	}
	target.User = nil
	// The user name is the one GitHub documents for tokens of an installation.
	return target.String(), &http.BasicAuth{Username: "x-access-token", Password: token}, nil
}

// fetchError leaves out what a server answered beside its refusal: a page of
// HTML has no place in a message.
func fetchError(err error) error {
	for _, known := range []error{
		transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed, transport.ErrRepositoryNotFound,
	} {
		if errors.Is(err, known) {
			err = known
			break
		}
	}
	return fmt.Errorf("cannot fetch it from origin: %w", err)
}
