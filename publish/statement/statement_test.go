package statement_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	vsa "github.com/in-toto/attestation/go/predicates/vsa/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/contextosai/packgate/publish/statement"
)

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

var version = statement.Version{Pack: "ctxpack.support@1.2.0", Manifest: digest("a"), Content: digest("b")}

var at = time.Date(2025, 3, 1, 12, 30, 5, 0, time.UTC)

func summary() statement.Summary {
	return statement.Summary{
		Version:  version,
		Resource: "ghcr.io/acme/packs/ctxpack.support",
		Tool:     "0.4.0", Rules: "1.1.0", Config: digest("c"),
		Class:     "minor",
		Baseline:  &statement.Baseline{Pack: "ctxpack.support@1.1.0", Manifest: digest("d"), Content: digest("e")},
		Approvals: []statement.Approval{{Role: "owner", Login: "ada"}, {Role: "risk", Login: "bob"}},
		Checks: []statement.Check{
			{Gate: "replay", Status: "partial", NotRun: []string{"RPL006", "RPL008"}, Without: []string{"replay-packet"}},
			{Gate: "schema", Status: "pass"},
		},
		Notes: &statement.Notes{Effect: "agents can do more", Omitted: 2, Items: []statement.Note{
			{Kind: "more", Text: "adp.pay (destructive) runs without approval when 5000 < amount <= 8000."}, {Kind: "other", Text: "policy_layer: 1 change, class minor"},
		}},
		Accepted:    &statement.Accepted{Count: 3, Digest: digest("9")},
		PullRequest: "https://github.com/acme/packs/pull/7",
		Report:      digest("f"),
		Source:      statement.Source{Repository: "https://github.com/acme/packs", Commit: strings.Repeat("1", 40), Path: "packs/support.json"},
		Time:        at,
	}
}

func first() statement.Summary {
	return statement.Summary{
		Version: version, Resource: "oci:./registry/ctxpack.support", Tool: "dev", Rules: "1.1.0",
		Class: statement.ClassInitial, Report: digest("f"), Time: at,
	}
}

func state() statement.State {
	return statement.State{Version: version, State: statement.StateRevoked, Reason: "leaks a <secret> & more\nsee #7", Actor: "ada", Time: at}
}

func pin() statement.Pin {
	return statement.Pin{Replay: true, Accept: "the case is of an intent that is gone", Move: statement.Move{
		Version: version, Environment: "prod", Previous: digest("9"), Actor: "ada", Reason: "rollback", By: statement.ByRollback,
		Commit: strings.Repeat("1", 40), Approvals: []statement.Approval{{Role: "sre", Login: "bob"}}, Time: at,
	}}
}

func build() statement.Build {
	b := statement.Build{
		Summary: summary(), Of: version, Sequence: 4,
		Sources: []statement.SourceFile{{Path: "packs/support.json", Digest: digest("5")}, {Path: "environments/prod.json", Digest: digest("6")}},
	}
	b.Version = statement.Version{Pack: "ctxpack.support@1.2.0+prod.3", Manifest: digest("7"), Content: digest("8")}
	b.Baseline = &statement.Baseline{Pack: "ctxpack.support@1.1.0+prod.9", Manifest: digest("d"), Content: digest("e")}
	return b
}

func pinOfBuild() statement.Pin {
	p, b := pin(), build()
	p.Bundle = &b.Version
	return p
}

func stop() statement.Stop {
	return statement.Stop{Move: statement.Move{
		Version: version, Environment: "prod", Previous: version.Manifest, Actor: "ada", Reason: "it approves everything", By: statement.ByRollback, Time: at,
	}}
}

func status() statement.Status {
	return statement.Status{Subject: statement.Subject{Name: "ghcr.io/acme/packs", Digest: digest("c")}, Publisher: "https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/main (issuer)", Sequence: 7, Time: at}
}

func timestamp() statement.Timestamp {
	return statement.Timestamp{Subject: statement.Subject{Name: "oci:./my registry", Digest: digest("c")}, Sequence: 7, Issued: at, Expires: at.Add(time.Hour)}
}

func record() statement.Record {
	return statement.Record{Resource: "ghcr.io/acme/packs/ctxpack.support",
		Version: version, Sequence: 7, Previous: []string{digest("1"), digest("2")},
		Entry: statement.Entry{Kind: statement.KindPin, Manifest: version.Manifest, Bundle: digest("3"), Environment: "prod"},
		Adopts: []statement.Entry{
			{Kind: statement.KindBundle, Manifest: digest("4"), Bundle: digest("5"), Environment: "test"},
			{Kind: statement.KindState, Manifest: digest("6"), Bundle: digest("7")},
		},
		Time: at,
	}
}

func firstRecord() statement.Record {
	return statement.Record{Version: version, Resource: "ghcr.io/acme/packs/ctxpack.support", Sequence: 1, Time: at,
		Entry: statement.Entry{Kind: statement.KindPublish, Manifest: version.Manifest, Bundle: digest("3")}}
}

type writer interface{ Statement() ([]byte, error) }

// read parses the bytes and reads their predicate by its type.
func read(src []byte) (any, error) {
	s, err := statement.Parse(src)
	if err != nil {
		return nil, err
	}
	switch s.Type {
	case statement.TypeSummary:
		v, err := s.Summary()
		if err != nil {
			return nil, err
		}
		return *v, nil
	case statement.TypeState:
		v, err := s.State()
		if err != nil {
			return nil, err
		}
		return *v, nil
	case statement.TypePin:
		v, err := s.Pin()
		if err != nil {
			return nil, err
		}
		return *v, nil
	case statement.TypeBundle:
		v, err := s.Build()
		if err != nil {
			return nil, err
		}
		return *v, nil
	case statement.TypeStop:
		v, err := s.Stop()
		if err != nil {
			return nil, err
		}
		return *v, nil
	case statement.TypeStatus:
		v, err := s.Status()
		if err != nil {
			return nil, err
		}
		return *v, nil
	case statement.TypeTimestamp:
		v, err := s.Timestamp()
		if err != nil {
			return nil, err
		}
		return *v, nil
	case statement.TypeRecord:
		v, err := s.Record()
		if err != nil {
			return nil, err
		}
		return *v, nil
	}
	return nil, fmt.Errorf("type %q", s.Type)
}

func write(t testing.TB, w writer) []byte {
	t.Helper()
	src, err := w.Statement()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	for name, w := range map[string]writer{
		"summary": summary(), "first": first(), "state": state(), "pin": pin(),
		"first pin": statement.Pin{Move: statement.Move{Version: version, Environment: "prod", Actor: "ada", Time: at}},
		"stop":      stop(),
		"status":    status(), "timestamp": timestamp(), "record": record(), "first record": firstRecord(),
		"bundle": build(), "pin of a bundle": pinOfBuild(),
	} {
		src := write(t, w)
		got, err := read(src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got, w) {
			t.Errorf("%s: read %+v, wrote %+v", name, got, w)
		}
	}
}

func TestTheSummaryIsExactlyThis(t *testing.T) {
	want := `{"_type":"https://in-toto.io/Statement/v1","predicate":{"contextos":{"accepted":{"count":3,"digest":{"sha256":"` + strings.Repeat("9", 64) + `"}},"approvals":[{"login":"ada","role":"owner"},{"login":"bob","role":"risk"}],` +
		`"baseline":{"content":{"sha256":"E"},"manifest":{"sha256":"D"},"name":"ctxpack.support@1.1.0"},` +
		`"checks":[{"gate":"replay","notRun":["RPL006","RPL008"],"status":"partial","without":["replay-packet"]},{"gate":"schema","status":"pass"}],"class":"minor",` +
		`"notes":{"effect":"agents can do more","items":[{"kind":"more","text":"adp.pay (destructive) runs without approval when 5000 < amount <= 8000."},{"kind":"other","text":"policy_layer: 1 change, class minor"}],"omitted":2},` +
		`"pullRequest":"https://github.com/acme/packs/pull/7","source":{"commit":"1","path":"packs/support.json","repository":"https://github.com/acme/packs"}},` +
		`"inputAttestations":[{"digest":{"sha256":"F"}}],"policy":{"digest":{"sha256":"C"},"uri":"https://github.com/contextosai/packgate/rules/1.1.0"},` +
		`"resourceUri":"ghcr.io/acme/packs/ctxpack.support","slsaVersion":"1.1","timeVerified":"2025-03-01T12:30:05Z","verificationResult":"PASSED",` +
		`"verifiedLevels":[],"verifier":{"id":"https://github.com/contextosai/packgate","version":{"packgate":"0.4.0","rules":"1.1.0"}}},` +
		`"predicateType":"https://slsa.dev/verification_summary/v1","subject":[{"digest":{"sha256":"A"},"name":"ctxpack.support@1.2.0"},` +
		`{"digest":{"sha256":"B"},"name":"ctxpack.support@1.2.0"}]}`
	for _, c := range "abcdef" {
		want = strings.ReplaceAll(want, `"`+strings.ToUpper(string(c))+`"`, `"`+strings.Repeat(string(c), 64)+`"`)
	}
	want = strings.ReplaceAll(want, `"commit":"1"`, `"commit":"`+strings.Repeat("1", 40)+`"`)
	if got := write(t, summary()); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheRecordIsExactlyThis(t *testing.T) {
	want := `{"_type":"https://in-toto.io/Statement/v1","predicate":{"adopts":[` +
		`{"environment":"test","kind":"bundle","manifest":{"sha256":"4"},"statement":{"sha256":"5"}},` +
		`{"kind":"state","manifest":{"sha256":"6"},"statement":{"sha256":"7"}}],` +
		`"previous":[{"digest":{"sha256":"1"}},{"digest":{"sha256":"2"}}],` +
		`"recorded":{"environment":"prod","kind":"pin","manifest":{"sha256":"a"},"statement":{"sha256":"3"}},` +
		`"resource":"ghcr.io/acme/packs/ctxpack.support","sequence":7,"time":"2025-03-01T12:30:05Z"},"predicateType":"https://github.com/contextosai/packgate/record/v1",` +
		`"subject":[{"digest":{"sha256":"a"},"name":"ctxpack.support@1.2.0"},{"digest":{"sha256":"b"},"name":"ctxpack.support@1.2.0"}]}`
	for _, c := range "1234567ab" {
		want = strings.ReplaceAll(want, `"sha256":"`+string(c)+`"`, `"sha256":"`+strings.Repeat(string(c), 64)+`"`)
	}
	if got := write(t, record()); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRecordsAreSortedWhenWritten(t *testing.T) {
	r := record()
	slices.Reverse(r.Previous)
	slices.Reverse(r.Adopts)
	if got, want := write(t, r), write(t, record()); !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.Previous[0] != digest("2") || r.Adopts[0].Bundle != digest("7") {
		t.Error("writing sorted the caller's slices")
	}
}

// in-toto's own types read the statement, and know every member of the predicate
// but the two that are younger than they and ours.
func TestInTotoReadsTheSummary(t *testing.T) {
	src := write(t, summary())
	s := &intoto.Statement{}
	if err := protojson.Unmarshal(src, s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	var members struct {
		Predicate map[string]json.RawMessage `json:"predicate"`
	}
	if err := json.Unmarshal(src, &members); err != nil {
		t.Fatal(err)
	}
	delete(members.Predicate, "contextos")
	members.Predicate["verifier"] = json.RawMessage(`{"id":"x"}`)
	predicate, err := json.Marshal(members.Predicate)
	if err != nil {
		t.Fatal(err)
	}
	p := &vsa.VerificationSummary{}
	if err := protojson.Unmarshal(predicate, p); err != nil {
		t.Fatal(err)
	}
	if p.GetVerificationResult() != "PASSED" || p.GetTimeVerified().AsTime() != at || p.GetPolicy().GetDigest()["sha256"] != strings.Repeat("c", 64) {
		t.Errorf("in-toto read %v", p)
	}
}

func TestApprovalsAreSortedAndOnce(t *testing.T) {
	s := summary()
	s.Approvals = []statement.Approval{{Role: "risk", Login: "bob"}, {Role: "owner", Login: "ada"}, {Role: "risk", Login: "bob"}}
	if got, want := write(t, s), write(t, summary()); !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.Approvals[0].Login != "bob" {
		t.Error("writing sorted the caller's slice")
	}
}

func TestChecksAreSortedAndOnce(t *testing.T) {
	s := summary()
	s.Checks = []statement.Check{
		{Gate: "schema", Status: "pass"},
		{Gate: "replay", Status: "partial", NotRun: []string{"RPL008", "RPL006", "RPL008"}, Without: []string{"replay-packet", "replay-packet"}},
	}
	if got, want := write(t, s), write(t, summary()); !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.Checks[1].NotRun[0] != "RPL008" {
		t.Error("writing sorted the caller's slice")
	}
}

// A statement of an earlier packgate says nothing of checks, which is not that all ran.
func TestNothingIsKnownOfChecksThatAreNotNamed(t *testing.T) {
	for checks, known := range map[string]bool{"": false, `"checks":[],`: true} {
		src := bytes.Replace(write(t, first()), []byte(`"class":`), []byte(checks+`"class":`), 1)
		got, err := read(src)
		if err != nil {
			t.Fatal(err)
		}
		if is := got.(statement.Summary).Checks; (is != nil) != known {
			t.Errorf("%q is read as %+v", checks, is)
		}
	}
}

func TestUnknownMembersArePassedOver(t *testing.T) {
	src := bytes.Replace(write(t, state()), []byte(`"actor":`), []byte(`"ACTOR":"eve","later":{"a":[1]},"actor":`), 1)
	got, err := read(src)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, state()) {
		t.Errorf("read %+v", got)
	}
}

func TestReadingAnotherTypeFails(t *testing.T) {
	s, err := statement.Parse(write(t, state()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Version() != version {
		t.Errorf("version %+v", s.Version())
	}
	want := `the statement is of type "https://github.com/contextosai/packgate/state/v1", wanted "`
	if _, err := s.Summary(); err == nil || !strings.HasPrefix(err.Error(), want+statement.TypeSummary) {
		t.Errorf("summary: %v", err)
	}
	if _, err := s.Pin(); err == nil || !strings.HasPrefix(err.Error(), want+statement.TypePin) {
		t.Errorf("pin: %v", err)
	}
	if _, err := s.Record(); err == nil || !strings.HasPrefix(err.Error(), want+statement.TypeRecord) {
		t.Errorf("record: %v", err)
	}
	s.Type = statement.TypeSummary
	if _, err := s.State(); err == nil {
		t.Error("a summary was read as a state")
	}
}

func TestTheNameOfABundle(t *testing.T) {
	for _, c := range []struct {
		text string
		want statement.BuildName
	}{
		{"p@1.2.0+prod.3", statement.BuildName{Pack: "p@1.2.0", Environment: "prod", Revision: 3}},
		{"p@1.2.0+prod.eu.12", statement.BuildName{Pack: "p@1.2.0", Environment: "prod.eu", Revision: 12}},
		{"p@1.2.0+1.1.1", statement.BuildName{Pack: "p@1.2.0", Environment: "1.1", Revision: 1}},
	} {
		if got, ok := statement.ReadBuildName(c.text); !ok || got != c.want || got.String() != c.text {
			t.Errorf("%s: %+v %v", c.text, got, ok)
		}
	}
	for _, text := range []string{
		"", "p@1.2.0", "p@1.2.0+", "p@1.2.0+prod", "p@1.2.0+prod.", "p@1.2.0+prod.0", "p@1.2.0+prod.03", "p@1.2.0+.3", "p@1.2+prod.3", "p@1.02.0+prod.3",
		"p@1.2.0+pr/od.3", "p@1.2.0+prod+eu.3", "p@1.2.0+prod.1234567890", "p@1.2.0+prod.3\n", "p\n@1.2.0+prod.3", "@1.2.0+prod.3", "p@1.2.0+" + strings.Repeat("e", 125) + ".1",
	} {
		if got, ok := statement.ReadBuildName(text); ok {
			t.Errorf("%q is the name %+v", text, got)
		}
	}
}
