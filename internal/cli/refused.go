package cli

import (
	"github.com/contextosai/packgate/report/model"
)

// refusedError is a decision against something, and no failure to make one: it exits
// as findings do.
type refusedError struct{ problems []model.Problem }

func (e *refusedError) Error() string { return e.problems[0].Message }
