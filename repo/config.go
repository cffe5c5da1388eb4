package repo

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// ConfigName is the file that configures packgate for a repository.
const ConfigName = ".packgate.yaml"

// Config is what a repository's .packgate.yaml says. The zero Config is that of
// a repository without one.
type Config struct {
	Document       *pack.Document        `json:"-"` // nil where there is no file
	Packs          pack.List[pack.Text]  `json:"packs"`
	Environments   pack.List[pack.Text]  `json:"environments"`
	Strict         pack.Flag             `json:"strict"`
	FailOn         pack.Text             `json:"fail_on"`
	Labels         pack.Flag             `json:"labels"` // whether pull requests get a label by class
	Severity       pack.Dict[pack.Text]  `json:"severity"`
	Waivers        pack.List[Waiver]     `json:"waivers"`
	Evidence       pack.Dict[pack.Text]  `json:"evidence"`
	Arguments      pack.Dict[*pack.Node] `json:"arguments"` // see Meanings
	Classes        pack.List[ClassRow]   `json:"classes"`
	SharedPacks    pack.List[pack.Text]  `json:"shared_packs"`
	EndpointScheme pack.List[pack.Text]  `json:"endpoint_schemes"`
	Compile        struct {
		pack.Part
		Tokenizer         pack.Text `json:"tokenizer"`
		MaxTruncationRate pack.Num  `json:"max_truncation_rate"`
	} `json:"compile"`
	Evaluation struct {
		pack.Part
		Required              *pack.Node `json:"required"`
		MinSamples            pack.Num   `json:"min_samples"`
		PricePer1KTokensCents pack.Num   `json:"price_per_1k_tokens_cents"`
	} `json:"evaluation"`
	LimitFields struct {
		pack.Part
		MaxBytes        *pack.Node `json:"max_bytes"`
		MaxDepth        pack.Num   `json:"max_depth"`
		MaxValues       pack.Num   `json:"max_values"`
		MaxApprovalMode pack.Text  `json:"max_approval_mode"`
		MaxWaiverDays   pack.Num   `json:"max_waiver_days"` // see WaiverDays
	} `json:"limits"`
	Publish Publish `json:"publish"`
	Notices Notices `json:"notices"`
	// Evaluator is who has to have signed scorecards; without a workflow nobody has to.
	Evaluator Identity   `json:"evaluator"`
	Reviews   Reviews    `json:"reviews"`
	Require   *pack.Node `json:"require"` // see Requirements

	// Limits are the reader's limits, the defaults where the config sets none.
	Limits pack.Limits `json:"-"`
}

// ClassRow overrides the class of one kind of change.
type ClassRow struct {
	pack.Part
	Change pack.Text `json:"change"`
	Class  pack.Text `json:"class"`
	Reason pack.Text `json:"reason" text:"prose"`
}

// DefaultConfig returns the config of a repository that has none.
func DefaultConfig() *Config { return &Config{Limits: pack.DefaultLimits()} }

// Share marks those of the packs that the config lists as used by several tenants; a nil pack is
// ignored.
func (c *Config) Share(packs ...*pack.Pack) {
	for _, p := range packs {
		if p != nil && slices.Contains(pack.Values(c.SharedPacks), p.PackMeta.PackID.Value) {
			p.Shared = true
		}
	}
}

// ScorecardsRequired reports whether a scorecard has to measure every eval target, and returns the
// metrics that it must have; none if any will do.
func (c *Config) ScorecardsRequired() (required bool, metrics []string) {
	n := c.Evaluation.Required
	if n == nil || n.Kind == pack.Bool {
		return n != nil && n.Bool, nil
	}
	for _, item := range n.Items {
		metrics = append(metrics, item.Text)
	}
	return true, metrics
}

// maxConfig is the size of a config, in bytes, beyond which it is not read: the
// YAML parser takes minutes over a large one that is made for it.
const maxConfig = 128 << 10

const configHint = "remove what it does not need, such as waivers that have ended"

// Config reads the repository's config, the default one where there is none.
// Name is the config file relative to the root; "" means ConfigName, which may
// be absent. The error is a *Problem or Problems where the config is not valid.
func (f *Files) Config(name string) (*Config, error) {
	if name == "" {
		there, err := f.Exists(ConfigName)
		if err != nil {
			return nil, err
		}
		if !there {
			return DefaultConfig(), nil
		}
		name = ConfigName
	}
	src, err := f.within(name, maxConfig, "config", configHint)
	if err != nil {
		return nil, err
	}
	return ParseConfig(f.Show(name), src)
}

// maxTrustedRoot is the size of a trusted root, in bytes, beyond which it is not read.
const maxTrustedRoot = 4 << 20

// TrustedRoot returns the trusted root that a config names; nil where it names none.
func (f *Files) TrustedRoot(c *Config) ([]byte, error) {
	if !c.Publish.TrustedRoot.OK {
		return nil, nil
	}
	return f.within(path.Clean(c.Publish.TrustedRoot.Value), maxTrustedRoot, "trusted root", "name the trusted_root.json of a Sigstore")
}

// ParseConfig reads a config from its bytes; file is its name in messages. The
// error is a *Problem or Problems where the config is not valid.
func ParseConfig(file string, src []byte) (*Config, error) {
	if len(src) > maxConfig {
		return nil, tooLarge(file, "config", int64(len(src)), maxConfig, configHint)
	}
	doc, err := readYAML(file, src)
	if err != nil {
		return nil, err
	}
	c := DefaultConfig()
	c.Document = doc
	if err := decodeValid("config", doc, c); err != nil {
		return nil, err
	}
	problems := slices.Concat(c.checkPatterns(), c.setLimits(), c.checkPublish(), c.checkFreshness(), c.checkNotices(), c.checkReviews(), c.checkWaivers())
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) checkPatterns() (problems Problems) {
	for _, list := range []pack.List[pack.Text]{c.Packs, c.Environments} {
		values := make([]string, len(list.Items))
		for i, item := range list.Items {
			values[i] = item.Value
		}
		_, wrong := parseAll(values)
		for _, i := range slices.Sorted(maps.Keys(wrong)) {
			wrong[i].Location = list.Items[i].Node.Location()
			problems = append(problems, wrong[i])
		}
	}
	return problems
}

// decodeValid reads a file of the repository's own into what it says, once it is valid.
func decodeValid(schema string, doc *pack.Document, into any) error {
	if err := validate(schema, doc); err != nil {
		return err
	}
	return Unreadable(pack.Decode(doc.Root, into))
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
			Location: location, Message: message, Hint: hint(doc, v, schema),
		})
	}
	slices.SortStableFunc(problems, func(a, b *Problem) int {
		return cmp.Compare(a.Location.Start.Offset, b.Location.Start.Offset)
	})
	return problems.Err()
}

// hint returns what to do about a violation. YAML reads some words as numbers or
// texts against the intention of their author, which the message does not explain.
func hint(doc *pack.Document, v schemas.Violation, schema string) string {
	at := doc.Root.Find(v.Pointer)
	if v.Keyword == "type" && at != nil {
		wanted, _, _ := strings.Cut(v.Message, ", not")
		switch {
		case strings.HasSuffix(wanted, "a string") && (at.Kind == pack.Number || at.Kind == pack.Bool):
			return fmt.Sprintf("put it in quotes: %q", at.Raw())
		case strings.HasSuffix(wanted, "a boolean") && at.Kind == pack.String:
			return "write true or false, without quotes"
		case strings.Contains(wanted, "an array") && at.Kind == pack.String:
			return fmt.Sprintf("write a list: [%q]", at.Text)
		}
	}
	return "see packgate schema " + schema
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
	return location, printable(at.KeyedPath()) + ": " + v.Message
}

// printable returns a path as it is, quoted where a name in it would write more
// than itself into a message.
func printable(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
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

// Err returns the problems as an error, nil where there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// setLimits sets the reader's limits. A config can only lower them: beyond the defaults a
// pack could exhaust the machine, and nothing could publish it.
func (c *Config) setLimits() (problems Problems) {
	l, most := &c.LimitFields, pack.DefaultLimits()
	if n := l.MaxBytes; n != nil {
		size, err := parseSize(n, most.MaxBytes)
		if err != nil {
			problems = append(problems, Problemf("leave it out, or write a lower number of bytes, or a text such as \"1MiB\"", "%v", err).placed(n))
		}
		c.Limits.MaxBytes = size
	}
	for _, limit := range []struct {
		pack.Num
		most int
		set  *int
	}{
		{l.MaxDepth, most.MaxDepth, &c.Limits.MaxDepth},
		{l.MaxValues, most.MaxValues, &c.Limits.MaxValues},
	} {
		switch {
		case !limit.OK:
		case limit.Value > float64(limit.most):
			problems = append(problems, Problemf("leave it out, or write a lower one", "must be at most %d, which is the default, not %s", limit.most, pack.Clip(limit.Node.Text, 32)).placed(limit.Node))
		default:
			*limit.set = int(limit.Value)
		}
	}
	return problems
}

// parseSize reads a number of bytes, plain or with one of the units that the
// schema of the config lists. There is a most that it can be.
func parseSize(n *pack.Node, most int) (int, error) {
	size := n.Number
	if n.Kind == pack.String {
		digits := strings.TrimRight(n.Text, " BKMGi")
		number, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			number = math.Inf(1) // the schema lets nothing but digits through
		}
		units := map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
		size = number * units[strings.TrimSpace(n.Text[len(digits):])]
	}
	if size > float64(most) {
		return 0, fmt.Errorf("must be at most %d MiB, which is the default, not %s", most>>20, pack.Clip(n.Text, 32))
	}
	return int(size), nil
}

// Unreadable returns the reader's faults as an error, for files that have to be
// whole; nil where there are none.
func Unreadable(faults []pack.Fault) error {
	problems := make(Problems, len(faults))
	for i, fault := range faults {
		problems[i] = &Problem{Location: fault.Location, Message: fault.Message, Hint: fault.Hint}
	}
	return problems.Err()
}
