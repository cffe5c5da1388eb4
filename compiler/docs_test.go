package compiler_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// rows returns the rows of the table of docs/compile.md, or of docs/conditions.md,
// that has these headings.
func rows(t *testing.T, headings ...string) [][]string {
	t.Helper()
	var src []byte
	for _, page := range []string{"compile.md", "conditions.md"} {
		text, err := os.ReadFile("../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		src = append(src, text...)
	}
	_, after, found := strings.Cut(string(src), "| "+strings.Join(headings, " | ")+" |\n")
	if !found {
		t.Fatalf("the page has no table %q", headings)
	}
	var table [][]string
	for i, line := range strings.Split(after, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if i > 0 { // the rule below the headings
			table = append(table, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	return table
}

// The table of the buckets is what a compile without a run budget gives.
func TestDocumentedBuckets(t *testing.T) {
	r := reference(t)
	set(r.RunContext, nil, "run_budget")
	_, c := compiled(t, supportPack(t), r)
	priorities := map[compiler.Bucket]int{}
	for _, b := range c.CompiledPrompt.ContextBlocks {
		priorities[b.Bucket] = b.Priority
	}
	table := rows(t, "Bucket", "Share", "Blocks", "Priority")
	for i, bucket := range compiler.Buckets() {
		row := table[i]
		share, priority := strconv.Itoa(c.BudgetReport.TokensAllocated.Of(bucket)), strconv.Itoa(priorities[bucket])
		if row[0] != string(bucket) || row[1] != share || row[3] != priority {
			t.Errorf("row %d is %q, wanted bucket %s with share %s and priority %s", i+1, row, bucket, share, priority)
		}
	}
}

// The table of the operators says how many operands each takes.
func TestDocumentedOperators(t *testing.T) {
	code := regexp.MustCompile("`([^`]+)`")
	number := regexp.MustCompile(`^\d+`)
	count := 0
	for _, row := range rows(t, "Operators", "Operands") {
		least, _ := strconv.Atoi(number.FindString(row[1]))
		most := least
		switch rest := strings.TrimPrefix(row[1], strconv.Itoa(least)); {
		case strings.HasPrefix(rest, " or more"), row[1] == "any number":
			most = 5
		case strings.HasPrefix(rest, " or "):
			most = least + 1
		}
		for _, m := range code.FindAllStringSubmatch(row[0], -1) {
			count++
			for operands := range 5 {
				if want := operands >= least && operands <= most; takes(t, m[1], operands) != want {
					t.Errorf("%s takes %d operands: %v, but the page says %q", m[1], operands, !want, row[1])
				}
			}
		}
	}
	if count != 34 {
		t.Errorf("the page names %d operators", count)
	}
}

// takes reports whether an operator takes that many operands.
func takes(t *testing.T, operator string, operands int) bool {
	t.Helper()
	list := strings.TrimSuffix(strings.Repeat(`"a",`, operands), ",")
	if operator == "missing_some" { // how many, of which keys
		list = strings.Replace(strings.ReplaceAll(list, `"a"`, `["a"]`), `["a"]`, "1", 1)
	}
	src := fmt.Sprintf(`{"x": {%q: [%s]}}`, operator, list)
	doc, faults := pack.Read("x.json", []byte(src), pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	expr, _ := jsonlogic.Compile(doc.Root.Get("x"))
	return expr != nil
}

// The page's example of a shared budget.
func TestDocumentedShares(t *testing.T) {
	src, err := os.ReadFile("../docs/compile.md")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(allocation(t, `{"bucket_tokens": {"evidence": 400}}`))
	want := fmt.Sprintf("%s, %s, %s, %s and %s", got[0], got[1], got[2], got[4], got[5])
	if !strings.Contains(string(src), want) {
		t.Errorf("the page does not say %q", want)
	}
}

// The table of the tokenizers names those that there are, sorted.
func TestDocumentedTokenizers(t *testing.T) {
	var names []string
	for _, row := range rows(t, "Tokenizer", "Counts") {
		names = append(names, strings.Trim(row[0], "`"))
	}
	check(t, "documented tokenizers", names, tokens.Names()...)
}

// The table of the stages names them in order.
func TestDocumentedStages(t *testing.T) {
	var names []string
	for _, row := range rows(t, "Stage", "Output") {
		names = append(names, strings.Trim(row[0], "`"))
	}
	check(t, "documented stages", names, compiler.Stages()...)
}
