package publish

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/contextosai/packgate/publish/registry"
)

const (
	// atOnce bounds the requests for one pack that run at the same time.
	atOnce = 4
	// digestLimit bounds how many digests of one version are looked at. Two are one
	// too many already; the bound is for a registry that somebody filled.
	digestLimit = 32
)

// survey is what a registry holds of a pack, or of one version of it.
type survey struct {
	repo     *registry.Repository
	pack     string
	tags     map[string]string   // tag to the digest of the manifest
	holdings map[string]*holding // by digest: all that the tags name, and what else was asked for
	unlisted string              // a tag that is there and not in the registry's list of tags, "" for none
	dropped  map[string]int      // version to the number of its content tags that were not looked at
}

// tag is a tag of packgate's.
type tag struct {
	version     string // of a version tag or a content tag
	content     bool   // whether it is a content tag
	environment string // of a pin
}

var (
	contentTag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A((?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*))(-[0-9a-f]{12})?\z`)
	})
	pinTag = regexp.MustCompile(`\Aenv-(.+)\z`)
)

// readTag tells what a tag is; false for one that is none of packgate's.
func readTag(text string) (tag, bool) {
	if m := contentTag().FindStringSubmatch(text); m != nil {
		return tag{version: m[1], content: m[2] != ""}, true
	}
	if m := pinTag.FindStringSubmatch(text); m != nil {
		return tag{environment: m[1]}, true
	}
	return tag{}, false
}

// request says what a survey looks at.
type request struct {
	version string     // the tags of one version alone; "" for all of packgate's tags
	tags    []string   // tags that are asked for whether they are listed or not
	known   []*holding // what has been read already
	digests []string   // digests that are looked at whether a tag names them or not
}

// survey reads what the registry holds of a pack.
func (c *Checker) survey(ctx context.Context, repo *registry.Repository, packID string, q request) (*survey, error) {
	s := &survey{
		repo: repo, pack: packID, tags: map[string]string{}, holdings: map[string]*holding{}, dropped: map[string]int{},
	}
	listed, err := repo.Tags(ctx)
	if err != nil {
		return nil, err
	}
	wanted := append(s.follow(listed, q.version), q.tags...)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	digests, err := each(ctx, c.Registry, packID, wanted, func(ctx context.Context, repo *registry.Repository, tag string) (string, error) {
		digest, err := repo.Resolve(ctx, tag)
		if errors.Is(err, registry.ErrNotFound) {
			return "", nil // deleted since it was listed, or never there
		}
		return digest, err
	})
	if err != nil {
		return nil, err
	}
	for i, digest := range digests {
		if digest == "" {
			continue
		}
		s.tags[wanted[i]] = digest
		if !slices.Contains(listed, wanted[i]) {
			s.unlisted = wanted[i]
		}
	}
	return s, c.fill(ctx, s, q)
}

// follow returns the tags that a survey follows.
func (s *survey) follow(listed []string, version string) []string {
	slices.Sort(listed)
	var out []string
	seen := map[string]int{}
	for _, text := range listed {
		t, ours := readTag(text)
		if !ours || version != "" && t.version != version {
			continue
		}
		if t.content {
			if seen[t.version]++; seen[t.version] > digestLimit {
				s.dropped[t.version]++
				continue
			}
		}
		out = append(out, text)
	}
	return out
}

// fill inspects every digest of the survey once.
func (c *Checker) fill(ctx context.Context, s *survey, q request) error {
	for _, h := range q.known {
		s.holdings[h.digest] = h
	}
	open := map[string]bool{}
	for _, digest := range slices.Concat(slices.Collect(maps.Values(s.tags)), q.digests) {
		open[digest] = s.holdings[digest] == nil
	}
	maps.DeleteFunc(open, func(_ string, unread bool) bool { return !unread })
	holdings, err := each(ctx, c.Registry, s.pack, slices.Sorted(maps.Keys(open)), c.inspect)
	if err != nil {
		return err
	}
	for _, h := range holdings {
		s.holdings[h.digest] = h
	}
	return nil
}

// each calls f for all items, a few at a time, and returns what it returned in the
// order of the items, or its first error. A Repository serves one goroutine at a
// time, so that each of them has its own.
func each[T, R any](ctx context.Context, from *registry.Registry, packID string, items []T, f func(context.Context, *registry.Repository, T) (R, error)) ([]R, error) {
	out := make([]R, len(items))
	group, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	for range min(atOnce, len(items)) {
		repo, err := from.Repository(packID)
		if err != nil {
			return nil, err
		}
		group.Go(func() error {
			for i := range next {
				var err error
				if out[i], err = f(ctx, repo, items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(next)
		for i := range items {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return out, group.Wait()
}

// tagged returns the digest under the version's tag, "" where there is none.
func (s *survey) tagged(version string) string { return s.tags[registry.VersionTag(version)] }

// digestsOf returns the digests that a version's tags name: that of the version tag
// first, then those of the content tags in order.
func (s *survey) digestsOf(version string) []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(s.tags)) { // "1.2.0" sorts before "1.2.0-…"
		if t, ok := readTag(text); ok && t.version == version && !slices.Contains(out, s.tags[text]) {
			out = append(out, s.tags[text])
		}
	}
	return out
}

// of tells whether a holding is a signed statement's subject and of that version.
func (s *survey) of(h *holding, version string) bool {
	return h != nil && h.artifact != nil && h.artifact.Pack == s.pack && h.artifact.Version == version && h.signed()
}
