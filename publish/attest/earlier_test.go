package attest

import (
	"strings"
	"testing"
	"time"
)

const oldWorkflow = "https://github.com/acme/packs/.github/workflows/publish-old.yml@refs/heads/main"

// old returns acme under the workflow that it had before.
func old() Identity {
	id := acme
	id.Workflow = oldWorkflow
	return id
}

// What an earlier identity signed counts, up to its end by witnessed time; what none of them
// signed is refused as if there were no earlier one.
func TestTrustEarlier(t *testing.T) {
	in := newInstance(t)
	present := in.verifier(full)
	ours := in.bundle(full, sample())
	in.claims["job_workflow_ref"] = strings.TrimPrefix(oldWorkflow, "https://github.com/")
	before := in.bundle(full, sample())
	in.claims["job_workflow_ref"] = "acme/packs/.github/workflows/other.yml@refs/heads/main"
	others := in.bundle(full, sample())

	open, err := present.TrustEarlier(old(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := open.Verify(before)
	if err != nil || signed.Signer.Workflow != oldWorkflow {
		t.Fatalf("what the earlier workflow signed: %+v, %v", signed, err)
	}
	if _, err := open.Verify(ours); err != nil {
		t.Errorf("what the present workflow signed: %v", err)
	}
	refused(t, open, others, ErrWorkflow, `signed by the workflow "https://github.com/acme/packs/.github/workflows/other.yml@refs/heads/main", wanted "`+workflow+`"`)
	refused(t, present, before, ErrWorkflow, "publish-old.yml")
	if open.Name() != present.Name() {
		t.Errorf("the verifier is called %q, wanted %q", open.Name(), present.Name())
	}

	for name, c := range map[string]struct {
		until time.Time
		ok    bool
	}{
		"at its end":     {signed.Time, true},
		"before its end": {signed.Time.Add(time.Hour), true},
		"after its end":  {signed.Time.Add(-time.Second), false},
	} {
		v, err := present.TrustEarlier(old(), c.until)
		if err != nil {
			t.Fatal(err)
		}
		if c.ok {
			if _, err := v.Verify(before); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refused(t, v, before, ErrWorkflow, "by the earlier workflow")
		if !v.Claim(before).Ours {
			t.Error("a bundle of the earlier workflow that counts for nothing is taken for a stranger's")
		}
	}
	if open.Claim(others).Ours || !open.Claim(before).Ours {
		t.Error("the claims are not those of the identities")
	}
}

// What makes no earlier identity is refused.
func TestTrustEarlierRefuses(t *testing.T) {
	in := newInstance(t)
	present := in.verifier(full)
	if _, err := present.TrustEarlier(acme, time.Time{}); err == nil {
		t.Error("the present identity is an earlier one")
	}
	if _, err := present.TrustEarlier(Identity{Issuer: acme.Issuer}, time.Time{}); err == nil {
		t.Error("an identity without a workflow is one")
	}
	signer := must(NewKeySigner(pkcs8Of(newKey()), nil))
	byKey := must(NewVerifier(must(TrustKey(signer.PublicKey())), Identity{}))
	if _, err := byKey.TrustEarlier(old(), time.Time{}); err == nil {
		t.Error("a key has an earlier identity")
	}
	// An earlier identity signs what the present one may sign: timestamps are none of it.
	in.claims["job_workflow_ref"] = strings.TrimPrefix(oldWorkflow, "https://github.com/")
	refused(t, must(present.TrustEarlier(old(), time.Time{})), in.bundle(full, timestampStatement(t)), ErrRole, "")
}
