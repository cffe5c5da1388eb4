package publish

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// ofProd returns the bundle of a version in production, as overlays of a flavour make it.
func ofProd(version, flavour string, before *Result) BuildCandidate {
	c := candidate(version, "")
	c.Class, c.Baseline = statement.ClassInitial, nil
	if before != nil {
		c.Class, c.Baseline = "minor", &statement.Baseline{Pack: before.Pack, Manifest: before.Digest, Content: before.Content}
	}
	return BuildCandidate{
		Candidate: c, Environment: "prod", Resolved: content(support, version, "resolved "+flavour), Catalog: []byte(`{"environment":"prod"}`),
		Sources: []statement.SourceFile{{Path: "packs/support/pack.json", Digest: string(pack.DigestOf(c.Content))}},
	}
}

func (w *world) build(c BuildCandidate) *Result {
	w.t.Helper()
	r, err := w.publisher().PublishBuild(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) newest() string {
	w.t.Helper()
	b, err := w.checker().NewestBuild(w.t.Context(), w.verify("1.0.0"), "prod")
	switch {
	case err != nil:
		return err.Error()
	case b == nil:
		return "none"
	}
	return fmt.Sprintf("%s of sequence %d", b.Name, b.Statement.Sequence)
}

// The same bytes keep their revision, others get the next, and the newest is the one that
// was signed last, whatever its revision is.
func TestBuildsAreNumbered(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		if _, err := w.publisher().PublishBuild(t.Context(), ofProd("1.0.0", "a", nil)); !errors.Is(err, ErrRefused) {
			t.Errorf("a bundle of a version that is not published: %v", err)
		}
		w.publish(candidate("1.0.0", ""))
		if got := w.newest(); got != "none" {
			t.Errorf("newest %s", got)
		}
		var last *Result
		for i, step := range []struct {
			flavour, name string
			already       bool
		}{{"a", "1", false}, {"a", "1", true}, {"b", "2", false}, {"a", "1", false}, {"a", "1", true}, {"c", "3", false}, {"b", "2", false}} {
			r := w.build(ofProd("1.0.0", step.flavour, last))
			if want := support + "@1.0.0+prod." + step.name; r.Pack != want || r.Already != step.already {
				t.Errorf("step %d: %s, already %v, wanted %s, %v", i, r.Pack, r.Already, want, step.already)
			}
			if got := w.newest(); !strings.HasPrefix(got, r.Pack+" of") {
				t.Errorf("step %d: the newest is %s, wanted %s", i, got, r.Pack)
			}
			last = r
		}
		if got, want := w.newest(), support+"@1.0.0+prod.2 of sequence 5"; got != want {
			t.Errorf("the newest is %s, wanted %s", got, want)
		}
		if found := w.audit(); len(found) > 0 {
			t.Errorf("audit: %+v", found)
		}
		for _, text := range []string{"1.0.0", "1.0.0+prod.1", "1.0.0+prod.2", "1.0.0+prod.3"} {
			if v := w.verify(text); v.Status != Usable || len(v.Reasons) > 0 || (v.Build == nil) != (text == "1.0.0") {
				t.Errorf("%s: %+v", text, v)
			}
		}
		if v := w.verify("1.0.0+prod.4"); v.Status != Untrusted || !has(v, ReasonNotPublished) {
			t.Errorf("a revision that is not there: %+v", v)
		}
		if v := w.verify("1.0.0+eu.1"); v.Status != Untrusted {
			t.Errorf("an environment that has none: %+v", v)
		}
		// The version's own bytes, and those of every bundle, are files of the version.
		for flavour, name := range map[string]string{"a": "+prod.1", "b": "+prod.2"} {
			v, err := w.checker().Verify(t.Context(), w.ref("1.0.0"), content(support, "1.0.0", "resolved "+flavour))
			if err != nil || v.Status != Usable || v.Build == nil || v.Build.Name.String() != support+"@1.0.0"+name {
				t.Errorf("the file of %s: %+v, %v", name, v, err)
			}
		}
		if v, err := w.checker().Verify(t.Context(), w.ref("1.0.0+prod.1"), content(support, "1.0.0", "resolved b")); err != nil || v.Status != Untrusted {
			t.Errorf("the file of another bundle: %+v, %v", v, err)
		}
	})
}

// A bundle is of the bytes that are published, and says that it is its version.
func TestBuildsOfOtherBytes(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	w.publish(candidate("1.0.0", ""))
	refused := func(name string, kind error, change func(*BuildCandidate)) {
		t.Helper()
		c := ofProd("1.0.0", "a", nil)
		change(&c)
		before := w.dump()
		_, err := w.publisher().PublishBuild(t.Context(), c)
		var collision *Collision
		if !errors.Is(err, kind) && !(kind == nil && errors.As(err, &collision)) {
			t.Errorf("%s: %v, wanted %v", name, err, kind)
		}
		if w.dump() != before {
			t.Errorf("%s: something was written", name)
		}
	}
	refused("other bytes of the version", nil, func(c *BuildCandidate) { c.Content = content(support, "1.0.0", "other") })
	refused("another version", ErrCandidate, func(c *BuildCandidate) { c.Resolved = content(support, "1.0.1", "a") })
	refused("another pack", ErrCandidate, func(c *BuildCandidate) { c.Resolved = content("ctxpack.other", "1.0.0", "a") })
	refused("no pack", ErrCandidate, func(c *BuildCandidate) { c.Resolved = []byte("{") })
	refused("no sources", ErrCandidate, func(c *BuildCandidate) { c.Sources = nil })
	refused("a name that no tag has", registry.ErrName, func(c *BuildCandidate) { c.Environment = "a b" })
	refused("no catalog", registry.ErrContent, func(c *BuildCandidate) { c.Catalog = nil })
	w.change(w.publisher().Revoke, "1.0.0")
	refused("a revoked version", ErrRefused, func(*BuildCandidate) {})
}

// plantBuild puts a bundle there by hand, signed as a change of its statement makes it.
func (w *world) plantBuild(c BuildCandidate, signer attest.Signer, change func(*statement.Build), tags ...string) *registry.Build {
	w.t.Helper()
	b, _, err := c.build()
	w.must(err)
	w.must(w.repo().PushBuild(w.t.Context(), b))
	if signer != nil {
		of, err := artifactOf(c.Pack, c.Version, c.Content)
		w.must(err)
		s := statement.Build{Of: statement.Version{Pack: c.name(), Manifest: of.Digest, Content: of.ContentDigest}, Sequence: 1, Sources: c.Sources, Summary: statement.Summary{
			Version:  statement.Version{Pack: c.name() + "+prod.1", Manifest: b.Digest, Content: b.ContentDigest},
			Resource: w.repo().Name(), Tool: c.Tool, Rules: c.Rules, Class: c.Class, Baseline: c.Baseline, Report: string(pack.DigestOf(c.Report)), Source: c.Source, Time: noon,
		}}
		change(&s)
		source, err := s.Statement()
		w.must(err)
		w.attach(&b.Artifact, source, signer)
		_, err = w.repo().Attach(w.t.Context(), &b.Artifact, registry.Attachment{Type: registry.ReportType, Content: c.Report})
		w.must(err)
	}
	place := registry.BuildTag{Version: c.Version, Environment: "prod", Revision: 1}
	for _, tag := range tags {
		switch tag {
		case "own":
			tag = place.At(b.Digest).String()
		case "place":
			tag = place.String()
		}
		w.must(w.repo().Tag(w.t.Context(), b.Digest, tag))
	}
	return b
}

func as(*statement.Build) {}

// TestTamperedBuilds changes every member that says what a bundle is of, and its tags: by
// name none is trusted, audit says so, and publishing does not take it for its own.
func TestTamperedBuilds(t *testing.T) {
	stranger := signerOf(t, "stranger")
	for name, tamper := range map[string]func(w *world, good BuildCandidate){
		"nobody signed it":     func(w *world, c BuildCandidate) { w.plantBuild(c, nil, as, "own", "place") },
		"a stranger signed it": func(w *world, c BuildCandidate) { w.plantBuild(c, stranger, as, "own", "place") },
		"it is another revision's": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, func(s *statement.Build) { s.Pack = support + "@1.0.0+prod.2" }, "own", "place")
		},
		"it is another environment's": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, func(s *statement.Build) { s.Pack = support + "@1.0.0+eu.1" }, "own", "place")
		},
		"it is about another manifest": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, func(s *statement.Build) { s.Manifest = fakeDigest("m") }, "own", "place")
		},
		"it is about another pack": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, func(s *statement.Build) { s.Content = fakeDigest("c") }, "own", "place")
		},
		"it is of another manifest of the version": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, func(s *statement.Build) { s.Of.Manifest = fakeDigest("m") }, "own", "place")
		},
		"it is of other bytes of the version": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, func(s *statement.Build) { s.Of.Content = fakeDigest("c") }, "own", "place")
		},
		"its manifest is of a version that is not published": func(w *world, c BuildCandidate) {
			c.Content = content(support, "1.0.0", "other")
			w.plantBuild(c, w.signer, as, "own", "place")
		},
		"its tag names an unsigned one": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, as, "own")
			c.Resolved = content(support, "1.0.0", "evil")
			w.plantBuild(c, nil, as, "place")
		},
		"its tag names the version": func(w *world, c BuildCandidate) {
			a, err := artifactOf(c.Pack, c.Version, c.Content)
			w.must(err)
			w.must(w.repo().Tag(w.t.Context(), a.Digest, "1.0.0_prod.1"))
		},
		"two are signed": func(w *world, c BuildCandidate) {
			w.plantBuild(c, w.signer, as, "own", "place")
			c.Resolved = content(support, "1.0.0", "evil")
			w.plantBuild(c, w.signer, as, "own")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldOf(t, nil, "oci:./registry", t.TempDir())
			w.publish(candidate("1.0.0", ""))
			tamper(w, ofProd("1.0.0", "a", nil))
			if v := w.verify("1.0.0+prod.1"); v.Status != Untrusted {
				t.Errorf("status %s, %+v", v.Status, v.Reasons)
			}
			if v := w.verify("1.0.0"); v.Status != Usable {
				t.Errorf("the version itself is %s: %+v", v.Status, v.Reasons)
			}
			if !slices.ContainsFunc(w.audit(), func(f AuditFinding) bool { return f.Severity == SeverityError && f.Version == "1.0.0" }) {
				t.Errorf("audit has no error: %+v", w.audit())
			}
			if b, err := w.checker().NewestBuild(t.Context(), w.verify("1.0.0"), "prod"); err == nil && b != nil {
				t.Errorf("%s is the newest", b.Name)
			}
			r := w.build(ofProd("1.0.0", "b", nil))
			if v := w.verify(strings.TrimPrefix(r.Pack, support+"@")); v.Status != Usable {
				t.Errorf("what is published then is %s: %+v", v.Status, v.Reasons)
			}
		})
	}
}

// TestSecondBuildAtEachRequest lets another publisher finish the bundle of other bytes just
// before the nth request of the first. Whatever they leave behind, never are two usable under
// one name, and the next run of either has its bytes published.
func TestSecondBuildAtEachRequest(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	w.publish(candidate("1.0.0", ""))
	h.requests.Store(0)
	w.build(ofProd("1.0.0", "a", nil))
	requests, met := h.requests.Load(), 0
	for n := int64(1); n <= requests; n += 3 {
		h.renew(true)
		w.publish(candidate("1.0.0", ""))
		h.on(func(i int64, _ http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			if i == n {
				_, _ = w.publisher().PublishBuild(t.Context(), ofProd("1.0.0", "b", nil))
			}
			return false
		})
		_, err := w.publisher().PublishBuild(t.Context(), ofProd("1.0.0", "a", nil))
		h.on(nil)
		var collision *Collision
		if errors.As(err, &collision) {
			met++
		} else if err != nil {
			t.Errorf("request %d: %v", n, err)
		}
		r := w.build(ofProd("1.0.0", "a", nil))
		if v := w.verify(strings.TrimPrefix(r.Pack, support+"@")); v.Status != Usable || string(v.Build.Resolved) != string(content(support, "1.0.0", "resolved a")) {
			t.Errorf("request %d: after the next run %s is %s: %+v", n, r.Pack, v.Status, v.Reasons)
		}
		if got := w.newest(); !strings.HasPrefix(got, r.Pack+" of") {
			t.Errorf("request %d: the newest is %s, wanted %s", n, got, r.Pack)
		}
	}
	if met == 0 {
		t.Error("the two never met")
	}
}

func (w *world) pinned(version string) *PinResult {
	w.t.Helper()
	r, err := w.publisher().Pin(w.t.Context(), PinChange{Ref: w.ref(version), Environment: "prod", Actor: "ann"}, nil)
	w.must(err)
	return r
}

// runs returns which bundle production runs, by what its record says.
func (w *world) runs() string {
	w.t.Helper()
	v := w.verify("env-prod")
	switch {
	case v.Status != Usable:
		return fmt.Sprintf("%s: %v", v.Status, kinds(v))
	case v.Build == nil:
		return v.Version
	}
	return strings.TrimPrefix(v.Build.Name.String(), support+"@")
}

// An environment runs the bundle that its newest record names, whatever was published since.
// A pin without a bundle, as 0.1.0 made them, runs the version's own pack.
func TestAPinNamesABundle(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		w.publish(candidate("1.0.0", ""))
		expect := func(want string) {
			t.Helper()
			if got := w.runs(); got != want {
				t.Errorf("production runs %s, wanted %s", got, want)
			}
			if found := w.audit(); len(found) > 0 {
				t.Errorf("audit: %+v", found)
			}
		}
		w.pinned("1.0.0")
		expect("1.0.0")
		a := w.build(ofProd("1.0.0", "a", nil))
		expect("1.0.0")
		if r := w.pinned("1.0.0"); r.Already || r.Runs == nil {
			t.Errorf("pinned again with a bundle: %+v", r)
		}
		expect("1.0.0+prod.1")
		if r := w.pinned("1.0.0"); !r.Already {
			t.Errorf("pinned again: %+v", r)
		}
		w.build(ofProd("1.0.0", "b", a))
		expect("1.0.0+prod.1")
		w.pinned("1.0.0")
		expect("1.0.0+prod.2")
		for flavour, want := range map[string]Status{"b": Usable, "a": Untrusted} {
			if v, err := w.checker().Verify(t.Context(), w.ref("env-prod"), content(support, "1.0.0", "resolved "+flavour)); err != nil || v.Status != want {
				t.Errorf("the file of %s: %+v, %v", flavour, v, err)
			}
		}
		r, err := w.publisher().Rollback(t.Context(), RollbackChange{Pack: support, Environment: "prod", Actor: "ann"}, nil)
		w.must(err)
		if r.Already || r.Runs == nil || r.Runs.Pack != support+"@1.0.0+prod.1" {
			t.Errorf("rolled back: %+v", r)
		}
		expect("1.0.0+prod.1")
	})
}

// What a record names and is not there, or is another one, is not run.
func TestAPinOfALostBundle(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	w.publish(candidate("1.0.0", ""))
	a := artifactOfTest(t)
	good := w.build(ofProd("1.0.0", "a", nil))
	pin := func(change func(*statement.Version)) {
		w.t.Helper()
		w.clock.Add(60)
		runs := statement.Version{Pack: good.Pack, Manifest: good.Digest, Content: good.Content}
		change(&runs)
		source, err := statement.Pin{Bundle: &runs, Move: statement.Move{Environment: "prod", Actor: "ann", Time: w.publisher().now(),
			Version: statement.Version{Pack: support + "@1.0.0", Manifest: a.Digest, Content: a.ContentDigest}}}.Statement()
		w.must(err)
		signed := w.attach(a, source, w.signer)
		w.must(w.publisher().enter(t.Context(), w.repo(), statement.Version{Pack: support + "@1.0.0", Manifest: a.Digest, Content: a.ContentDigest},
			statement.Entry{Kind: statement.KindPin, Manifest: a.Digest, Bundle: signed, Environment: "prod"}))
		w.must(w.repo().Tag(t.Context(), a.Digest, "env-prod"))
	}
	pin(func(*statement.Version) {})
	if got := w.runs(); got != "1.0.0+prod.1" {
		t.Fatalf("production runs %s", got)
	}
	for name, change := range map[string]func(*statement.Version){
		"another manifest": func(v *statement.Version) { v.Manifest = fakeDigest("m") },
		"the version":      func(v *statement.Version) { v.Manifest = a.Digest },
		"another pack":     func(v *statement.Version) { v.Content = fakeDigest("c") },
		"another revision": func(v *statement.Version) { v.Pack = support + "@1.0.0+prod.2" },
	} {
		pin(change)
		if v := w.verify("env-prod"); v.Status != Untrusted {
			t.Errorf("%s: production runs %+v", name, v)
		}
		if !slices.ContainsFunc(w.audit(), func(f AuditFinding) bool { return f.Severity == SeverityError }) {
			t.Errorf("%s: audit has no error", name)
		}
	}
	// A tag of the revision that was moved is said, and what runs is what the record names.
	pin(func(*statement.Version) {})
	other := ofProd("1.0.0", "evil", nil)
	w.plantBuild(other, nil, as, "place")
	if v := w.verify("env-prod"); v.Status != Usable || !has(v, ReasonMoved) || string(v.Build.Resolved) != string(content(support, "1.0.0", "resolved a")) {
		t.Errorf("with a moved tag: %+v", v)
	}
}

func artifactOfTest(t *testing.T) *registry.Artifact {
	t.Helper()
	a, err := artifactOf(support, "1.0.0", content(support, "1.0.0", ""))
	if err != nil {
		t.Fatal(err)
	}
	return a
}
