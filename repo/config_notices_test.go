package repo

import (
	"strings"
	"testing"
)

func TestNotices(t *testing.T) {
	c, err := ParseConfig("c", []byte("version: 1\nnotices:\n  webhook: {url: \"https://hooks.example.com/packgate\", secret_variable: PACKGATE_SECRET}\n"))
	if err != nil || c.Notices.Webhook.URL.Value != "https://hooks.example.com/packgate" || c.Notices.Webhook.SecretVariable.Value != "PACKGATE_SECRET" {
		t.Errorf("%+v, %v", c, err)
	}
	for hook, want := range map[string]string{
		`{url: "http://hooks.example.com", secret_variable: A}`:                           "does not begin with https://",
		`{url: "https://hooks.example.com"}`:                                              "secret_variable",
		`{secret_variable: A}`:                                                            "url",
		`{url: "https://a.example.com", secret_variable: whsec_abc}`:                      "PACKGATE_WEBHOOK_SECRET",
		`{url: "https://a.example.com", secret_variable: GITHUB_TOKEN}`:                   `"GITHUB_TOKEN" is a variable of the runner`,
		`{url: "https://a.example.com", secret_variable: ACTIONS_ID_TOKEN_REQUEST_TOKEN}`: "is a variable of the runner",
		`{url: "https://a.example.com", secret_variable: INPUT_TOKEN}`:                    "is a variable of the runner",
		`{url: "https://a.example.com", secret: A}`:                                       `unknown`,
	} {
		if _, err := ParseConfig("c", []byte("version: 1\nnotices:\n  webhook: "+hook+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, wanted %q", hook, err, want)
		}
	}
}

func TestHookAddress(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://hooks.example.com/packgate": true, "https://hooks.example.com:8443/a?b=c": true, "https://[2606:4700::1]/": true, "HTTPS://hooks.example.com/": true,
		"http://hooks.example.com/": false, "https:///path": false, "https://user@hooks.example.com/": false, "https://u:p@hooks.example.com/": false,
		"https://hooks.example.com/#a": false, "https://hooks.example.com/#": false, "https://hooks.example.com/ a": false, "https://hooks.example.com/\n": false,
		"https://hööks.example.com/": false, "hooks.example.com": false, "": false, "ftp://a/": false, "https://:443/": false, "//hooks.example.com/": false,
	} {
		if _, err := HookAddress(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
