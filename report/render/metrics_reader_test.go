package render

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A reader of its own stands against the writing of metrics. It follows the grammar
// and the rules of OpenMetrics 1.0.0 for those types of families that packgate has,
// knows nothing of how they were written, and refuses whatever else there is.

var (
	typeLine   = regexp.MustCompile(`^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (gauge|info|stateset|histogram)$`)
	unitLine   = regexp.MustCompile(`^# UNIT ([a-zA-Z_:][a-zA-Z0-9_:]*) ([a-zA-Z0-9_:]+)$`)
	helpLine   = regexp.MustCompile(`^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\n"\\]|\\[n"\\])*)$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)$`)
	labelHead  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\n"\\]|\\[n"\\])*)"`)
)

// reservedSuffixes are those that a sample of some type of family has: a gauge that
// ends in one would clash with it.
var reservedSuffixes = []string{"_total", "_created", "_count", "_sum", "_bucket", "_gcount", "_gsum", "_info"}

// readFamily is the family that is being read.
type readFamily struct {
	name, kind, unit, help string
	groups                 map[string]float64 // the sum of the states, by all other labels
	last                   string             // of the groups
	samples                int
	counts                 map[string]*readCounts // of a histogram, by all labels but the bound
}

// metricsReader holds what was read.
type metricsReader struct {
	family  *readFamily
	names   []string // of families
	samples map[string]float64
}

// readMetrics reads metrics, by name and labels.
func readMetrics(text string) (map[string]float64, error) {
	body, found := strings.CutSuffix(text, "# EOF\n")
	if !found || !utf8.ValidString(text) || body != "" && !strings.HasSuffix(body, "\n") {
		return nil, fmt.Errorf("it is no UTF-8 that ends with # EOF")
	}
	r := &metricsReader{samples: map[string]float64{}}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		read := r.sample
		if strings.HasPrefix(line, "#") {
			read = r.describe
		}
		if err := read(line); err != nil {
			return nil, fmt.Errorf("%w: %q", err, line)
		}
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	if !slices.IsSorted(r.names) {
		return nil, fmt.Errorf("the families are not sorted: %q", r.names)
	}
	return r.samples, nil
}

// describe reads a line about a family: its type, then its unit, then its help.
func (r *metricsReader) describe(line string) error {
	if m := typeLine.FindStringSubmatch(line); m != nil {
		if err := r.end(); err != nil {
			return err
		}
		if slices.Contains(r.names, m[1]) {
			return fmt.Errorf("the family is not the first of its name")
		}
		for _, suffix := range reservedSuffixes {
			if strings.HasSuffix(m[1], suffix) {
				return fmt.Errorf("the suffix %s is reserved", suffix)
			}
		}
		r.family = &readFamily{name: m[1], kind: m[2], groups: map[string]float64{}, counts: map[string]*readCounts{}}
		r.names = append(r.names, m[1])
		return nil
	}
	f := r.family
	if m := unitLine.FindStringSubmatch(line); m != nil && f != nil && m[1] == f.name && f.unit == "" && f.help == "" && f.samples == 0 {
		f.unit = m[2]
		if f.kind != "gauge" && f.kind != "histogram" || !strings.HasSuffix(f.name, "_"+f.unit) {
			return fmt.Errorf("the unit does not fit the family")
		}
		return nil
	}
	if m := helpLine.FindStringSubmatch(line); m != nil && f != nil && m[1] == f.name && f.help == "" && f.samples == 0 {
		f.help = m[2]
		return nil
	}
	return fmt.Errorf("this describes nothing")
}

// end checks a family that was read whole.
func (r *metricsReader) end() error {
	f := r.family
	if f == nil {
		return nil
	}
	if f.help == "" || f.samples == 0 {
		return fmt.Errorf("%s has no help or no sample", f.name)
	}
	for labels, c := range f.counts {
		if f.kind == "histogram" && !c.whole() {
			return fmt.Errorf("%s{%s} is no whole histogram: %+v", f.name, labels, *c)
		}
	}
	for labels, states := range f.groups {
		if f.kind == "stateset" && states != 1 {
			return fmt.Errorf("%s{%s} is in %v states", f.name, labels, states)
		}
	}
	return nil
}

// sample reads a sample of the family.
func (r *metricsReader) sample(line string) error {
	m, f := sampleLine.FindStringSubmatch(line), r.family
	if m == nil || f == nil {
		return fmt.Errorf("this is no sample")
	}
	want := f.name
	if f.kind == "info" {
		want += "_info"
	}
	labels, err := readLabels(m[2])
	if err != nil {
		return err
	}
	value, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return err
	}
	if f.kind == "histogram" {
		return r.count(m, labels, value)
	}
	state, isState := labels[f.name]
	if m[1] != want || f.kind == "info" && value != 1 || isState != (f.kind == "stateset") || isState && (state == "" || value != 0 && value != 1) {
		return fmt.Errorf("this is no sample of the %s %s", f.kind, f.name)
	}
	delete(labels, f.name)
	group := groupOf(labels)
	if _, before := f.groups[group]; before && (!isState || f.last != group) {
		return fmt.Errorf("samples of one series are apart, or there twice")
	}
	f.groups[group] += value
	f.last = group
	return r.keep(m, value)
}

// groupOf returns labels as one text.
func groupOf(labels map[string]string) (group string) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		group += name + "=" + quoteMetric(labels[name]) + ","
	}
	return group
}

// readCounts is what was read of one histogram.
type readCounts struct {
	bound, count, total, sum float64 // of the last bucket; of _count and _sum
	buckets                  int
	counted, summed          bool
}

// whole reports whether the last bucket has all that there are.
func (c *readCounts) whole() bool {
	return c.counted && c.summed && math.IsInf(c.bound, 1) && c.count == c.total && c.buckets > 1
}

// count reads a sample of a histogram: its buckets in the order of their bounds, each with
// no less than the one before, then how many there are and their sum.
func (r *metricsReader) count(m []string, labels map[string]string, value float64) error {
	f := r.family
	le, bucket := labels["le"]
	delete(labels, "le")
	group := groupOf(labels)
	c := f.counts[group]
	if c == nil {
		c = &readCounts{bound: math.Inf(-1)}
		f.counts[group] = c
	} else if f.last != group {
		return fmt.Errorf("samples of one series are apart")
	}
	f.last = group
	switch m[1] {
	case f.name + "_bucket":
		bound, err := strconv.ParseFloat(le, 64)
		if err != nil || bound <= c.bound || value < c.count || c.counted || !strings.ContainsAny(le, ".I") {
			return fmt.Errorf("this is no next bucket of %+v", *c)
		}
		c.bound, c.count, c.buckets = bound, value, c.buckets+1
	case f.name + "_count":
		c.total, c.counted, bucket = value, true, !bucket
	case f.name + "_sum":
		c.sum, c.summed, bucket = value, true, !bucket
	default:
		bucket = false
	}
	if !bucket || value < 0 {
		return fmt.Errorf("this is no sample of the histogram %s", f.name)
	}
	return r.keep(m, value)
}

// keep keeps a sample that was read.
func (r *metricsReader) keep(m []string, value float64) error {
	r.family.samples++
	series := m[1]
	if m[2] != "" {
		series += "{" + m[2] + "}"
	}
	if _, twice := r.samples[series]; twice {
		return fmt.Errorf("the sample is there twice")
	}
	r.samples[series] = value
	return nil
}

// readLabels reads labels with their values as they were before they were escaped.
func readLabels(s string) (map[string]string, error) {
	labels := map[string]string{}
	for first := true; s != ""; first = false {
		if !first {
			var comma bool
			if s, comma = strings.CutPrefix(s, ","); !comma {
				return nil, fmt.Errorf("there is no comma before %q", s)
			}
		}
		m := labelHead.FindStringSubmatch(s)
		if m == nil {
			return nil, fmt.Errorf("%q is no label", s)
		}
		if _, twice := labels[m[1]]; twice {
			return nil, fmt.Errorf("the label %s is there twice", m[1])
		}
		labels[m[1]] = metricUnescapes.Replace(m[2])
		s = s[len(m[0]):]
	}
	return labels, nil
}

// metricUnescapes undoes the escapes of a value, from the left to the right.
var metricUnescapes = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`)

// quoteMetric returns a value as it is in a sample, a character at a time.
func quoteMetric(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\n':
			b.WriteString(`\n`)
		case '"', '\\':
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
