package statement_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/statement"
)

func TestWritingRefuses(t *testing.T) {
	ofSummary := func(change func(*statement.Summary)) writer { s := summary(); change(&s); return s }
	ofState := func(change func(*statement.State)) writer { s := state(); change(&s); return s }
	ofPin := func(change func(*statement.Pin)) writer { p := pin(); change(&p); return p }
	ofStop := func(change func(*statement.Stop)) writer { s := stop(); change(&s); return s }
	ofStatus := func(change func(*statement.Status)) writer { s := status(); change(&s); return s }
	ofTimestamp := func(change func(*statement.Timestamp)) writer { s := timestamp(); change(&s); return s }
	ofRecord := func(change func(*statement.Record)) writer { r := record(); change(&r); return r }
	many := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("sha256:%064x", i))
		}
		return list
	}
	ofBuild := func(change func(*statement.Build)) writer { b := build(); change(&b); return b }
	for _, c := range []struct {
		want string
		w    writer
	}{
		{`the resource is "", wanted some text`, ofRecord(func(r *statement.Record) { r.Resource = "" })},
		{`the sequence is 0, wanted 1 to`, ofRecord(func(r *statement.Record) { r.Sequence = 0 })},
		{`the sequence is 1000000000, wanted 1 to`, ofRecord(func(r *statement.Record) { r.Sequence = statement.MaxSequence + 1 })},
		{`record 1 names 2 records before it, wanted none for the first`, ofRecord(func(r *statement.Record) { r.Sequence = 1 })},
		{`record 7 names 0 records before it, wanted none for the first and one or more`, ofRecord(func(r *statement.Record) { r.Previous = nil })},
		{`the digest of a record before it is "x"`, ofRecord(func(r *statement.Record) { r.Previous = []string{"x"} })},
		{`one is listed twice: "sha256:1`, ofRecord(func(r *statement.Record) { r.Previous = []string{digest("1"), digest("1")} })},
		{`there are 33 records before it, wanted at most 32`, ofRecord(func(r *statement.Record) { r.Previous = many(33) })},
		{`the statement's kind is "", wanted one of`, ofRecord(func(r *statement.Record) { r.Kind = "" })},
		{`the statement's kind is "record", wanted one of`, ofRecord(func(r *statement.Record) { r.Kind = "record" })},
		{`the digest of the statement is ""`, ofRecord(func(r *statement.Record) { r.Bundle = "" })},
		{`the digest of the statement's manifest is ""`, ofRecord(func(r *statement.Record) { r.Entry.Manifest = "" })},
		{`wanted the manifest that the record is about`, ofRecord(func(r *statement.Record) { r.Entry.Manifest = digest("9") })},
		{`the environment is "", wanted up to 124`, ofRecord(func(r *statement.Record) { r.Environment = "" })},
		{`the statement is of the kind "state" and names the environment "prod", wanted none`, ofRecord(func(r *statement.Record) { r.Kind = statement.KindState })},
		{`the adopted statement's kind is "x"`, ofRecord(func(r *statement.Record) { r.Adopts[0].Kind = "x" })},
		{`the digest of the adopted statement is "x"`, ofRecord(func(r *statement.Record) { r.Adopts[0].Bundle = "x" })},
		{`the environment is "a/b"`, ofRecord(func(r *statement.Record) { r.Adopts[0].Environment = "a/b" })},
		{`the adopted statements are not in order, or one is listed twice`, ofRecord(func(r *statement.Record) { r.Adopts = append(r.Adopts, r.Adopts[0]) })},
		{`is the recorded one`, ofRecord(func(r *statement.Record) { r.Adopts[0].Bundle = r.Bundle })},
		{`there are 1001 adopted statements, wanted at most 1000`, ofRecord(func(r *statement.Record) {
			r.Adopts = nil
			for _, d := range many(1001) {
				r.Adopts = append(r.Adopts, statement.Entry{Kind: statement.KindState, Manifest: digest("4"), Bundle: d})
			}
		})},
		{`the time is`, ofRecord(func(r *statement.Record) { r.Time = time.Time{} })},
		{`the name is "ctxpack.support@1.2.0", wanted a pack_id, @, a version, + and`, ofBuild(func(b *statement.Build) { b.Pack = version.Pack })},
		{`the manifest's digest is ""`, ofBuild(func(b *statement.Build) { b.Manifest = "" })},
		{`the version's name is "ctxpack.support@1.2.0+prod.3"`, ofBuild(func(b *statement.Build) { b.Of.Pack = b.Pack })},
		{`the version's content's digest is ""`, ofBuild(func(b *statement.Build) { b.Of.Content = "" })},
		{`wanted one of the version "ctxpack.support@1.3.0"`, ofBuild(func(b *statement.Build) { b.Of.Pack = "ctxpack.support@1.3.0" })},
		{`the baseline's name is "ctxpack.support@1.1.0", wanted`, ofBuild(func(b *statement.Build) { b.Baseline.Pack = "ctxpack.support@1.1.0" })},
		{`the baseline is "ctxpack.support@1.1.0+staging.9", wanted a bundle of the environment "prod"`, ofBuild(func(b *statement.Build) { b.Baseline.Pack = "ctxpack.support@1.1.0+staging.9" })},
		{`the class is "minor", wanted "initial" where there is no baseline`, ofBuild(func(b *statement.Build) { b.Baseline = nil })},
		{`the sequence is 0, wanted`, ofBuild(func(b *statement.Build) { b.Sequence = 0 })},
		{`there are 0 sources`, ofBuild(func(b *statement.Build) { b.Sources = nil })},
		{`there are 1001 sources`, ofBuild(func(b *statement.Build) { b.Sources = make([]statement.SourceFile, 1001) })},
		{`the path of a source is ""`, ofBuild(func(b *statement.Build) { b.Sources[0].Path = "" })},
		{`the digest of the source packs/support.json is "x"`, ofBuild(func(b *statement.Build) { b.Sources[0].Digest = "x" })},
		{`the report's digest is ""`, ofBuild(func(b *statement.Build) { b.Report = "" })},
		{`wanted one that ends in "/ctxpack.support"`, ofBuild(func(b *statement.Build) { b.Resource = "ghcr.io/acme/other" })},
		{`the bundle's name is "ctxpack.support@1.2.0"`, ofPin(func(p *statement.Pin) { v := version; p.Bundle = &v })},
		{`the bundle is "ctxpack.support@1.3.0+prod.3", wanted one of "ctxpack.support@1.2.0" in the environment "prod"`, ofPin(func(p *statement.Pin) {
			p.Bundle = &statement.Version{Pack: "ctxpack.support@1.3.0+prod.3", Manifest: digest("1"), Content: digest("2")}
		})},
		{`the bundle is "ctxpack.support@1.2.0+eu.3", wanted one of`, ofPin(func(p *statement.Pin) {
			p.Bundle = &statement.Version{Pack: "ctxpack.support@1.2.0+eu.3", Manifest: digest("1"), Content: digest("2")}
		})},
		{`the bundle's manifest's digest is ""`, ofPin(func(p *statement.Pin) { p.Bundle = &statement.Version{Pack: "ctxpack.support@1.2.0+prod.3"} })},
		{`the name is "ctxpack.support", wanted a pack_id`, ofState(func(s *statement.State) { s.Pack = "ctxpack.support" })},
		{`the name is "p@1.02.0"`, ofState(func(s *statement.State) { s.Pack = "p@1.02.0" })},
		{`the name is "p@1.2.0-rc1"`, ofState(func(s *statement.State) { s.Pack = "p@1.2.0-rc1" })},
		{`the name is "p\n@1.2.0"`, ofState(func(s *statement.State) { s.Pack = "p\n@1.2.0" })},
		{`the manifest's digest is "", wanted sha256:`, ofState(func(s *statement.State) { s.Manifest = "" })},
		{`the content's digest is "SHA256:`, ofState(func(s *statement.State) { s.Content = strings.ToUpper(s.Content) })},
		{`the state is "retired", wanted "deprecated" or "revoked"`, ofState(func(s *statement.State) { s.State = "retired" })},
		{`the reason is " ", wanted some text`, ofState(func(s *statement.State) { s.Reason = " " })},
		{`the reason is "a\x1b[2J", wanted text of at most 4096 bytes without control`, ofState(func(s *statement.State) { s.Reason = "a\x1b[2J" })},
		{`the reason is "\xff", wanted text`, ofState(func(s *statement.State) { s.Reason = "\xff" })},
		{`wanted text of at most 4096 bytes`, ofState(func(s *statement.State) { s.Reason = strings.Repeat("x", 4097) })},
		{`the actor is "", wanted some text`, ofState(func(s *statement.State) { s.Actor = "" })},
		{`the time is "0001-01-01T00:00:00Z", wanted a time in UTC`, ofState(func(s *statement.State) { s.Time = time.Time{} })},
		{`the time is "2025-03-01T12:30:05.000000001Z"`, ofState(func(s *statement.State) { s.Time = at.Add(1) })},
		{`the time is "2025-03-01T13:30:05+01:00"`, ofState(func(s *statement.State) { s.Time = at.In(time.FixedZone("", 3600)) })},
		{`the environment is "", wanted up to 124`, ofPin(func(p *statement.Pin) { p.Environment = "" })},
		{`the environment is "a/b"`, ofPin(func(p *statement.Pin) { p.Environment = "a/b" })},
		{`the digest of the previous pin is "latest"`, ofPin(func(p *statement.Pin) { p.Previous = "latest" })},
		{`the actor is "", wanted some text`, ofPin(func(p *statement.Pin) { p.Actor = "" })},
		{`the reason is "\a"`, ofPin(func(p *statement.Pin) { p.Reason = "\a" })},
		{`the time is`, ofPin(func(p *statement.Pin) { p.Time = time.Time{} })},
		{`what moved it is "wind", wanted one of ["pin" "promote" "rollback"]`, ofPin(func(p *statement.Pin) { p.By = "wind" })},
		{`the commit is "main"`, ofPin(func(p *statement.Pin) { p.Commit = "main" })},
		{`the role of an approval is ""`, ofPin(func(p *statement.Pin) { p.Approvals = []statement.Approval{{Login: "ada"}} })},
		{`what was accepted is "\x1b"`, ofPin(func(p *statement.Pin) { p.Accept = "\x1b" })},
		{`wanted none except for a rollback`, ofPin(func(p *statement.Pin) { p.By = statement.ByHand })},
		{`wanted that of the stopped version`, ofStop(func(s *statement.Stop) { s.Previous = digest("9") })},
		{`the environment is ""`, ofStop(func(s *statement.Stop) { s.Environment = "" })},
		{`the resource is "", wanted some text`, ofSummary(func(s *statement.Summary) { s.Resource = "" })},
		{`the resource is "ghcr.io/acme/other", wanted one that ends in "/ctxpack.support"`, ofSummary(func(s *statement.Summary) { s.Resource = "ghcr.io/acme/other" })},
		{`the tool's version is ""`, ofSummary(func(s *statement.Summary) { s.Tool = "" })},
		{`the rule set's version is ""`, ofSummary(func(s *statement.Summary) { s.Rules = "" })},
		{`the config's digest is "x"`, ofSummary(func(s *statement.Summary) { s.Config = "x" })},
		{`the class is "huge", wanted one of ["initial" "major" "minor" "patch"]`, ofSummary(func(s *statement.Summary) { s.Class = "huge" })},
		{`the class is "initial", wanted "initial" where there is no baseline`, ofSummary(func(s *statement.Summary) { s.Class = "initial" })},
		{`the class is "minor", wanted "initial" where there is no baseline`, ofSummary(func(s *statement.Summary) { s.Baseline = nil })},
		{`the baseline's manifest's digest is ""`, ofSummary(func(s *statement.Summary) { s.Baseline = &statement.Baseline{Pack: "a@1.0.0"} })},
		{`the role of an approval is ""`, ofSummary(func(s *statement.Summary) { s.Approvals = []statement.Approval{{Login: "ada"}} })},
		{`the login of an approval is ""`, ofSummary(func(s *statement.Summary) { s.Approvals = []statement.Approval{{Role: "risk"}} })},
		{`the check "replay" has the status pass, and ["RPL008"] did not run`, ofSummary(func(s *statement.Summary) {
			s.Checks = []statement.Check{{Gate: "replay", Status: "pass", NotRun: []string{"RPL008"}}}
		})},
		{`the status of the check "replay" is "fail", wanted one of a version that passed`, ofSummary(func(s *statement.Summary) { s.Checks = []statement.Check{{Gate: "replay", Status: "fail"}} })},
		{`the status of the check "replay" is "", wanted one`, ofSummary(func(s *statement.Summary) { s.Checks = []statement.Check{{Gate: "replay"}} })},
		{`a check is "", wanted some text`, ofSummary(func(s *statement.Summary) { s.Checks = []statement.Check{{Status: "pass"}} })},
		{`the check "replay" is listed twice`, ofSummary(func(s *statement.Summary) {
			s.Checks = []statement.Check{{Gate: "replay", Status: "pass"}, {Gate: "replay", Status: "partial"}}
		})},
		{`there are 65 notes, wanted at most 64`, ofSummary(func(s *statement.Summary) {
			s.Notes = &statement.Notes{Effect: "more", Items: make([]statement.Note, 65)}
		})},
		{`the effect of the notes is "", wanted some text`, ofSummary(func(s *statement.Summary) { s.Notes = &statement.Notes{} })},
		{`a note is "\x1b", wanted text`, ofSummary(func(s *statement.Summary) {
			s.Notes = &statement.Notes{Effect: "more", Items: []statement.Note{{Kind: "more", Text: "\x1b"}}}
		})},
		{`there are 33 checks, wanted at most 32`, ofSummary(func(s *statement.Summary) { s.Checks = make([]statement.Check, 33) })},
		{`the check "replay" lists more than 512 things`, ofSummary(func(s *statement.Summary) {
			s.Checks = []statement.Check{{Gate: "replay", Status: "partial", NotRun: make([]string, 513)}}
		})},
		{`what did not run in the check replay is "\x1b"`, ofSummary(func(s *statement.Summary) {
			s.Checks = []statement.Check{{Gate: "replay", Status: "partial", Without: []string{"\x1b"}}}
		})},
		{`the pull request is "javascript:x", wanted an address`, ofSummary(func(s *statement.Summary) { s.PullRequest = "javascript:x" })},
		{`the report's digest is ""`, ofSummary(func(s *statement.Summary) { s.Report = "" })},
		{`the source repository is "acme/packs"`, ofSummary(func(s *statement.Summary) { s.Source.Repository = "acme/packs" })},
		{`the source repository is "https://u:p@`, ofSummary(func(s *statement.Summary) { s.Source.Repository = "https://u:p@h.example/x" })},
		{`the source commit is "main"`, ofSummary(func(s *statement.Summary) { s.Source.Commit = "main" })},
		{`the source path is "\x00"`, ofSummary(func(s *statement.Summary) { s.Source.Path = "\x00" })},
		{`the time is`, ofSummary(func(s *statement.Summary) { s.Time = time.Time{} })},
		{`the name is "", wanted the path of a registry`, ofStatus(func(s *statement.Status) { s.Name = "" })},
		{`the name is " ghcr.io", wanted`, ofStatus(func(s *statement.Status) { s.Name = " ghcr.io" })},
		{`the name is "ghcr.io\u202e", wanted`, ofStatus(func(s *statement.Status) { s.Name = "ghcr.io\u202e" })},
		{`the name is "ghcr.io\n", wanted`, ofTimestamp(func(s *statement.Timestamp) { s.Name = "ghcr.io\n" })},
		{`the document's digest is "x"`, ofStatus(func(s *statement.Status) { s.Digest = "x" })},
		{`the publisher is " "`, ofStatus(func(s *statement.Status) { s.Publisher = " " })},
		{`the sequence is 0, wanted`, ofStatus(func(s *statement.Status) { s.Sequence = 0 })},
		{`the sequence is -1, wanted`, ofTimestamp(func(s *statement.Timestamp) { s.Sequence = -1 })},
		{`the time is`, ofStatus(func(s *statement.Status) { s.Time = time.Time{} })},
		{`the time of issue is`, ofTimestamp(func(s *statement.Timestamp) { s.Issued = at.Add(1) })},
		{`the time of expiry is`, ofTimestamp(func(s *statement.Timestamp) { s.Expires = time.Time{} })},
		{`it expires at "2025-03-01T12:30:05Z", wanted a time after`, ofTimestamp(func(s *statement.Timestamp) { s.Expires = s.Issued })},
		{`bytes, wanted at most 1048576`, ofSummary(func(s *statement.Summary) {
			for i := range 400 {
				s.Approvals = append(s.Approvals, statement.Approval{Role: strings.Repeat("r", 4000), Login: strings.Repeat("l", i+1)})
			}
		})},
	} {
		src, err := c.w.Statement()
		if err == nil || !strings.Contains(err.Error(), c.want) || src != nil {
			t.Errorf("%+v\ngot  %v\nwant %s", c.w, err, c.want)
		}
	}
}

func TestReadingRefuses(t *testing.T) {
	for _, c := range []struct {
		of       writer
		old, new string
		want     string
	}{
		{state(), `{"_type"`, `["_type"`, "line 1, column"},
		{state(), `"_type":"https://in-toto.io/Statement/v1"`, `"_type":"https://in-toto.io/Statement/v0.1"`, `member "/_type" of the statement is "https://in-toto.io/Statement/v0.1", wanted`},
		{state(), `"_type":`, `"_Type":`, `member "/_type" of the statement is missing`},
		{state(), `"predicateType":`, `"predicateType":"x","predicateType":`, "the object already has a member"},
		{state(), `"reason":`, `"reason":"none","reason":`, "the object already has a member"},
		{state(), `"predicate":{`, `"predicate":7,"was":{`, `member "/predicate" of the statement is a number, wanted an object`},
		{state(), `"subject":[`, `"subject":[{"name":"x","digest":{}},`, `member "/subject" of the statement has 3 items, wanted 2`},
		{state(), `"subject":[`, `"subject":[7,`, `member "/subject/0" of the statement is a number, wanted an object`},
		{state(), `"subject":[`, `"subject":[],"was":[`, `has 0 items, wanted 2`},
		{state(), `"name":"ctxpack.support@1.2.0"}]`, `"name":"ctxpack.other@1.2.0"}]`, `the subjects have two names, "ctxpack.support@1.2.0" and "ctxpack.other@1.2.0"`},
		{state(), `"digest":{"sha256":"a`, `"digest":{"sha256":"A`, `the manifest's digest is "sha256:A`},
		{state(), `"digest":{"sha256":"`, `"digest":{"sha512":"`, `member "/subject/0/digest/sha256" of the statement is missing`},
		{state(), `"state":"revoked"`, `"state":"usable"`, `the state is "usable"`},
		{state(), `"state":"revoked"`, `"state":null`, `is null, wanted a string`},
		{state(), `12:30:05Z`, `12:30:05.5Z`, `wanted a time such as "2006-01-02T15:04:05Z"`},
		{state(), `12:30:05Z`, `12:30:05+00:00`, `wanted a time such as`},
		{status(), `"subject":[`, `"subject":[{"name":"x","digest":{}},`, `member "/subject" of the statement has 2 items, wanted 1: the document`},
		{status(), `"subject":[`, `"subject":[],"was":[`, `has 0 items, wanted 1`},
		{status(), `/status/v1"`, `/timestamp/v1"`, `is missing`},
		{status(), `/status/v1"`, `/state/v1"`, `has 1 item, wanted 2: the manifest and the pack`},
		{state(), `/state/v1"`, `/status/v1"`, `has 2 items, wanted 1: the document`},
		{status(), `"name":"ghcr.io/acme/packs"`, `"name":""`, `the name is ""`},
		{status(), `"digest":{"sha256":"`, `"digest":{"sha512":"`, `member "/subject/0/digest/sha256" of the statement is missing`},
		{status(), `"sequence":7`, `"sequence":7.5`, `member "/sequence" of the statement is 7.5, wanted a whole number`},
		{status(), `"sequence":7`, `"sequence":7e0`, `is 7e0, wanted a whole number`},
		{status(), `"sequence":7`, `"sequence":"7"`, `is a string, wanted a number`},
		{status(), `"sequence":7`, `"sequence":0`, `the sequence is 0`},
		{status(), `"publisher":`, `"was":`, `member "/publisher" of the statement is missing`},
		{timestamp(), `"expires":`, `"was":`, `member "/expires" of the statement is missing`},
		{timestamp(), `"issued":"2025-03-01T12`, `"issued":"2025-03-01T14`, `wanted a time after that of its issue`},
		{pin(), `"replay":true`, `"replay":"true"`, `is a string, wanted a boolean`},
		{pin(), `"previous":{`, `"previous":7,"was":{`, `is a number, wanted an object`},
		{pin(), `"environment":"prod"`, `"environment":"../x"`, `the environment is "../x"`},
		{pin(), `"by":"rollback"`, `"by":7`, `is a number, wanted a string`},
		{pin(), `"commit":"1`, `"commit":"g`, `the commit is "g`},
		{pin(), `"approvals":[`, `"approvals":[7,`, `member "/approvals/0" of the statement is a number`},
		{pin(), `"accept":"`, `"accept":{},"was":"`, `is an object, wanted a string`},
		{stop(), `"previous":{`, `"was":{`, `wanted that of the stopped version`},
		{stop(), `"time":`, `"was":`, `member "/time" of the statement is missing`},
		{pinOfBuild(), `"bundle":{`, `"bundle":[],"was":{`, `is an array, wanted an object`},
		{pinOfBuild(), `+prod.3"`, `+prod.3.x"`, `the bundle's name is`},
		{build(), `/bundle/v1"`, `/state/v1"`, `the name is "ctxpack.support@1.2.0+prod.3", wanted a pack_id, @ and a version`},
		{state(), `/state/v1"`, `/bundle/v1"`, `the name is "ctxpack.support@1.2.0", wanted a pack_id, @, a version, +`},
		{build(), `"revision":3`, `"revision":4`, `is that of "ctxpack.support@1.2.0+prod.4", and the subjects are "ctxpack.support@1.2.0+prod.3"`},
		{build(), `"environment":"prod"`, `"environment":"eu"`, `is that of "ctxpack.support@1.2.0+eu.3", and the subjects`},
		{build(), `"sequence":4`, `"sequence":4.5`, `is 4.5, wanted a whole number`},
		{build(), `"bundle":{`, `"was":{`, `member "/bundle" of the statement is missing`},
		{build(), `"sources":[`, `"sources":[7,`, `is a number, wanted an object`},
		{build(), `"version":{"content":{`, `"version":{"was":{`, `is missing`},
		{build(), `"PASSED"`, `"FAILED"`, `wanted "PASSED"`},
		{pin(), `"actor":"ada",`, ``, `member "/actor" of the statement is missing`},
		{summary(), `"PASSED"`, `"FAILED"`, `member "/verificationResult" of the statement is "FAILED", wanted "PASSED"`},
		{summary(), `"id":"https://github.com/contextosai/packgate"`, `"id":"https://example.com"`, `member "/verifier/id" of the statement is "https://example.com"`},
		{summary(), `/rules/1.1.0"`, `/rules/9.9.9"`, `member "/policy/uri" of the statement is`},
		{summary(), `"inputAttestations":[`, `"inputAttestations":[{},`, `has 2 items, wanted 1: the gate report`},
		{summary(), `"verifiedLevels":[],`, ``, `member "/verifiedLevels" of the statement is missing`},
		{summary(), `"slsaVersion":"1.1",`, ``, `member "/slsaVersion" of the statement is missing`},
		{summary(), `"contextos":{`, `"other":{`, `member "/contextos" of the statement is missing`},
		{summary(), `"approvals":[`, `"approvals":{},"was":[`, `is an object, wanted an array`},
		{summary(), `"checks":[`, `"checks":{},"was":[`, `is an object, wanted an array`},
		{summary(), `"status":"partial"`, `"status":"pass"`, `the check "replay" has the status pass, and ["RPL006" "RPL008"] did not run`},
		{summary(), `"notRun":["RPL006"`, `"notRun":[7`, `contains a number, wanted a string`},
		{summary(), `"class":"minor"`, `"class":"initial"`, `the class is "initial"`},
		{summary(), `"source":{`, `"source":[],"was":{`, `is an array, wanted an object`},
		{record(), `"sequence":7`, `"sequence":"7"`, `member "/sequence" of the statement is a string, wanted a number`},
		{record(), `"sequence":7`, `"sequence":7.0`, `member "/sequence" of the statement is 7.0, wanted a whole number`},
		{record(), `"sequence":7`, `"sequence":7.5`, `is 7.5, wanted a whole number`},
		{record(), `"sequence":7`, `"sequence":-7`, `the sequence is -7, wanted 1 to 999999999`},
		{record(), `"sequence":7`, `"sequence":1e99`, `is 1e99, wanted a whole number`},
		{record(), `"sequence":7,`, ``, `member "/sequence" of the statement is missing`},
		{record(), `"previous":[`, `"previous":7,"was":[`, `is a number, wanted an array`},
		{record(), `"previous":[`, `"was":[`, `member "/previous" of the statement is missing`},
		{record(), `"previous":[`, `"previous":["x",`, `member "/previous/0" of the statement is a string, wanted an object`},
		{record(), `"previous":[{"digest":{"sha256":"1`, `"previous":[{"digest":{"sha256":"3`, `the records before it are not in order`},
		{record(), `"adopts":[`, `"was":[`, `member "/adopts" of the statement is missing`},
		{record(), `"recorded":{`, `"was":{`, `member "/recorded" of the statement is missing`},
		{record(), `"kind":"pin"`, `"kind":"pine"`, `the statement's kind is "pine"`},
		{record(), `"statement":{"sha256":"3`, `"statement":{"sha256":"g`, `the digest of the statement is "sha256:g`},
		{record(), `"statement":{"sha256":"5`, `"statement":{"sha256":"8`, `the adopted statements are not in order`},
		{firstRecord(), `"previous":[]`, `"previous":[{"digest":{"sha256":"` + strings.Repeat("1", 64) + `"}}]`, `record 1 names 1 record before it`},
	} {
		src := string(write(t, c.of))
		changed := strings.Replace(src, c.old, c.new, 1)
		if changed == src {
			t.Fatalf("%q is not in %s", c.old, src)
		}
		if _, err := read([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s\ngot  %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

func TestParseRefusesWhatIsNoObjectOrTooLarge(t *testing.T) {
	for src, want := range map[string]string{
		"":     "line 1, column 1",
		"[]":   "not a JSON object",
		"null": "not a JSON object",
		`{"_type":"` + strings.Repeat("x", statement.MaxBytes) + `"}`: "line 1, column 1",
	} {
		if _, err := statement.Parse([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", src, err, want)
		}
	}
}

// FuzzParse holds that what can be read could have been written: it is written
// again, and reads the same.
func FuzzParse(f *testing.F) {
	for _, w := range []writer{summary(), first(), state(), pin(), stop(), build(), pinOfBuild(), status(), timestamp(), record(), firstRecord()} {
		f.Add(write(f, w))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := read(src)
		if err != nil {
			return
		}
		again, err := read(write(t, v.(writer)))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(v, again) {
			t.Errorf("read %+v, written and read again %+v", v, again)
		}
	})
}
