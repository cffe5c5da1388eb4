package githubtest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
)

// listTeamMembers knows the teams that the token may see, and says of the others
// what GitHub says of them: that there is none.
func (g *GitHub) listTeamMembers(r *http.Request, _ []byte) answer {
	members, ok := g.Teams[r.PathValue("org")+"/"+r.PathValue("team_slug")]
	if !ok {
		return missing
	}
	members, link := page(g, r, members)
	return answer{status: http.StatusOK, value: each(members, g.user), header: link}
}

// requestToken is what the service of identity tokens knows a job by.
const requestToken = "token-of-the-job"

// TokenVariables returns the variables by which a job finds the service of identity
// tokens, as the runner sets them for one that may write id-token.
func (g *GitHub) TokenVariables() map[string]string {
	return map[string]string{
		"ACTIONS_ID_TOKEN_REQUEST_URL":   g.tokens.URL + "/_apis/idtoken?api-version=2.0",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN": requestToken,
	}
}

// serveTokens gives out identity tokens that nobody signed.
func (g *GitHub) serveTokens(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.log = append(g.log, IDToken)
	fault, failing := g.next(IDToken)
	a := failure(http.StatusUnauthorized, "Bad credentials")
	if r.Header.Get("Authorization") == "Bearer "+requestToken && r.URL.Query().Get("api-version") == "2.0" {
		claims := maps.Clone(g.Claims)
		claims["aud"] = r.URL.Query().Get("audience")
		a = found(object{"count": 1, "value": unsigned(claims)})
	}
	g.mu.Unlock()
	if failing && fault.Kind.answers() {
		a = fault.Kind.answer()
	}
	data := a.bytes()
	if failing && !fault.Kind.answers() {
		fault.Kind.breakOff(w, r, data)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	w.Write(data)
}

// unsigned returns claims in the form of a token (RFC 7519), with a signature that
// is none.
func unsigned(claims map[string]any) string {
	data, err := json.Marshal(claims)
	if err != nil {
		panic(err) // a mistake of the test
	}
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + part(data) + "." + part([]byte("no signature"))
}
