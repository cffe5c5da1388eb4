package build

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// NewStageOutput returns the output of a stage, one of compiler.Stages, for a golden
// case of a pack. The error is for an output without a JSON form.
func NewStageOutput(u *repo.Unit, r golden.Result, stage string) (model.StageOutput, error) {
	out := model.StageOutput{Heading: NewHeading(u, r), Stage: stage}
	if r.Detail == nil {
		return out, nil
	}
	i := slices.IndexFunc(r.Detail.Stages, func(s compiler.StageHash) bool { return s.Name == stage })
	if i < 0 {
		return out, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.Detail.Stages[i].Output); err != nil {
		return out, fmt.Errorf("write the output of stage %s: %w", stage, err)
	}
	out.StageHash, out.Output = r.Detail.Stages[i].Hash, b.Bytes()
	return out, nil
}
