package repo

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/schemas"
)

// ConfigName is the file that configures packgate for a repository.
const ConfigName = ".packgate.yaml"

// Config is what a repository's .packgate.yaml says. The zero Config is that of
// a repository without one.
type Config struct {
	Document       *pack.Document       `json:"-"` // nil where there is no file
	Packs          pack.List[pack.Text] `json:"packs"`
	Environments   pack.List[pack.Text] `json:"environments"`
	Strict         pack.Flag            `json:"strict"`
	Severity       pack.Dict[pack.Text] `json:"severity"`
	Waivers        pack.List[Waiver]    `json:"waivers"`
	Evidence       pack.Dict[pack.Text] `json:"evidence"`
	Classes        pack.List[ClassRow]  `json:"classes"`
	SharedPacks    pack.List[pack.Text] `json:"shared_packs"`
	EndpointScheme pack.List[pack.Text] `json:"endpoint_schemes"`
	Compile        struct {
		pack.Part
		Tokenizer         pack.Text `json:"tokenizer"`
		MaxTruncationRate pack.Num  `json:"max_truncation_rate"`
	} `json:"compile"`
	LimitFields struct {
		pack.Part
		MaxBytes        *pack.Node `json:"max_bytes"`
		MaxDepth        pack.Num   `json:"max_depth"`
		MaxValues       pack.Num   `json:"max_values"`
		MaxApprovalMode pack.Text  `json:"max_approval_mode"`
	} `json:"limits"`

	// Limits are the reader's limits, the defaults where the config sets none.
	Limits pack.Limits `json:"-"`
}

// Waiver is one exception: findings of a rule in a pack, at a keyed path and
// below it, count no longer.
type Waiver struct {
	pack.Part
	Rule    pack.Text `json:"rule"`
	Pack    pack.Text `json:"pack"`
	Path    pack.Text `json:"path"`
	Reason  pack.Text `json:"reason"`
	Owner   pack.Text `json:"owner"`
	Expires pack.Text `json:"expires"`
}

// ClassRow overrides the class of one kind of change.
type ClassRow struct {
	pack.Part
	Change pack.Text `json:"change"`
	Class  pack.Text `json:"class"`
	Reason pack.Text `json:"reason"`
}

// DefaultConfig returns the config of a repository that has none.
func DefaultConfig() *Config { return &Config{Limits: pack.DefaultLimits()} }

// ParseConfig reads a config from its bytes. The error is a *Problem, or
// several joined, where it is not valid.
func ParseConfig(file string, src []byte) (*Config, error) {
	if len(src) > pack.DefaultLimits().MaxBytes {
		return nil, &Problem{Location: finding.Location{File: file}, Message: fmt.Sprintf("the config has %d bytes, too many to be one", len(src))}
	}
	doc, err := readYAML(file, src)
	if err != nil {
		return nil, err
	}
	if err := validate("config", doc); err != nil {
		return nil, err
	}
	c := DefaultConfig()
	pack.Decode(doc.Root, c)
	c.Document = doc
	return c, c.setLimits()
}

// validate checks a file of the repository's own against its schema. All that
// is wrong is reported, joined into one error.
func validate(schema string, doc *pack.Document) error {
	violations, err := schemas.Validate(schema, doc.Root.Any())
	if err != nil {
		return err
	}
	var problems Problems
	for _, v := range violations {
		location, message := Describe(doc, v)
		problems = append(problems, &Problem{
			Location: location, Message: message, Hint: "see packgate schema " + schema,
		})
	}
	return problems.err()
}

// Describe returns the place of a schema violation in its document, and its
// message with the path of what it is about.
func Describe(doc *pack.Document, v schemas.Violation) (finding.Location, string) {
	at := doc.Root.Find(v.Pointer)
	if at == nil {
		at = doc.Root
	}
	location := at.Location()
	if unknown := at.Get(v.Property); v.Property != "" && unknown != nil {
		location = unknown.NameLocation()
	}
	if v.Pointer == "" {
		return location, v.Message
	}
	return location, at.KeyedPath() + ": " + v.Message
}

// Problems are several problems of one file.
type Problems []*Problem

// Error returns one problem a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Is reports that problems are ones of wrong use.
func (p Problems) Is(target error) bool { return target == ErrUse }

func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

func (c *Config) setLimits() error {
	l := &c.LimitFields
	if n := l.MaxBytes; n != nil {
		size, err := parseSize(n)
		if err != nil {
			return &Problem{Location: n.Location(), Message: err.Error(), Hint: `write a number of bytes, or a text such as "4MiB"`}
		}
		c.Limits.MaxBytes = size
	}
	if l.MaxDepth.OK {
		c.Limits.MaxDepth = int(l.MaxDepth.Value)
	}
	if l.MaxValues.OK {
		c.Limits.MaxValues = int(l.MaxValues.Value)
	}
	return nil
}

// mostBytes is the largest document that any config can allow: 1 GiB.
const mostBytes = 1 << 30

// parseSize reads a number of bytes, plain or with one of the units B, KiB and MiB.
func parseSize(n *pack.Node) (int, error) {
	size := n.Number
	if n.Kind == pack.String {
		text, unit := strings.TrimSpace(n.Text), 1.0
		for suffix, factor := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20} {
			if rest, ok := strings.CutSuffix(text, suffix); ok {
				text, unit = strings.TrimSpace(rest), factor
			}
		}
		number, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "B")), 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no size", n.Text)
		}
		size = number * unit
	}
	if size < 1 || size > mostBytes || size != math.Trunc(size) {
		return 0, fmt.Errorf("%s is no size between 1 byte and 1 GiB", strings.TrimSpace(n.Raw()))
	}
	return int(size), nil
}
