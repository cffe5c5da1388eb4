package scaffold

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// writable reports whether a catalog can be written under the name of its environment.
func writable(environment string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return environment != "" && len(environment) <= 64 && strings.Trim(environment, letters) == "" && environment[0] != '-'
}

// CatalogFile returns the name of the file in which init writes the catalog of an environment.
func CatalogFile(environment string) string { return "environments/" + environment + ".json" }

// Catalogs returns a catalog for each environment that golden cases and overlays of packs name, or
// for prod where they name none, sorted by name. Each lists what the packs name there, and is
// marked as unconfirmed, since a pack that is checked against its own words always passes.
// Schemes are those of endpoints that the config allows.
func Catalogs(units []*repo.Unit, schemes []string) ([]File, error) {
	var files []File
	for _, environment := range environmentsOf(units) {
		var packs []*pack.Pack
		for _, u := range units {
			if u.Pack != nil {
				packs = append(packs, overlay.In(u, environment).Unit.Pack)
			}
		}
		content, err := draft(environment, refresh.Named(packs, schemes))
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: CatalogFile(environment), Content: content})
	}
	return files, nil
}

func environmentsOf(units []*repo.Unit) []string {
	named := map[string]bool{}
	for _, u := range units {
		for _, c := range u.Cases {
			named[c.Environment.Value] = true
		}
		for _, o := range u.Overlays {
			named[o.Environment.Value] = true
		}
	}
	maps.DeleteFunc(named, func(name string, _ bool) bool { return !writable(name) })
	if len(named) == 0 {
		return []string{"prod"}
	}
	return slices.Sorted(maps.Keys(named))
}

// draft returns an unconfirmed catalog as a file, the mark first.
func draft(environment string, sections map[string]any) ([]byte, error) {
	head, err := marshal(struct {
		Schema      string `json:"$schema"`
		Environment string `json:"environment"`
		Unconfirmed bool   `json:"unconfirmed"`
	}{"https://contextosai.com/schemas/packgate/environment.v1.schema.json", environment, true})
	if err != nil || len(sections) == 0 {
		return head, err
	}
	lists, err := marshal(sections)
	if err != nil {
		return nil, err
	}
	return slices.Concat(bytes.TrimSuffix(head, []byte("\n}\n")), []byte(",\n"), bytes.TrimPrefix(lists, []byte("{\n"))), nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
