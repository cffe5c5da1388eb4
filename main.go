// Command packgate is the gate in front of every ContextOS Context Pack: it
// validates packs, compiles their golden cases, classifies what changed, and
// says whether a pull request may go in. It works the same on a laptop and as a
// GitHub Action.
package main

import (
	"os"

	"github.com/contextosai/packgate/internal/cli"
	_ "github.com/contextosai/packgate/internal/heap" // prepares the memory
	"github.com/contextosai/packgate/internal/release"
)

func main() { os.Exit(cli.Run(release.Version)) }
