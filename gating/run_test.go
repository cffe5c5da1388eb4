package gating

import (
	"errors"
	"time"

	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// testRun returns a run that words errors as they are.
func testRun(failOn string) *Run {
	return NewRun(Options{
		Command: "check", Version: "test", FailOn: failOn,
		Now: func() time.Time { return time.Date(2026, 5, 9, 0, 0, 0, 0, time.UTC) },
		Explain: func(err error) ([]model.Problem, int) {
			if errors.Is(err, repo.ErrUse) {
				return []model.Problem{{Message: err.Error()}}, ExitUse
			}
			return []model.Problem{{Message: err.Error()}}, ExitFailure
		},
	})
}
