package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// Claim is the pack_id and the pack_version that a file states, "" where they are not seen.
type Claim struct{ ID, Version string }

// Glance is what a file says of itself at first sight, be it JSON, JSON with comments or
// YAML, and valid or not.
type Glance struct {
	Claim
	layers int // of a pack, among its outermost members
}

// fewestLayers are as many layers as make a file look like a pack.
const fewestLayers = 3

// LooksLikePack reports whether it may be a pack to somebody who loads it.
func (g Glance) LooksLikePack() bool { return g.layers >= fewestLayers }

// GlanceAt looks at the content of a file.
func GlanceAt(src []byte) Glance { return glanceAt(src, false) }

// ClaimOf returns what a glance at the content of a file gives as its identity, and looks no further than that.
func ClaimOf(src []byte) Claim { return glanceAt(src, true).Claim }

// glanceAt looks at a file as far as its end, or its identity.
func glanceAt(src []byte, identity bool) Glance {
	if !namesPack(src) {
		return Glance{}
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	g := glancer{src: src}
	if g.next(); g.kind != '{' {
		return glanceAtYAML(src)
	}
	g.flow(func() bool { return identity && g.ID != "" && g.Version != "" })
	return g.Glance
}

// namesPack reports whether a file has names in it that a glance could see: pack_meta, which
// holds the identity, or as many layers as make it look like a pack.
func namesPack(src []byte) bool {
	if bytes.Contains(src, []byte("pack_meta")) || bytes.Contains(src, []byte(`\u`)) {
		return true
	}
	layers, unseen := 0, pack.Layers()
	for _, of := range []string{"_layer", "_meta"} { // which most names end with, and few files have
		if !bytes.Contains(src, []byte(of)) {
			unseen = slices.DeleteFunc(unseen, func(layer string) bool { return strings.HasSuffix(layer, of) })
		}
	}
	for len(unseen) > 0 && layers < fewestLayers && layers+len(unseen) >= fewestLayers {
		if bytes.Contains(src, []byte(unseen[0])) {
			layers++
		}
		unseen = unseen[1:]
	}
	return layers >= fewestLayers
}

// glancer reads what is written in braces, and takes no offence at anything.
type glancer struct {
	Glance
	src  []byte
	at   int
	kind byte   // of the token: one of {}[]:, or t for a text or another word, 0 at the end
	text string // of a text
}

// flow counts the layers and finds the identity, until that is enough. The first brace is read.
func (g *glancer) flow(enough func() bool) {
	type open struct {
		object bool
		name   string
	}
	stack, name, seen := []open{{object: true}}, "", map[string]bool{}
	for g.next(); g.kind != 0 && len(stack) > 0 && !enough(); g.next() {
		switch g.kind {
		case '{', '[':
			stack, name = append(stack, open{g.kind == '{', name}), ""
		case '}', ']':
			stack = stack[:len(stack)-1]
		case 't':
			text := g.text
			if top := stack[len(stack)-1]; top.object && g.colon() {
				if name = text; len(stack) == 1 {
					seen[name] = true
				}
			} else if len(stack) == 2 && top.name == "pack_meta" {
				g.identity(name, text)
			}
		}
	}
	g.count(seen)
}

func (g *Glance) count(seen map[string]bool) {
	for _, layer := range pack.Layers() {
		if seen[layer] {
			g.layers++
		}
	}
}

func (g *Claim) identity(name, value string) {
	switch {
	case name == "pack_id" && g.ID == "":
		g.ID = value
	case name == "pack_version" && g.Version == "":
		g.Version = value
	}
}

// colon reports whether a colon comes next, and takes it.
func (g *glancer) colon() bool {
	before := g.at
	if g.next(); g.kind == ':' {
		return true
	}
	g.at = before
	return false
}

// next reads a token, over blanks and comments.
func (g *glancer) next() {
	for g.kind = 0; g.at < len(g.src); {
		rest := g.src[g.at:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			g.at++
		case bytes.HasPrefix(rest, []byte("//")) || c == '#':
			g.over(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			g.over(rest, "*/")
		case strings.IndexByte("{}[]:,", c) >= 0:
			g.kind, g.at = c, g.at+1
			return
		case c == '"' || c == '\'':
			g.quoted(rest)
			return
		default:
			end := bytes.IndexAny(rest, "{}[]:,\"' \t\r\n")
			if end < 0 {
				end = len(rest)
			}
			g.kind, g.text, g.at = 't', string(rest[:end]), g.at+end
			return
		}
	}
}

func (g *glancer) over(rest []byte, end string) {
	if i := bytes.Index(rest, []byte(end)); i >= 0 {
		g.at += i + len(end)
	} else {
		g.at = len(g.src)
	}
}

// quoted reads a text between quotes, with the escapes of JSON.
func (g *glancer) quoted(rest []byte) {
	end := 1
	for end < len(rest) && rest[end] != rest[0] {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end+1, len(rest))
	g.kind, g.at, g.text = 't', g.at+end, strings.Trim(string(rest[:end]), string(rest[:1]))
	if strings.Contains(g.text, `\`) {
		var text string
		if json.Unmarshal([]byte(`"`+g.text+`"`), &text) == nil {
			g.text = text
		}
	}
}

// The names that YAML may begin a line with, and the identity wherever it is.
var (
	yamlName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^( *)(?:\? +)?["']?([a-z_]+)["']?[ \t]*(?::|$)`) })
	yamlIdentity = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(pack_id|pack_version)["']?\s*:\s*["']?([^"'#\s,}]+)`)
	})
)

func glanceAtYAML(src []byte) (g Glance) {
	seen, root := map[string]bool{}, -1
	for _, m := range yamlName().FindAllSubmatch(src, -1) {
		if root < 0 {
			root = len(m[1])
		}
		if len(m[1]) == root {
			seen[string(m[2])] = true
		}
	}
	if g.count(seen); !g.LooksLikePack() {
		return Glance{}
	}
	for _, m := range yamlIdentity().FindAllSubmatch(src, -1) {
		g.identity(string(m[1]), string(m[2]))
	}
	return g
}

// Glance looks at a file, no further than most bytes. What cannot be read says nothing:
// who gates it says why.
func (f *Files) Glance(name string, most int) (g Glance, src []byte, err error) {
	if src, err = f.Content(name, most); src != nil {
		g = GlanceAt(src)
	}
	return g, src, err
}

// Claim is Glance for who wants to know no more than the identity.
func (f *Files) Claim(name string, most int) (is Claim, src []byte, err error) {
	if src, err = f.Content(name, most); src != nil {
		is = ClaimOf(src)
	}
	return is, src, err
}

// Content returns the content of a file, nil where it has more than most bytes or cannot be read. The error is why
// reading has ended.
func (f *Files) Content(name string, most int) ([]byte, error) {
	if err := f.ended(); err != nil {
		return nil, err
	}
	src, _, err := readWhole(f.tree, path.Clean(name), int64(most)) // which opens nothing that leads out
	if err != nil {
		return nil, nil
	}
	return src, nil
}

// notes are the files that were read whole and have no names in them that packs have. They are
// used by several goroutines.
type notes struct {
	lock    sync.Mutex
	noPacks map[string]bool
}

// add looks at a file that was read; nil notes nothing.
func (n *notes) add(name string, src []byte) {
	if n == nil || !MayHoldPack(name) || namesPack(src) {
		return
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	n.noPacks[path.Clean(name)] = true
}

// Noting returns the same files, which note from now on what is read of them: see NoPack.
func (f *Files) Noting() *Files {
	noting := *f
	noting.noted = &notes{noPacks: map[string]bool{}}
	return &noting
}

// NoPack reports whether a file was read whole since Noting, and cannot look like a pack. Of
// any other one it is not known.
func (f *Files) NoPack(name string) bool {
	if f.noted == nil {
		return false
	}
	f.noted.lock.Lock()
	defer f.noted.lock.Unlock()
	return f.noted.noPacks[name]
}

// MayHoldPack reports whether a file has the name of one that could be loaded as a pack.
func MayHoldPack(name string) bool {
	return slices.Contains([]string{".json", ".jsonc", ".json5", ".yaml", ".yml"}, strings.ToLower(path.Ext(name)))
}

// Loadable returns the files that could be loaded as a pack by their names, wherever they
// are in some folders but in .git and node_modules, without those behind links; links are those by which a file alone
// could be loaded. It does not go into a folder below these that apart tells; nil tells none.
func (f *Files) Loadable(folders []string, apart func(dir string) bool) (names, links []string, err error) {
	for _, top := range folders {
		if slices.ContainsFunc(strings.Split(top, "/"), neverLoaded) {
			continue
		}
		err := fs.WalkDir(f.tree, top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case f.ended() != nil:
				return f.ended()
			case err != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) || NotThere(err)):
				return nil // a pattern that leads there says so
			case err != nil:
				return err
			case e.IsDir() && name != top && (neverLoaded(e.Name()) || apart != nil && apart(name)):
				return fs.SkipDir
			case e.Type().IsRegular() && MayHoldPack(name):
				names = append(names, name)
			case e.Type()&fs.ModeSymlink != 0 && MayHoldPack(name):
				links = append(links, name)
			}
			return nil
		})
		if err != nil {
			return names, links, err
		}
	}
	return names, links, nil
}

// IsLoadable reports whether Loadable returns a regular file of that name.
func IsLoadable(name string) bool {
	return MayHoldPack(name) && !slices.ContainsFunc(strings.Split(path.Dir(name), "/"), neverLoaded)
}

func neverLoaded(folder string) bool { return folder == ".git" || folder == "node_modules" }
