package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// compiled is what packgate compile shows: cases of a pack, compiled. What is said
// of them is masked as reports are. The compiled contexts that --format json prints
// are the snapshots, and nothing in them is changed.
type compiled struct {
	unit    *repo.Unit
	results []golden.Result
	single  bool // one case was asked for
}

// documents returns the files that may hold a secret that would be shown.
func (c *compiled) documents() []*pack.Document {
	documents := []*pack.Document{c.unit.Document}
	for _, f := range c.unit.Files {
		documents = append(documents, f.Document)
	}
	return documents
}

func (c *compiled) show(w io.Writer, o compileOptions) error {
	asJSON := o.format == "json"
	var err error
	switch {
	case o.explain:
		err = c.explanations(w, asJSON)
	case o.stage != "":
		err = c.stages(w, o.stage, asJSON)
	case asJSON:
		return c.snapshots(w)
	case c.single:
		err = c.context(w)
	}
	if err != nil || asJSON {
		return err
	}
	cases, err := build.Masked(build.NewGoldens(c.results), c.documents())
	if err != nil {
		return err
	}
	return render.WriteGolden(w, cases)
}

func (c *compiled) explanations(w io.Writer, asJSON bool) error {
	list := make([]model.Explanation, len(c.results))
	for i, r := range c.results {
		list[i] = build.NewExplanation(c.unit, r)
	}
	return each(w, c, list, asJSON, render.WriteExplanation)
}

func (c *compiled) stages(w io.Writer, stage string, asJSON bool) error {
	list := make([]model.StageOutput, len(c.results))
	for i, r := range c.results {
		var err error
		if list[i], err = build.NewStageOutput(c.unit, r, stage); err != nil {
			return err
		}
	}
	return each(w, c, list, asJSON, render.WriteStageOutput)
}

// each writes what is said of the cases, one after the other or as JSON.
func each[T any](w io.Writer, c *compiled, list []T, asJSON bool, write func(io.Writer, T) error) error {
	list, err := build.Masked(list, c.documents())
	switch {
	case err != nil:
		return err
	case asJSON && c.single:
		return model.WriteJSON(w, list[0])
	case asJSON:
		return model.WriteJSON(w, list)
	}
	for i, one := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(w, one); err != nil {
			return err
		}
	}
	return nil
}

// context writes the one case as the model gets it.
func (c *compiled) context(w io.Writer) error {
	r := c.results[0]
	heading, err := build.Masked(build.NewHeading(c.unit, r), c.documents())
	if err != nil {
		return err
	}
	if r.Detail == nil || r.Detail.Context == nil {
		return render.WriteContext(w, heading, nil)
	}
	context, err := build.Masked(r.Detail.Context, c.documents())
	if err != nil {
		return err
	}
	return render.WriteContext(w, heading, context)
}

// snapshots prints compiled contexts as they are stored, that of one case or an
// object of all by name.
func (c *compiled) snapshots(w io.Writer) error {
	if !c.single {
		all := map[string]json.RawMessage{}
		for _, r := range c.results {
			if r.Compiled != nil {
				all[r.Case] = r.Compiled
			}
		}
		return model.WriteJSON(w, all)
	}
	r := c.results[0]
	if r.Detail == nil || r.Detail.Context == nil {
		return &repo.Problem{Message: fmt.Sprintf("the case %q does not compile: %s", r.Case, r.Reason), Hint: "use --explain to see why"}
	}
	b, err := r.Detail.Context.Snapshot()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
