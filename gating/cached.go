package gating

import (
	"context"
	"encoding/binary"

	"github.com/contextosai/packgate/gating/cache"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// keptOutcomes are what came of the packs of one workspace in earlier runs. The nil ones
// are none, and keep nothing.
type keptOutcomes struct {
	cache  *cache.Cache
	shared []keyPart
}

// kept returns what a cache has of the packs of the pipeline; nil where what comes of them
// depends on something that cannot be looked at again.
func (p *pipeline) kept(c *cache.Cache) *keptOutcomes {
	if c == nil || p.lookup != nil && p.lookup.Ask != nil {
		return nil
	}
	return &keptOutcomes{c, digested(p.parts())}
}

// gate returns what came of a pack when it was gated before, if everything that was
// looked at then is the same now. Else it has it gated, and keeps what comes of it. An
// error is not kept.
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
	if rec, ok := recorder.Recording(); ok && o.err == nil && o.fault == nil && ctx.Err() == nil {
		if value, err := preserve(o, rec); err == nil {
			k.cache.Put(key, value)
		}
	}
	return o
}

// preserve returns what came of a pack, and the files that it came of, as bytes.
func preserve(o outcome, rec repo.Recording) ([]byte, error) {
	files, err := rec.MarshalBinary()
	if err != nil {
		return nil, err
	}
	sealed, err := model.Seal(&o.pack)
	if err != nil {
		return nil, err
	}
	out := binary.AppendUvarint(nil, uint64(len(files)))
	out = append(out, files...)
	out = binary.AppendUvarint(out, uint64(len(o.moved)))
	out = append(out, o.moved...)
	return append(out, sealed...), nil
}

// restore returns what came of a pack; ok is false where the files are others than
// those that it came of.
func restore(value []byte, files *repo.Files) (o outcome, ok bool) {
	src, value, ok := cutText(value)
	if !ok {
		return o, false
	}
	moved, sealed, ok := cutText(value)
	if !ok {
		return o, false
	}
	var rec repo.Recording
	if err := rec.UnmarshalBinary(src); err != nil || !rec.Holds(files) {
		return o, false
	}
	p, err := model.Unseal(sealed)
	if err != nil {
		return o, false
	}
	return outcome{pack: *p, moved: string(moved)}, true
}

// cutText returns what stands behind its length at the beginning of bytes, and the rest.
func cutText(src []byte) (text, rest []byte, ok bool) {
	n, width := binary.Uvarint(src)
	if width <= 0 || n > uint64(len(src)-width) {
		return nil, nil, false
	}
	return src[width:][:n], src[width:][n:], true
}
