package doctor

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The documented matrix has one status to require, and each thing that it needs is
// missed where it is not there.
func TestDoctorShards(t *testing.T) {
	page, err := os.ReadFile("../../docs/action.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- matrix -->\n```yaml\n")
	documented, _, found := strings.Cut(rest, "```\n<!-- /matrix -->")
	if !found {
		t.Fatal("docs/action.md has no matrix")
	}
	for _, c := range []struct{ name, old, new, check, hint string }{
		{"as documented", "", "", "", ""},
		{"nothing merges", "packgate merge", "packgate report", "not-merged", "add a job that needs it"},
		{"the merge may be skipped", "    needs: shard\n    if: always()\n", "    needs: shard\n", "may-be-skipped", "if: always()"},
		{"each shard writes a check run", "      pull-requests: read # who has approved\n    strategy:", "      pull-requests: read\n      checks: write\n    strategy:", "permissions", "remove checks: write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(documented, c.old, c.new, 1)
			if c.old != "" && text == documented {
				t.Fatalf("the matrix has no %q", c.old)
			}
			d := examined(t, []byte(text))
			var got []string
			unpinned := 0
			for _, s := range d.Symptoms {
				if s.Check == "not-pinned" {
					unpinned++
				}
				// The folder has no packs, and the documentation cannot know a commit.
				if s.Severity != aside && s.Check != "not-pinned" && s.Check != "no-packs" && s.Check != "no-owner" {
					got = append(got, s.Check+": "+s.Hint)
				}
			}
			if want := strings.Count(text, "packgate@v0"); want < 3 || unpinned != want {
				t.Errorf("%d uses of packgate can become another program, wanted %d", unpinned, want)
			}
			if c.check == "" && len(got) > 0 || c.check != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.check+": ") || !strings.Contains(got[0], c.hint)) {
				t.Errorf("got %q, wanted %q with %q", got, c.check, c.hint)
			}
			if merged := c.check != "not-merged"; slices.Contains(d.Statuses, "gate") != merged {
				t.Errorf("the statuses to require are %q", d.Statuses)
			}
		})
	}
}
