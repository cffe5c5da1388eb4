package sigstore

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/contextosai/packgate/test/githubtest"
)

// pinsOfCatalog is the member of the example's catalogs that a pins file takes the place of.
var pinsOfCatalog = regexp.MustCompile(`(?s),\s*"pins": \{[^}]*\}`)

// promoted makes the environments ones that pins files move: staging runs the version as soon
// as it is published, and prod what is promoted from there, by these rules.
func promoted(t *testing.T, r *repository, soak string) {
	t.Helper()
	for _, environment := range []string{"prod", "staging"} {
		file := "environments/" + environment + ".json"
		r.write(t, file, pinsOfCatalog.ReplaceAllString(r.read(t, file), ""))
	}
	r.write(t, "environments/prod.json", strings.Replace(r.read(t, "environments/prod.json"), `"environment": "prod",`,
		`"environment": "prod", "promote": {"from": "staging", "soak": "`+soak+`", "roles": ["sre"]},`, 1))
	r.write(t, ".packgate.yaml", r.read(t, ".packgate.yaml")+"reviews: {roles: {sre: [lena]}}\n")
	r.wants(t, "staging", version, r.read(t, packFile))
	r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "pins files")
}

// wants writes the pins file of an environment that is to run these bytes of the pack.
func (r *repository) wants(t *testing.T, environment, version, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(r.dir, "pins"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.write(t, "pins/"+environment+".json", fmt.Sprintf("{%q: {\"version\": %q, \"digest\": %q}}\n", packID, version, digestOf(content)))
}

// merge makes what is not committed a pull request of mona's, which is merged at once.
func (r *repository) merge(t *testing.T, number int64) {
	t.Helper()
	base := git(t, r.dir, "rev-parse", "HEAD")
	git(t, r.dir, "switch", "-q", "-c", fmt.Sprint("change-", number))
	head := commit(t, r.dir, "a change")
	git(t, r.dir, "switch", "-q", "main")
	git(t, r.dir, "merge", "-q", "--no-ff", "-m", fmt.Sprint("Merge pull request #", number), head)
	r.run.Before, r.run.SHA = base, git(t, r.dir, "rev-parse", "HEAD")
	names := strings.Fields(git(t, r.dir, "diff", "--name-only", base, head))
	r.github.Locked(func() {
		r.github.Pulls = append(r.github.Pulls, githubtest.Pull{
			Number: number, Author: "mona", Owner: "mona", Branch: "change", Base: base, Head: head, Merged: r.run.SHA, ChangedFiles: len(names),
		})
		r.github.Commits[head] = map[string]string{}
		for _, name := range names {
			r.github.Files = append(r.github.Files, githubtest.File{Pull: number, Path: name, Status: "modified"})
		}
	})
}

// approve lets somebody approve the last commit of a pull request.
func (r *repository) approve(number int64, login string) {
	r.github.Locked(func() {
		for _, p := range r.github.Pulls {
			if p.Number == number {
				r.github.Reviews = append(r.github.Reviews, githubtest.Review{Pull: number, Author: login, State: "APPROVED", SHA: p.Head, Status: "MEMBER"})
			}
		}
	})
}

// TestPinsFiles promotes a version by pull requests, which the run of the workflow applies:
// what prod runs is signed by it, names who approved, and is what everyone else finds.
func TestPinsFiles(t *testing.T) {
	t.Parallel()
	eachRegistry(t, func(t *testing.T, host string) {
		r := newRepository(t, host+"/acme/packs", stack.Run{})
		promoted(t, r, "24h")
		r.action(t, "publish", nil).want(t, 0) // which applies the line of staging
		short, env := packID+"@"+version, r.registry+"/"+packID+":env-"
		consumer(t, "verify", env+"staging").want(t, usable, short+"+staging.1")
		promote := []string{"promote", packID, "--from", "staging", "--to", "prod"}
		r.packgate(t, promote...).want(t, 1, "PIN003")

		// The time to wait is given up, and the version proposed, both without an approval.
		r.write(t, "environments/prod.json", strings.Replace(r.read(t, "environments/prod.json"), `"24h"`, `"1ms"`, 1))
		r.merge(t, 8)
		r.packgate(t, promote...).want(t, 0)
		r.merge(t, 9)
		r.packgate(t, "pin").want(t, 1, "PIN003", "still hold as they were before")
		r.approve(8, "lena")
		r.packgate(t, "pin").want(t, 1, "pull request 9: nobody in sre has approved the last commit")
		r.approve(9, "mona") // its author
		r.packgate(t, "pin").want(t, 1, "pull request 9: nobody in sre has approved the last commit")
		consumer(t, "verify", env+"prod").want(t, untrusted)
		r.packgate(t, "audit").want(t, 0, "pin-drift")

		r.approve(9, "lena")
		r.packgate(t, "pin").want(t, 0, "environment prod runs "+packID+" "+version+" from now on", "pull request 9", "octocat")
		r.packgate(t, "pin").want(t, 0, "nothing to do")
		consumer(t, "verify", env+"prod").want(t, usable, short+"+prod.1")
		r.packgate(t, "verify", packID+"@env-prod").want(t, usable, short+"+prod.1")
		r.packgate(t, "log", packID).want(t, 0, "prod", "pull request 9", "lena")
		if o := r.packgate(t, "audit"); strings.Contains(o.stdout, "pin-drift") {
			t.Errorf("the audit finds a difference where there is none:\n%s", o.stdout)
		} else {
			o.want(t, 0)
		}
		if source := consumer(t, "pull", env+"prod", "--source", "--output", "-"); source.stdout != r.read(t, packFile) {
			t.Errorf("what prod runs is not made of the pack file: %d\n%s", source.status, source.stderr)
		}
		file := filepath.Join(t.TempDir(), "pack.json")
		consumer(t, "pull", env+"prod", "--output", file).want(t, 0)
		consumer(t, "verify", file, "--registry", r.registry).want(t, usable)
	})
}
