package detect

import (
	"strings"
	"sync"
)

// alphabet is a set of bytes.
type alphabet [256]bool

func letters(chars string) *alphabet {
	var a alphabet
	for i := range len(chars) {
		a[chars[i]] = true
	}
	return &a
}

const (
	digitChars = "0123456789"
	hexChars   = digitChars + "abcdefABCDEF"
	lowerChars = "abcdefghijklmnopqrstuvwxyz"
	upperChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// The alphabets of tokens.
var (
	digit   = letters(digitChars)
	hex     = letters(hexChars)
	alnum   = letters(digitChars + lowerChars + upperChars)
	capital = letters(digitChars + upperChars)
	word    = letters(digitChars + lowerChars + upperChars + "_-")
	dashed  = letters(digitChars + upperChars + "-")
	dotted  = letters(digitChars + lowerChars + upperChars + "_-.=")
	base64  = letters(digitChars + lowerChars + upperChars + "+/=")
)

// token is the shape of an issuer's tokens: a prefix, and then so many
// characters of an alphabet. A most of 0 means that there is no upper bound.
type token struct {
	kind     string
	prefixes string // separated by blanks
	of       *alphabet
	least    int
	most     int
}

// tokens are shapes that issuers document. The lengths are lower bounds, so that
// a token that grew is still found; where a prefix is short, both are given.
var tokens = []token{
	{"an AWS access key", "AKIA ASIA ABIA ACCA A3T", capital, 16, 17},
	{"an AWS Bedrock key", "ABSK", base64, 100, 0},
	{"an AWS Bedrock key", "bedrock-api-key-", base64, 12, 0},
	{"a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", alnum, 30, 0},
	{"a GitHub token", "github_pat_", word, 36, 0},
	{"a GitLab token", "glpat- glptt- glrt- gldt- glft- glimt- glsoat- glffct- glagent- gloas- glcbt- GR1348941", dotted, 20, 0},
	{"a GitLab session", "_gitlab_session=", alnum, 32, 0},
	{"a Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xoxb- xoxe.xoxp- XOXB- XOXE- XOXE.XOXB- XOXE.XOXP-", word, 8, 0},
	{"a Slack app token", "xapp- XAPP-", word, 7, 0},
	{"a Stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_", alnum, 10, 0},
	{"an OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", word, 40, 0},
	{"an Anthropic key", "sk-ant-", word, 40, 0},
	{"an OpenRouter key", "sk-or-v1-", hex, 40, 0},
	{"an API key", "sk-", alnum, 32, 0},
	{"a Perplexity key", "pplx-", alnum, 40, 0},
	{"a Groq key", "gsk_", alnum, 40, 0},
	{"a Hugging Face token", "hf_ api_org_", alnum, 30, 0},
	{"a Google API key", "AIza", word, 35, 0},
	{"a Google OAuth token", "ya29.", dotted, 30, 0},
	{"a Google OAuth secret", "GOCSPX-", word, 24, 0},
	{"an npm token", "npm_ NPM_", alnum, 36, 0},
	{"a PyPI token", "pypi-AgE", word, 40, 0},
	{"a RubyGems key", "rubygems_", hex, 40, 0},
	{"a NuGet key", "oy2", letters(lowerChars + digitChars), 43, 43},
	{"a crates.io token", "cio", alnum, 32, 32},
	{"a Clojars token", "CLOJARS_ clojars_", alnum, 50, 0},
	{"a Docker Hub token", "dckr_pat_ dckr_oat_", word, 24, 0},
	{"a SendGrid key", "SG.", dotted, 60, 0},
	{"a Brevo key", "xkeysib- xsmtpsib-", word, 60, 0},
	{"a Twilio key", "SK", hex, 32, 32},
	{"a Shopify token", "shpat_ shpca_ shppa_ shpss_", hex, 32, 0},
	{"a Square token", "sq0atp- sq0csp- EAAA", word, 22, 64},
	{"a Facebook token", "EAAM EAAC", alnum, 90, 0},
	{"a DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", hex, 60, 0},
	{"a Databricks token", "dapi", hex, 32, 32},
	{"a Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", dotted, 40, 0},
	{"a Dynatrace token", "dt0c01. dt0s16.", dotted, 60, 0},
	{"a Duffel token", "duffel_test_ duffel_live_", dotted, 40, 0},
	{"an EasyPost key", "EZAK EZTK", alnum, 54, 54},
	{"a Flutterwave key", "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST-", word, 12, 0},
	{"a Fly.io token", "fo1_ fm1a_ fm1r_ fm2_", letters(digitChars + lowerChars + upperChars + "_-+/="), 40, 0},
	{"a Frame.io token", "fio-u-", dotted, 60, 0},
	{"a Grafana token", "glc_ glsa_ GLC_ GLSA_ eyJrIjoi", letters(digitChars + lowerChars + upperChars + "_+/="), 32, 0},
	{"a Heroku key", "HRKU-AA", word, 50, 0},
	{"an Infracost key", "ico-", alnum, 32, 32},
	{"a Linear key", "lin_api_ lin_oauth_", alnum, 40, 0},
	{"a New Relic key", "NRAK- NRAA- NRII- NRJS- NRSP-", alnum, 19, 0},
	{"a Notion token", "ntn_", alnum, 46, 46},
	{"an Octopus key", "API-", capital, 26, 26},
	{"a PlanetScale token", "pscale_tkn_ pscale_oauth_ pscale_pw_ PSCALE_PW_", dotted, 32, 0},
	{"a Postman key", "PMAK-", word, 50, 0},
	{"a Prefect token", "pnu_", alnum, 36, 0},
	{"a Pulumi token", "pul-", hex, 40, 0},
	{"a ReadMe key", "rdme_", alnum, 60, 0},
	{"a Scalingo token", "tk-us-", word, 40, 0},
	{"a Sentry token", "sntrys_ sntryu_", letters(digitChars + lowerChars + upperChars + "+/=_"), 40, 0},
	{"a Settlemint token", "sm_aat_ sm_pat_ sm_sat_", alnum, 16, 0},
	{"a Shippo token", "shippo_live_ shippo_test_", hex, 40, 0},
	{"a Sourcegraph token", "sgp_", word, 40, 0},
	{"a Vault token", "hvs. hvb. hvr.", word, 24, 0},
	{"a Vault token", "s.", alnum, 24, 24},
	{"a Vault token", "b.", alnum, 80, 0},
	{"an OpenShift token", "sha256~", word, 40, 0},
	{"an age key", "AGE-SECRET-KEY-1", capital, 50, 0},
	{"a 1Password key", "A3-", dashed, 30, 40},
	{"a 1Password token", "ops_eyJ", base64, 100, 0},
	{"an Adobe secret", "p8e-", alnum, 32, 32},
	{"an Alibaba Cloud key", "LTAI", alnum, 16, 24},
	{"an Artifactory key", "AKCp", alnum, 60, 0},
	{"an Artifactory token", "cmVmd", alnum, 59, 59},
	{"an Airtable token", "pat", letters(digitChars + lowerChars + upperChars + "."), 79, 79},
	{"a Harness token", "pat. sat.", dotted, 68, 70},
	{"a Cloudflare key", "v1.0-", letters("0123456789abcdef-"), 171, 0},
	{"a Clickhouse key", "4b1d", alnum, 38, 38},
	{"an Intra42 secret", "s-s4t2ud- s-s4t2af-", hex, 64, 0},
	{"an Atlassian token", "ATATT3 ATCTT3", dotted, 100, 0},
	{"a Bitbucket token", "ATBB", alnum, 24, 40},
	{"a Contentful token", "CFPAT-", word, 40, 0},
	{"a LaunchDarkly key", "sdk-", letters("0123456789abcdef-"), 36, 36},
	{"a Tailscale key", "tskey-", word, 20, 0},
	{"a Supabase key", "sbp_ sb_secret_", word, 30, 0},
	{"a Razorpay key", "rzp_live_ rzp_test_", alnum, 14, 0},
	{"a Mapbox token", "sk.eyJ", dotted, 40, 0},
}

// longestToken bounds how far a token is followed, in bytes, so that a text full of
// prefixes takes no time that grows with its square.
const longestToken = 1024

// shape is one prefix of a token.
type shape struct {
	prefix string
	*token
}

// byFirst maps the first byte of a prefix to the tokens that have it, the
// longest prefix first as far as the table is written so. It is made when the first
// text is looked at.
var byFirst = sync.OnceValue(func() *[256][]shape {
	var index [256][]shape
	for i := range tokens {
		for _, prefix := range strings.Fields(tokens[i].prefixes) {
			index[prefix[0]] = append(index[prefix[0]], shape{prefix, &tokens[i]})
		}
	}
	return &index
})

func findTokens(text string) (found []Match) {
	index := byFirst()
	for i := 0; i < len(text); i++ {
		if len(index[text[i]]) == 0 || !begins(text, i) {
			continue
		}
		for _, s := range index[text[i]] {
			if end := s.match(text, i); end > 0 {
				found = append(found, Match{Kind: s.kind, Start: i, End: end})
				i = end - 1
				break
			}
		}
	}
	return found
}

// match returns where the token ends that begins at i, or 0 where there is none.
func (s shape) match(text string, i int) int {
	if !strings.HasPrefix(text[i:], s.prefix) {
		return 0
	}
	start := i + len(s.prefix)
	end := start
	for end < min(len(text), start+longestToken) && s.of[text[end]] {
		end++
	}
	for end > start && (text[end-1] == '.' || text[end-1] == '/') {
		end-- // of the sentence, not of the token
	}
	n := end - start
	if n < s.least || s.most > 0 && n > s.most || s.most > 0 && end < len(text) && alnum[text[end]] {
		return 0
	}
	if !varied(text[start:end]) && !(s.of == capital && distinct(text[start:end])) {
		return 0
	}
	return end
}

// begins reports whether a word begins at i. The letter of an escape such as \n
// that was never undone ends the word before it.
func begins(text string, i int) bool {
	return i == 0 || !alnum[text[i-1]] || i > 1 && text[i-2] == '\\'
}

// varied reports whether a text can be random: it has digits among its letters or
// both cases, and does not repeat a few characters, as placeholders do.
func varied(text string) bool {
	return distinct(text) && (strings.ContainsAny(text, digitChars) || strings.ContainsAny(text, lowerChars) && strings.ContainsAny(text, upperChars))
}

// distinct reports whether a text has seven different characters, or of a short one
// every second.
func distinct(text string) bool {
	var seen alphabet
	n := 0
	for i := range len(text) {
		if !seen[text[i]] {
			seen[text[i]] = true
			n++
		}
	}
	return n >= min(7, len(text)/2)
}
