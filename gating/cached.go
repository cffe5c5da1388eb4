package gating

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/binary"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/contextosai/packgate/gating/cache"
	"github.com/contextosai/packgate/internal/release"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// keptOutcomes are the results of the packs of one workspace in earlier runs. The nil value has none,
// and keeps nothing.
type keptOutcomes struct {
	cache  *cache.Cache
	shared []keyPart
}

// kept returns the results that a cache has for the packs of the pipeline; nil if they depend on
// something that cannot be compared again.
func (p *pipeline) kept(c *cache.Cache) *keptOutcomes {
	if c == nil || p.lookup != nil && p.lookup.Ask != nil || !p.repeatable() {
		return nil
	}
	return &keptOutcomes{c, digested(p.parts())}
}

// gate returns the earlier result of a pack if everything that was looked at then is the same now.
// Otherwise it gates the pack and keeps the result, unless it is an error.
func (k *keptOutcomes) gate(ctx context.Context, p *pipeline, name string) outcome {
	if k == nil {
		return p.gate(ctx, name)
	}
	digest, ok := p.Files.Digest(name, int64(p.Config.Limits.MaxBytes))
	if !ok {
		return p.gate(ctx, name)
	}
	key := keyOf(append(p.packParts(name, digest), k.shared...))
	if value, ok := k.cache.Get(key); ok {
		if o, ok := restore(value, p.Files); ok {
			return o
		}
	}
	w, recording := *p.Workspace, *p
	files, recorder := p.Files.Recorded()
	w.Files, recording.Workspace = files, &w
	o := recording.gate(ctx, name)
	if rec, ok := recorder.Recording(); ok && o.err == nil && o.fault == nil && !o.searched && ctx.Err() == nil {
		if value, err := preserve(o, rec); err == nil {
			k.cache.Put(key, value)
		}
	}
	return o
}

// preserved is the result of a pack, with the files that it depends on, as they are kept.
type preserved struct{ Files, Moved, Pack []byte }

// preserve returns the result of a pack, and the files that it depends on, as bytes.
func preserve(o outcome, rec repo.Recording) ([]byte, error) {
	files, err := rec.MarshalBinary()
	if err != nil {
		return nil, err
	}
	sealed, err := model.Seal(&o.pack)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(preserved{files, []byte(o.moved), sealed})
}

// restore returns the result of a pack; ok is false if the files that it depends on have changed.
func restore(value []byte, files *repo.Files) (o outcome, ok bool) {
	var from preserved
	if rest, err := asn1.Unmarshal(value, &from); err != nil || len(rest) > 0 {
		return o, false
	}
	var rec repo.Recording
	if err := rec.UnmarshalBinary(from.Files); err != nil || !rec.Holds(files) {
		return o, false
	}
	p, err := model.Unseal(from.Pack)
	if err != nil {
		return o, false
	}
	return outcome{pack: *p, moved: string(from.Moved)}, true
}

// cacheFormat is raised when the value of the same key changes its form.
const cacheFormat = "1"

// keyPart is one thing that the result of a pack depends on, beside the files that are read on the
// way.
type keyPart struct{ name, value string }

// settings returns what all packs of the workspace are gated with that is its own.
func (w *Workspace) settings() []keyPart {
	catalogs := make([]string, 0, 2*len(w.Environments))
	for _, e := range w.Environments {
		for _, d := range e.Sources() {
			catalogs = append(catalogs, d.File, string(d.Source))
		}
	}
	config := fields()
	if d := w.Config.Document; d != nil {
		config = fields(d.File, string(d.Source))
	}
	return []keyPart{
		{"config", config},
		{"catalogs", fields(catalogs...)},
		{"evaluator", fields(string(w.evaluator.root))},
		{"patterns", fields(w.Patterns...)},
	}
}

// Identity names what packs are judged with on a day, beside the files that belong to each of them: the
// settings of the workspace and a baseline file, nil for none.
func (w *Workspace) Identity(accepted *repo.Accepted, now time.Time) string {
	baseline := ""
	if accepted != nil {
		baseline = string(accepted.Document.Source)
	}
	sum := keyOf(append(w.settings(), keyPart{"baseline", baseline}, keyPart{"day", now.UTC().Format(time.DateOnly)}))
	return string(sum[:])
}

// parts returns everything that the packs of the pipeline are gated with.
func (p *pipeline) parts() []keyPart {
	day := "" // only waivers and the baseline file depend on it
	if len(p.Config.Waivers.Items) > 0 || len(p.accepted.entries) > 0 {
		day = p.now.UTC().Format(time.DateOnly)
	}
	return append([]keyPart{
		{"format", cacheFormat},
		{"version", p.version},
		{"rules", release.RulesVersion},
		{"build", buildIdentity()},
		{"strict", strconv.FormatBool(p.strict(p.Strict))},
		{"day", day},
		{"playgrounds", strconv.FormatBool(p.compiles)},
		{"waivers leaving", p.leaving()},
		{"baseline", p.accepted.identity()},
		{"base", p.Base.identity()},
		{"lookup", p.lookup.identity()},
	}, p.settings()...)
}

// buildIdentity returns what the program knows of how it was built: compiler, platform, and the
// versions of all modules. Two platforms may round differently. The identity of the file is part of
// it, because two different builds may have the same version.
var buildIdentity = sync.OnceValue(func() string {
	text := fields(runtime.Version(), runtime.GOOS, runtime.GOARCH, program())
	if info, ok := debug.ReadBuildInfo(); ok {
		text += info.String()
	}
	return text
})

// program tells the file of this program from others, by its size and the time of its last change. If
// the file cannot be looked at, the result is random, so that it equals no earlier one.
func program() string {
	name, err := os.Executable()
	if err != nil {
		return rand.Text()
	}
	info, err := os.Stat(name)
	if err != nil {
		return rand.Text()
	}
	return fields(strconv.FormatInt(info.Size(), 10), info.ModTime().UTC().Format(time.RFC3339Nano))
}

// packParts returns the parts of the key that belong to one pack. The digest of its file only gives
// each of several versions an entry of its own.
func (p *pipeline) packParts(name string, digest [sha256.Size]byte) []keyPart {
	var why []string
	for _, t := range p.since.Triggers[name] {
		why = append(why, t.Pack, string(t.Kind), t.What, t.File, t.Path)
	}
	return []keyPart{
		{"prefix", p.Files.Prefix},
		{"name", name},
		{"content", string(digest[:])},
		{"triggers", fields(why...)},
		{"twins", fields(p.twins[name]...)},
		{"alike", fields(p.accepted.sharing[p.ids[name].ID]...)},
		{"together", p.named.identity()},
		{"approvals", p.Approvals.identity(name)},
	}
}

// keyOf returns the key of parts, each with its name and the lengths of both.
func keyOf(parts []keyPart) cache.Key {
	var all []string
	for _, p := range parts {
		all = append(all, p.name, p.value)
	}
	return sha256.Sum256([]byte(fields(all...)))
}

// digested returns several parts as one, so that long ones are hashed once for many packs.
func digested(parts []keyPart) []keyPart {
	sum := keyOf(parts)
	return []keyPart{{"shared", string(sum[:])}}
}

// fields joins texts so that different lists of texts give different results.
func fields(texts ...string) string {
	var out []byte
	for _, text := range texts {
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	return string(out)
}
