package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
)

// StageOutput is what one stage of the compile of a golden case decided. Output
// and Hash are absent where the compile ended before the stage did; the
// heading says at which stage, and why.
type StageOutput struct {
	Heading
	Stage     string          `json:"stage"`                // one of compiler.Stages
	StageHash string          `json:"stage_hash,omitempty"` // of the output
	Output    json.RawMessage `json:"output,omitempty"`
}

// NewStageOutput returns the output of a stage, one of compiler.Stages, for a golden
// case of a pack. The error is for an output without a JSON form.
func NewStageOutput(u *repo.Unit, r golden.Result, stage string) (StageOutput, error) {
	out := StageOutput{Heading: NewHeading(u, r), Stage: stage}
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

// WriteStageOutput writes a stage's output for a person: the case, the stage, its
// hash, and the output as indented JSON.
func WriteStageOutput(w io.Writer, s StageOutput) error {
	t := &terminal{}
	t.heading(s.Heading)
	t.headed("stage", fmt.Sprintf("%d, %s: %s", slices.Index(compiler.Stages(), s.Stage)+1, s.Stage, cmp.Or(s.StageHash, without(s))))
	if s.Output != nil {
		if err := t.json(s.Output); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// without says why a stage has no output.
func without(s StageOutput) string {
	if s.Ended != nil && s.Ended.Stage == s.Stage {
		return "ended the compile"
	}
	return "not reached"
}

// json writes JSON as it stands, indented.
func (t *terminal) json(src []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, src, "", "  "); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		t.line("%s", text(strings.TrimRight(line, "\n")))
	}
	return nil
}
