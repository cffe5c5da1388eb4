package heap

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
)

// state is what a process finds in its own memory.
type state struct {
	InUse       uint64 // bytes of the heap before anything is made
	First, Then uint64 // percent by which the heap grows, before and after the first collection
	Huge        bool   // whether a new part of the heap asks for huge pages
}

// asked is the variable that makes this test the process that is looked at.
const asked = "PACKGATE_TEST_HEAP"

func TestMain(m *testing.M) {
	if os.Getenv(asked) == "" {
		os.Exit(m.Run())
	}
	if err := json.NewEncoder(os.Stdout).Encode(look()); err != nil {
		panic(err)
	}
}

func look() state {
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	s := state{InUse: before.HeapAlloc, First: percent()}
	large := make([]byte, 8<<20) // more than the heap has without what is reserved
	s.Huge = huge(fmt.Sprintf("%p", large))
	runtime.KeepAlive(large)
	for range 1000 { // what is due after a collection runs beside it
		if s.Then = percent(); s.Then != s.First {
			break
		}
		runtime.GC()
	}
	return s
}

func percent() uint64 {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

// huge reports whether the mapping of that address asks for huge pages, by smaps of proc(5).
func huge(address string) bool {
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return false
	}
	defer file.Close()
	var at, first, last uint64
	fmt.Sscanf(address, "0x%x", &at)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &first, &last); n == 2 {
			continue
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && first <= at && at < last {
			return strings.Contains(flags+" ", " hg ")
		}
	}
	return false
}

func TestHeap(t *testing.T) {
	for _, c := range []struct {
		name        string
		env, args   []string
		huge        bool
		first, then uint64
	}{
		{"a command", nil, []string{"check", "."}, true, firstCollection, laterCollections},
		{"an editor", nil, []string{"lsp"}, false, firstCollection, laterCollections},
		{"a watch", nil, []string{"check", "--watch=true"}, false, firstCollection, laterCollections},
		{"GOGC", []string{"GOGC=50"}, nil, true, 50, 50},
		{"a limit", []string{"GOMEMLIMIT=1GiB"}, nil, false, firstCollection, laterCollections},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, c.env, c.args)
			if got.First != c.first || got.Then != c.then {
				t.Errorf("the heap grows by %d %%, then by %d %%; wanted %d and %d", got.First, got.Then, c.first, c.then)
			}
			if want := c.huge && hugePages(); got.Huge != want {
				t.Errorf("the heap asks for huge pages: %t, wanted %t", got.Huge, want)
			}
			if got.InUse > 4<<20 {
				t.Errorf("the heap has %d bytes at the start: what is reserved is not free", got.InUse)
			}
		})
	}
}

// run returns the state of a process with these variables and arguments.
func run(t *testing.T, env, args []string) (s state) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, asked+"=1"), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// hugePages reports whether the kernel knows huge pages that a program may ask for.
func hugePages() bool {
	_, err := os.Stat("/sys/kernel/mm/transparent_hugepage")
	return err == nil
}
