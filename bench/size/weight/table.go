package weight

import (
	"fmt"
	"io"
	"strings"
)

// shown is the size from which a module has a row of its own.
const shown = 100_000

// Markdown writes sizes and what a binary is made of as tables. It returns the error
// of the writer.
func Markdown(w io.Writer, s Sizes, c *Composition) error {
	var b strings.Builder
	b.WriteString("# Size\n\nMade by `go run ./bench/size > bench/size.md`: the program for linux/amd64, linked as the Dockerfile does it. " +
		"Sizes are in MB, of 1,000,000 bytes.\n\n| What | MB | at most |\n|---|---:|---:|\n")
	for _, row := range s.budgets() {
		fmt.Fprintf(&b, "| %s | %.2f | %.2f |\n", row.what, mega(row.size), mega(row.most))
	}
	fmt.Fprintf(&b, "\nThe image has two layers, the binary (%.2f) and the CA certificates (%.2f), both with gzip as engines use it unless they are told otherwise. The release pushes them with zstd, which is a tenth smaller. It has no base. "+
		"Its layers are made here without an engine: what a builder adds to an archive, and its config and manifest, are some kilobytes more. "+
		"The certificates are those of the machine that made this page.\n", mega(s.Layer), mega(s.Certificates))
	b.WriteString("\n## By module\n\nCode and data are the symbols of the linker that bear the name of a package. " +
		"Texts, type descriptions and the tables by which the runtime finds its way in the code are shared, and bear no name.\n\n| Module | code | data |\n|---|---:|---:|\n")
	rest := Part{}
	for _, p := range c.Modules {
		if p.Code+p.Data < shown {
			rest.Code, rest.Data = rest.Code+p.Code, rest.Data+p.Data
			continue
		}
		fmt.Fprintf(&b, "| %s | %.2f | %.2f |\n", p.Name, mega(p.Code), mega(p.Data))
	}
	fmt.Fprintf(&b, "| all others, each less than %.1f | %.2f | %.2f |\n", mega(shown), mega(rest.Code), mega(rest.Data))
	b.WriteString("\n## By section\n\n| Section of the file | MB |\n|---|---:|\n")
	for _, p := range c.Sections {
		if p.Data >= shown {
			fmt.Fprintf(&b, "| `%s` | %.2f |\n", p.Name, mega(p.Data))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }
