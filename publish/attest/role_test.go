package attest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/statement"
)

const freshWorkflow = "https://github.com/acme/packs/.github/workflows/freshness.yml@refs/heads/main"

// freshly is the run of the workflow that signs timestamps.
func freshly(event string) map[string]string {
	claims := run()
	claims["job_workflow_ref"], claims["event_name"] = "acme/packs/.github/workflows/freshness.yml@refs/heads/main", event
	return claims
}

func statusStatement(t testing.TB) []byte {
	t.Helper()
	return must(statement.Status{Subject: statement.Subject{Name: "ghcr.io/acme/packs", Digest: digestOfTest}, Publisher: "somebody", Sequence: 1, Time: time.Unix(0, 0).UTC()}.Statement())
}

func timestampStatement(t testing.TB) []byte {
	t.Helper()
	at := time.Unix(0, 0).UTC()
	return must(statement.Timestamp{Subject: statement.Subject{Name: "ghcr.io/acme/packs", Digest: digestOfTest}, Sequence: 1, Issued: at, Expires: at.Add(time.Hour)}.Statement())
}

const digestOfTest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Who signs in the wrong workflow is sent to the one of his role.
func TestWrongWorkflowIsToldTheRightOne(t *testing.T) {
	for part, id := range map[string]Identity{
		"publish.identity":  {Issuer: gitHub, Workflow: freshWorkflow},
		"publish.freshness": {Issuer: gitHub, Workflow: freshWorkflow, Role: Freshness},
	} {
		err := id.CheckToken(token(run()))
		if hint := fault.Hint(err); !errors.Is(err, ErrWorkflow) || !strings.Contains(hint, part) {
			t.Errorf("%v; its hint is %q, wanted one that names %s", err, hint, part)
		}
	}
}

// A role signs its own statements and no other, with an identity and with a key, and what
// somebody signs outside of it is not trusted.
func TestRolesHaveNoStatementInCommon(t *testing.T) {
	in := newInstance(t)
	trust := must(TrustRoot(in.root(withTSA)))
	fresh := Identity{Issuer: gitHub, Workflow: freshWorkflow, Role: Freshness}
	key := must(NewKeySigner(pkcs8Of(newKey()), nil))
	for _, c := range []struct {
		name    string
		src     []byte
		fresher bool
	}{{"status", statusStatement(t), false}, {"timestamp", timestampStatement(t), true}} {
		for role, own := range map[Role]bool{Publishing: !c.fresher, Freshness: c.fresher} {
			id := acme
			in.claims = run()
			if role == Freshness {
				id, in.claims = fresh, freshly("schedule")
			}
			k, _ := in.signer(withTSA, func(o *KeylessOptions) { o.Identity = id })
			signed, err := k.Sign(t.Context(), c.src)
			if own != (err == nil) || !own && !errors.Is(err, ErrRole) {
				t.Errorf("%s, signed in role %d: %v", c.name, role, err)
			}
			if own {
				if _, err := must(NewVerifier(trust, id)).Verify(signed); err != nil {
					t.Errorf("%s, verified in role %d: %v", c.name, role, err)
				}
			}
			byKey, err := must(key.As(role)).Sign(t.Context(), c.src)
			if own != (err == nil) || !own && !errors.Is(err, ErrRole) {
				t.Errorf("%s, signed with a key in role %d: %v", c.name, role, err)
			}
			if !own {
				continue
			}
			for other, wanted := range map[Role]error{role: nil, 1 - role: ErrRole} {
				v := must(NewVerifier(must(TrustKey(key.PublicKey())), Identity{Role: other}))
				if _, err := v.Verify(byKey); !errors.Is(err, wanted) {
					t.Errorf("%s of role %d, verified in role %d: %v, wanted %v", c.name, role, other, err, wanted)
				}
			}
		}
	}
}

// The same workflow in the other role is held to its events as well, so that a push signs
// no timestamp, and no clock anything else.
func TestEventsOfRoles(t *testing.T) {
	for _, c := range []struct {
		role  Role
		event string
		want  error
	}{
		{Publishing, "push", nil}, {Publishing, "workflow_dispatch", nil}, {Publishing, "schedule", ErrTrigger},
		{Freshness, "schedule", nil}, {Freshness, "workflow_dispatch", nil}, {Freshness, "push", ErrTrigger}, {Freshness, "pull_request", ErrTrigger},
	} {
		id := Identity{Issuer: gitHub, Workflow: freshWorkflow, Role: c.role}
		if err := id.CheckToken(token(freshly(c.event))); !errors.Is(err, c.want) {
			t.Errorf("role %d on %s: %v, wanted %v", c.role, c.event, err, c.want)
		}
	}
	for role, events := range map[Role][]string{Publishing: {"schedule", "pull_request"}, Freshness: {"push", "pull_request_target"}} {
		for _, event := range events {
			if _, err := (Identity{Issuer: gitHub, Workflow: freshWorkflow, Role: role, Triggers: []string{event}}).complete(); err == nil {
				t.Errorf("role %d took the event %s", role, event)
			}
		}
	}
}

func TestFreshnessSignsNoFile(t *testing.T) {
	key := must(NewKeySigner(pkcs8Of(newKey()), nil))
	v := must(NewVerifier(must(TrustKey(key.PublicKey())), Identity{Role: Freshness}))
	if _, err := v.VerifyFile([]byte("x"), []byte("{}")); !errors.Is(err, ErrRole) {
		t.Errorf("error %v", err)
	}
}
