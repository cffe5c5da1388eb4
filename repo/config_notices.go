package repo

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Notices says whom to tell of what happens to published packs, beside the issues of the repository.
type Notices struct {
	pack.Part
	Webhook struct {
		pack.Part
		URL pack.Text `json:"url"`
		// SecretVariable names the environment variable that holds the secret.
		SecretVariable pack.Text `json:"secret_variable"`
	} `json:"webhook"`
}

// HookAddress reads the address of a webhook, as far as it can be told from how it is written: that of
// an https server, without a user and a fragment. Whether the server is on the public internet is for
// whoever connects to it.
func HookAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("is not an address such as https://hooks.example.com/packgate")
	case u.Scheme != "https":
		return nil, errors.New("does not begin with https://")
	case u.User != nil:
		return nil, errors.New("has a user in it")
	case strings.Contains(address, "#"):
		return nil, errors.New("has a fragment, which no server gets to see")
	}
	return u, nil
}

// runnersOwn are what the variables of a runner begin with, which hold other secrets.
var runnersOwn = []string{"GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_"}

// checkNotices checks what the schema cannot say of the section notices.
func (c *Config) checkNotices() (problems Problems) {
	hook := c.Notices.Webhook
	if hook.URL.OK {
		if _, err := HookAddress(hook.URL.Value); err != nil {
			problems = append(problems, Problemf("write an https address of the public internet", "the webhook %v", err).placed(hook.URL.Node))
		}
	}
	if name := hook.SecretVariable; slices.ContainsFunc(runnersOwn, func(prefix string) bool { return strings.HasPrefix(name.Value, prefix) }) {
		problems = append(problems, Problemf("name a variable of your own, such as PACKGATE_WEBHOOK_SECRET", "%q is a variable of the runner", name.Value).placed(name.Node))
	}
	return problems
}
