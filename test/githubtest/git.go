package githubtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Files and folders go by the names that git gives them, which are made here by
// hand: from git's documentation, and not by the library that the client uses.

func objectName(kind, content string) string {
	return fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("%s %d\x00%s", kind, len(content), content))))
}

// gitTree is a folder as git names it, and all that is below it.
type gitTree struct {
	sha     string
	entries []object
}

// treeOf returns the folder that holds files by their paths.
func treeOf(files map[string]string) gitTree {
	inside := map[string]map[string]string{}
	var names []string // a folder with a slash at its end, by which git sorts it
	for path, text := range files {
		name, rest, isFolder := strings.Cut(path, "/")
		if !isFolder {
			names = append(names, name)
			continue
		}
		if inside[name] == nil {
			inside[name] = map[string]string{}
			names = append(names, name+"/")
		}
		inside[name][rest] = text
	}
	slices.Sort(names)
	t, content := gitTree{}, ""
	for _, name := range names {
		folder, isFolder := strings.CutSuffix(name, "/")
		e := object{"path": folder, "mode": "100644", "type": "blob"}
		if isFolder {
			below := treeOf(inside[folder])
			e["mode"], e["type"], e["sha"] = "040000", "tree", below.sha
			t.entries = append(t.entries, e)
			for _, b := range below.entries {
				moved := maps.Clone(b)
				moved["path"] = folder + "/" + b["path"].(string)
				t.entries = append(t.entries, moved)
			}
		} else {
			e["sha"], e["size"] = objectName("blob", files[name]), len(files[name])
			t.entries = append(t.entries, e)
		}
		raw, err := hex.DecodeString(e["sha"].(string))
		if err != nil {
			panic(err) // a mistake of this package
		}
		content += strings.TrimPrefix(e["mode"].(string), "0") + " " + folder + "\x00" + string(raw)
	}
	t.sha = objectName("tree", content)
	return t
}

// getTree lists all that is below the folder of a commit; folders of a commit by
// themselves are not known.
func (g *GitHub) getTree(r *http.Request, _ []byte) answer {
	sha := r.PathValue("tree_sha")
	for _, files := range g.Commits {
		t := treeOf(files)
		if t.sha != sha || r.URL.Query().Get("recursive") == "" {
			continue
		}
		if g.Truncated {
			t.entries = t.entries[:len(t.entries)/2]
		}
		for _, e := range t.entries {
			e["url"] = g.api("/repos/%s/git/%ss/%s", g.Repository, e["type"], e["sha"])
		}
		return found(object{
			"sha": sha, "url": g.api("/repos/%s/git/trees/%s", g.Repository, sha),
			"tree": each(t.entries, func(e object) object { return e }), "truncated": g.Truncated,
		})
	}
	return missing
}

// getBlob answers with a file as it is.
func (g *GitHub) getBlob(r *http.Request, _ []byte) answer {
	for _, files := range g.Commits {
		for _, text := range files {
			if objectName("blob", text) == r.PathValue("file_sha") {
				return answer{status: http.StatusOK, raw: []byte(text), header: map[string]string{"Content-Type": "application/vnd.github.raw+json; charset=utf-8"}}
			}
		}
	}
	return missing
}
