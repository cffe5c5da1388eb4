package compiler_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// childVariable makes the test binary a program that compiles and prints what
// came out, so that compiles of several processes can be compared.
const childVariable = "PACKGATE_TEST_COMPILE"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	if err := printCompiles(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// printCompiles compiles the support pack for requests of all kinds and writes
// what came out of each.
func printCompiles(w io.Writer) error {
	src, err := os.ReadFile("testdata/reference/context_pack_support_full.json")
	if err != nil {
		return err
	}
	doc, _ := pack.Read("pack.json", src, pack.DefaultLimits())
	program := compiler.Prepare(pack.New(doc))
	for seed := range 64 {
		data := make([]byte, 24)
		for i := range data {
			data[i] = byte(seed*(i+7) + i*i)
		}
		result, err := program.Compile(requestFrom(data))
		if err != nil {
			return err
		}
		fmt.Fprintln(w, seed, everything(result))
	}
	return nil
}

// everything writes all of a result: outcome, stages with their outputs, trace
// and context.
func everything(result *compiler.Result) string {
	var b strings.Builder
	fmt.Fprintln(&b, result.Outcome, result.Reason(), result.Trace.NotChecked, result.Trace.Denied)
	write := func(v any) {
		text, err := json.Marshal(v)
		fmt.Fprintf(&b, "%s %v\n", text, err)
	}
	write(result.Stages)
	write(result.Context)
	for _, t := range result.Trace.Rules {
		fmt.Fprintln(&b, t.Rule.RuleID.Value, t.State, t.Enforced, t.Outcome != nil, t.Cause)
	}
	for _, t := range result.Trace.Decisions {
		fmt.Fprintln(&b, t.Decision.DecisionKey.Value, t.State, len(t.By))
	}
	for _, t := range result.Trace.Tools {
		fmt.Fprintln(&b, t.Adapter.AdapterID.Value, t.Capability, t.Surfaced, t.AuthorisedBy)
		for _, o := range t.Obstacles {
			fmt.Fprintln(&b, o.Reason)
		}
	}
	for _, t := range result.Trace.Gates {
		fmt.Fprintln(&b, t.Gate.GateID.Value, t.Active, t.When, t.Cause, len(t.NamedBy), len(t.RequiredBy))
	}
	return b.String()
}

// Another process, with another number of processors, another collector and
// another place on earth, gives the same bytes.
func TestProcessesAgree(t *testing.T) {
	var own strings.Builder
	if err := printCompiles(&own); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"compiled ", "refused ", "policy_eval_error ", "dropped_block_ids", `"tokenizer":"o200k_base"`} {
		if !strings.Contains(own.String(), part) {
			t.Fatalf("no compile shows %q:\n%s", part, own.String())
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, environment := range [][]string{
		nil,
		{"GOMAXPROCS=1", "GOGC=1", "TZ=Asia/Kolkata", "LC_ALL=tr_TR.UTF-8"},
		{"GOMAXPROCS=7", "GOGC=off", "GODEBUG=asyncpreemptoff=1,panicnil=1", "TZ=UTC"},
	} {
		c := exec.Command(program)
		c.Env = append(append(os.Environ(), childVariable+"=1"), environment...)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v", environment, err)
		}
		if string(out) != own.String() {
			t.Errorf("another process with %v gives\n%s\nwanted\n%s", environment, out, own.String())
		}
	}
}
