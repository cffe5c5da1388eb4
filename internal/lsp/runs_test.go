package lsp

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The first change is looked at immediately, those that come in a rush together after
// the pause, and none twice.
func TestRunsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		type run struct {
			after   time.Duration
			changes int
		}
		begin := time.Now()
		var got []run
		r := newRuns(func(c []string) bool {
			got = append(got, run{time.Since(begin), len(c)})
			return false
		}, func(context.Context) { t.Error("there is nothing to prove") })
		go r.loop(ctx)
		for i := range 40 { // a stroke each 10 ms, in two repositories
			r.ask([]string{"a", "b"}[i%2])
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want := []run{{0, 1}, {pause, 2}, {2 * pause, 2}, {3 * pause, 2}}
		if len(got) != len(want) {
			t.Fatalf("the runs are %v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("run %d is %v, want %v", i, got[i], want[i])
			}
		}
	})
}

// Proofs are made once there was no change for a pause, the next change ends them, and they
// are made again after it.
func TestProofsFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		begin := time.Now()
		var got []string
		note := func(what string) { got = append(got, fmt.Sprintf("%s %d", what, time.Since(begin).Milliseconds())) }
		r := newRuns(func([]string) bool {
			note("look")
			return true
		}, func(ctx context.Context) {
			note("prove")
			select {
			case <-time.After(time.Second):
				note("proved")
			case <-ctx.Done():
				note("ended")
			}
		})
		go r.loop(ctx)
		for _, wait := range []int{100, 400, 5000} {
			r.ask("root")
			time.Sleep(time.Duration(wait) * time.Millisecond)
		}
		synctest.Wait()
		want := []string{"look 0", "look 150", "prove 300", "ended 500", "look 500", "prove 650", "proved 1650"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///a/b%20c/%F0%9F%A6%80.json": "/a/b c/🦀.json", "file://localhost/a": "/a", "file:///a/../b": "/b",
		"untitled:Untitled-1": "", "file://other/a": "", "git:/a": "", "%": "", "": "", "file:a": "", "file:///a%00b": "",
	} {
		got, ok := fileOf(uri)
		if got != want || ok != (want != "") {
			t.Errorf("%q is %q", uri, got)
		}
	}
	if got := uriOf("/a/b c/🦀#.json"); got != "file:///a/b%20c/%F0%9F%A6%80%23.json" {
		t.Errorf("got %q", got)
	}
}
