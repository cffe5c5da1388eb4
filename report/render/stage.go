package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/report/model"
)

// WriteStageOutput writes a stage's output for a person: the case, the stage, its
// hash, and the output as indented JSON.
func WriteStageOutput(w io.Writer, s model.StageOutput) error {
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
func without(s model.StageOutput) string {
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
