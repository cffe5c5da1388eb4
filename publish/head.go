package publish

import (
	"context"

	"github.com/contextosai/packgate/publish/statement"
)

// head returns the newest record of a pack's chain, zero where it has none: publishing keeps
// no chain yet, so that a status names the states and the pins of a pack alone.
func (c *Checker) head(ctx context.Context, packID string) (statement.Head, error) {
	return statement.Head{}, ctx.Err()
}
