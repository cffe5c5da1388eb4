package repo

import (
	"fmt"

	"github.com/contextosai/packgate/pack"
)

// maxYAML is the size of a YAML file that is no config, in bytes, beyond which it
// is not read, for the reason of maxConfig.
const maxYAML = 128 << 10

// YAML reads a YAML file of the repository, such as a workflow, as strictly as the
// config is read, into a document with places. Name is relative to the root. The
// error is a *Problem where the file is not there, too large, or not YAML that
// every reader takes alike.
func (f *Files) YAML(name string) (*pack.Document, error) {
	src, size, err := f.read(name, maxYAML)
	if err != nil {
		return nil, err
	}
	if size > maxYAML {
		p := &Problem{Message: fmt.Sprintf("the file has %d bytes, more than the limit of %d", size, maxYAML), Hint: "divide it"}
		p.Location.File = f.Show(name)
		return nil, p
	}
	return readYAML(f.Show(name), src)
}
