package github

import (
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Hosted returns the host and the owner/name that the repository has by the address of its remote
// origin. The error is of kind ErrNotFound where origin is no such address.
func (r *Repository) Hosted() (host, name string, err error) {
	address, err := r.origin()
	if err != nil {
		return "", "", &fault.Error{Kind: ErrNotFound, Message: "the repository is on no server", Hint: "add the remote origin, or set GITHUB_REPOSITORY", Cause: err}
	}
	if endpoint, err := transport.NewEndpoint(address); err == nil {
		name = strings.TrimSuffix(strings.Trim(endpoint.Path, "/"), ".git")
		if owner, repo, ok := strings.Cut(name, "/"); ok && isName(owner) && isName(repo) && endpoint.Host != "" {
			return strings.ToLower(endpoint.Host), name, nil
		}
	}
	return "", "", &fault.Error{Kind: ErrNotFound, Message: "the address of the remote origin names no repository owner/name", Hint: "set GITHUB_REPOSITORY, and GITHUB_API_URL where it is not on github.com"}
}
