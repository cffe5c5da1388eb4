package cli

import (
	"cmp"

	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

func newNotes(env *Env) *cobra.Command {
	var o look
	var config string
	c := &cobra.Command{
		Use: "notes OLD NEW", Short: "write the release notes of a version of a pack",
		Long: `Compares two packs, files or folders, and says for those who use the pack what the new
version brings: what agents can do more or less, for exactly which requests, which
requests end in an error now or no longer do, which texts are new, and how many changes
each layer has. packgate publish puts the same notes into the signed statement.

Exit status: 0 they are written, whatever the class; 2 and 3 as for all commands.`,
		Example: "  packgate notes old/pack.json packs/support --format markdown",
		Args:    wants("OLD", "NEW"),
		RunE: func(c *cobra.Command, args []string) error {
			d, shown, err := compared(c.Context(), args, config)
			if err != nil {
				return err
			}
			return cmp.Or(render.WriteNotes(env.Stdout, o.format, shown, env.style(o.color)), d.Contradicted())
		},
	}
	c.Flags().StringVar(&config, "config", "", "config `file` (default: that of NEW's repository, "+repo.ConfigName+")")
	o.addFlags(c, diffFormats())
	return c
}

// notesOf returns the notes of a version for its signed statement.
func notesOf(p *model.Pack) *statement.Notes {
	n := render.NotesOf(p)
	out := &statement.Notes{Effect: n.Effect, Omitted: n.Omitted}
	for _, one := range n.Items {
		out.Items = append(out.Items, statement.Note(one))
	}
	return out
}

// shownNotes returns the notes of a signed statement as they are shown; nil for none.
func shownNotes(n *statement.Notes) *model.Notes {
	if n == nil {
		return nil
	}
	out := &model.Notes{Effect: n.Effect, Omitted: n.Omitted, Items: []model.Note{}}
	for _, one := range n.Items {
		out.Items = append(out.Items, model.Note(one))
	}
	return out
}
