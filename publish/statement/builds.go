package statement

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// BuildName names a bundle: what a version is in one environment. Revisions are numbers that
// publishing gives; a higher one is another one, and not always the newer one.
type BuildName struct {
	Pack        string // pack_id@version
	Environment string
	Revision    int // from 1
}

// String returns the name as statements write it: pack_id@1.2.0+prod.3.
func (n BuildName) String() string { return fmt.Sprintf("%s+%s.%d", n.Pack, n.Environment, n.Revision) }

// buildForm is pack_id@version, + and the environment, and after its last full stop the
// revision without leading zeros.
var buildForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A([^+]+)\+([A-Za-z0-9_.-]{1,124})\.([1-9][0-9]{0,8})\z`)
})

// ReadBuildName reads the name of a bundle; false for what is none.
func ReadBuildName(text string) (BuildName, bool) {
	m := buildForm().FindStringSubmatch(text)
	if m == nil || !nameForm().MatchString(m[1]) {
		return BuildName{}, false
	}
	revision, err := strconv.Atoi(m[3])
	return BuildName{Pack: m[1], Environment: m[2], Revision: revision}, err == nil
}

// Build says that what a version is in one environment passed the gates. Its Version names
// the bundle: a BuildName, the digest of the bundle's manifest and that of the resolved pack.
// What a Summary says of a version it says of the bundle; the baseline is the bundle that the
// environment had before.
type Build struct {
	Summary
	Of Version // the version whose pack is the bundle's base
	// Sequence counts the statements on bundles of this version in this environment, from 1:
	// the one with the highest is of the bundle that is the newest, whatever its revision is.
	Sequence int
	Sources  []SourceFile // the files that the bundle was made of, in their order
}

// SourceFile is a file that a bundle is made of.
type SourceFile struct {
	Path   string // within its repository
	Digest string // of its bytes
}

// maxSources bounds how many files a bundle is made of.
const maxSources = 1000

// Name returns the name of the bundle.
func (b *Build) Name() BuildName {
	n, _ := ReadBuildName(b.Pack)
	return n
}

func (c *checker) build(prefix string, v Version) {
	_, ok := ReadBuildName(v.Pack)
	c.that(ok, "the %sname is %q, wanted a pack_id, @, a version, + and an environment with a revision, such as 1.2.0+prod.3", prefix, v.Pack)
	c.digests(prefix, v)
}

func (b Build) check() error {
	c := &checker{}
	c.build("", b.Version)
	c.version("version's ", b.Of)
	name := b.Name()
	c.that(name.Pack == b.Of.Pack, "the bundle is of %q, wanted one of the version %q", b.Pack, b.Of.Pack)
	b.Summary.passed(c)
	if b.Baseline != nil {
		c.build("baseline's ", Version(*b.Baseline))
		before, _ := ReadBuildName(b.Baseline.Pack)
		c.that(before.Environment == name.Environment, "the baseline is %q, wanted a bundle of the environment %q", b.Baseline.Pack, name.Environment)
	}
	c.sequence(b.Sequence)
	c.that(len(b.Sources) >= 1 && len(b.Sources) <= maxSources, "there are %d sources, wanted 1 to %d", len(b.Sources), maxSources)
	for _, s := range b.Sources {
		c.text("the path of a source", s.Path)
		c.digest("the digest of the source "+s.Path, s.Digest)
	}
	return c.err
}

// Statement returns the in-toto Statement of the bundle in its canonical bytes. Its
// predicate is that of a Summary, and what is the bundle's own. It fails where a member is
// missing or malformed.
func (b Build) Statement() ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	sources := []object{}
	for _, s := range b.Sources {
		sources = append(sources, object{"path": s.Path}.withDigest("digest", s.Digest))
	}
	o, name := b.Summary.predicate(), b.Name()
	o["bundle"] = object{"environment": name.Environment, "revision": name.Revision, "sequence": b.Sequence, "sources": sources, "version": named(b.Of)}
	return encode(b.Version, TypeBundle, o)
}

// named returns how a predicate names a version or a bundle.
func named(v Version) object {
	return object{"name": v.Pack}.withDigest("manifest", v.Manifest).withDigest("content", v.Content)
}

// named reads how a predicate names a version or a bundle.
func (r *reader) named(n *pack.Node) Version {
	return Version{Pack: r.text(n, "name"), Manifest: r.digest(n, "manifest"), Content: r.digest(n, "content")}
}

// Build reads the predicate of a statement of TypeBundle. It fails for one of another type,
// as Summary does, and where what it says of its name is not its name.
func (s *Statement) Build() (*Build, error) {
	p, r := s.predicate(TypeBundle)
	out := &Build{Summary: *r.summary(s, p)}
	ours := r.object(p, "bundle")
	out.Of = r.named(r.object(ours, "version"))
	out.Sequence = r.sequence(ours, "sequence")
	for _, one := range r.array(ours, "sources") {
		out.Sources = append(out.Sources, SourceFile{Path: r.text(one, "path"), Digest: r.digest(one, "digest")})
	}
	name := BuildName{Pack: out.Of.Pack, Environment: r.text(ours, "environment"), Revision: r.sequence(ours, "revision")}
	if r.err == nil && name.String() != out.Pack {
		r.fail(p, "bundle", "is that of %q, and the subjects are %q", name, out.Pack)
	}
	return checked(out, r.err)
}
