package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// labelled returns the pull request that a request for labels is about; nil where there is none.
func (g *GitHub) labelled(r *http.Request) *Pull {
	n := number(r, "issue_number")
	for i := range g.Pulls {
		if g.Pulls[i].Number == n {
			return &g.Pulls[i]
		}
	}
	return nil
}

func (g *GitHub) addLabels(r *http.Request, body []byte) answer {
	var sent struct{ Labels []string }
	p := g.labelled(r)
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	case p == nil:
		return missing
	}
	for _, name := range sent.Labels {
		if !slices.ContainsFunc(p.Labels, func(s string) bool { return strings.EqualFold(s, name) }) {
			p.Labels = append(p.Labels, name)
		}
	}
	return found(each(p.Labels, g.label))
}

func (g *GitHub) removeLabel(r *http.Request, _ []byte) answer {
	p := g.labelled(r)
	if p == nil || !slices.Contains(p.Labels, r.PathValue("name")) {
		return missing
	}
	p.Labels = slices.DeleteFunc(p.Labels, func(s string) bool { return s == r.PathValue("name") })
	return found(each(p.Labels, g.label))
}
