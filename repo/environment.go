package repo

import (
	"errors"
	"fmt"

	"github.com/contextosai/packgate/pack"
)

// Environment is an environment catalog: what exists in one environment. Every
// section may be absent (its Node is nil); a check that needs an absent section
// is reported as not checked.
type Environment struct {
	Document *pack.Document `json:"-"`
	Path     string         `json:"-"` // of its file, relative to the repository's root
	// PinsFile is the pins file of the environment, nil where it has none.
	PinsFile *Pins `json:"-"`
	pack.Part
	Environment     pack.Text                             `json:"environment"`
	Runtime         pack.Text                             `json:"runtime"`
	Ontologies      pack.Dict[pack.Dict[OntologyVersion]] `json:"ontologies"`
	Snapshots       pack.Dict[pack.Text]                  `json:"snapshots"`
	Endpoints       pack.Dict[Endpoint]                   `json:"endpoints"`
	Issuers         pack.List[pack.Text]                  `json:"issuers"`
	Intents         pack.List[pack.Text]                  `json:"intents"`
	ApproverRoles   pack.List[pack.Text]                  `json:"approver_roles"`
	Schemas         pack.List[pack.Text]                  `json:"schemas"`
	Regions         pack.List[pack.Text]                  `json:"regions"`
	MaxApprovalMode pack.Text                             `json:"max_approval_mode"`
	Pins            pack.Dict[pack.Text]                  `json:"pins"` // what Pinned asks for where there is no pins file
	Promote         Promote                               `json:"promote"`
	Complete        pack.Flag                             `json:"complete"` // it refuses pins to versions of which a check did not run
	// Unconfirmed says that nobody has read what the catalog lists, which a program took from the
	// packs themselves: every section is then absent, so that nothing passes for being in it.
	Unconfirmed pack.Flag `json:"unconfirmed"`
}

// OntologyVersion lists the types of one version of an ontology.
type OntologyVersion struct {
	pack.Part
	EntityTypes       pack.List[pack.Text] `json:"entity_types"`
	RelationshipTypes pack.List[pack.Text] `json:"relationship_types"`
}

// Endpoint says which tenants an endpoint serves, and the least approval mode of each
// capability that it has.
type Endpoint struct {
	pack.Part
	Tenants      pack.List[pack.Text] `json:"tenants"`
	Capabilities pack.Dict[pack.Text] `json:"capabilities"`
}

// Name returns the name of the environment, or of its file where it has none.
func (e *Environment) Name() string {
	if e.Environment.Value != "" {
		return e.Environment.Value
	}
	return e.Document.File
}

// inForce are the members of an unconfirmed catalog that hold: those that do not come from packs.
var inForce = []string{"$schema", "environment", "pins", "promote", "complete", "unconfirmed"}

// confirmed returns the catalog without the sections that nobody has confirmed.
func (e *Environment) confirmed() *Environment {
	if !e.Unconfirmed.Value {
		return e
	}
	return &Environment{
		Document: e.Document, Path: e.Path, Part: e.Part,
		Environment: e.Environment, Pins: e.Pins, Promote: e.Promote, Complete: e.Complete, Unconfirmed: e.Unconfirmed,
	}
}

// Lacks says why nothing is checked against a section of the catalog: nobody has confirmed it,
// or else the section, which words describe, is not there.
func (e *Environment) Lacks(words string) string {
	if e.Unconfirmed.Value {
		return fmt.Sprintf("the catalog of environment %q is not confirmed: read what %s lists, then remove \"unconfirmed\" from it", e.Name(), e.Document.File)
	}
	return fmt.Sprintf("the catalog of environment %q %s", e.Name(), words)
}

// CatalogPatterns returns the patterns of environment catalogs: those of a config, or those that
// hold without one.
func CatalogPatterns(c *Config) []string {
	if patterns := pack.Values(c.Environments); len(patterns) > 0 {
		return patterns
	}
	return []string{"environments/*.json"}
}

// Environments reads the environment catalogs that the config names, or those
// in environments/. A catalog is configuration: one that is not valid is an
// error, Problems of all of them, with which the others are returned.
func (f *Files) Environments(c *Config) ([]*Environment, error) {
	names, err := f.glob(CatalogPatterns(c)...)
	if err != nil {
		return nil, err
	}
	environments, problems := make([]*Environment, 0, len(names)), Problems{}
	for _, name := range names {
		doc, faults, err := f.Document(name, c.Limits)
		var e *Environment
		if err == nil {
			e, err = newEnvironment(name, doc, faults)
		}
		one, many := new(Problem), Problems{}
		switch {
		case err == nil:
			environments = append(environments, e)
		case errors.As(err, &many):
			problems = append(problems, many...)
		case errors.As(err, &one):
			problems = append(problems, one)
		default:
			return nil, err
		}
	}
	if err := f.around(environments, problems, c.Limits); err != nil {
		return environments, err
	}
	return environments, nil
}

// around reads what is about several catalogs at once: their pins, and from where each is
// promoted. Where catalogs could not be read, which the problems say, nobody knows which
// environments there are, and that is said alone.
func (f *Files) around(environments []*Environment, problems Problems, limits pack.Limits) error {
	many := Problems{}
	err := f.TakePins(environments, limits)
	switch {
	case errors.As(err, &many) && len(problems) == 0:
		problems = append(problems, many...)
	case err != nil && !errors.As(err, &many):
		return err
	}
	if len(problems) == 0 {
		problems = checkPromotions(environments)
	}
	return problems.Err()
}

// ParseEnvironment reads an environment catalog from its bytes; file is its name
// in messages. The error is a *Problem or Problems where it is not valid.
func ParseEnvironment(file string, src []byte, limits pack.Limits) (*Environment, error) {
	doc, faults := pack.Read(file, src, limits)
	return newEnvironment(file, doc, faults)
}

func newEnvironment(name string, doc *pack.Document, faults []pack.Fault) (*Environment, error) {
	if len(faults) > 0 {
		return nil, Unreadable(faults)
	}
	e := &Environment{Document: doc, Path: name}
	if err := decodeValid("environment", doc, e); err != nil {
		return nil, err
	}
	if problems := e.checkPromote(); len(problems) > 0 {
		return nil, problems
	}
	return e.confirmed(), nil
}
