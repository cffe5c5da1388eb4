package detect

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

// every returns all expressions of the package, by what they find.
func every() map[string][]expression {
	all := map[string][]expression{
		"assignments": {assigned}, "marks": {marks}, "refusals": {refusals}, "e-mail addresses": {email}, "phone numbers": {phone}, "dates": {datelike},
	}
	for _, p := range patterns {
		all[p.kind] = append(all[p.kind], p.form)
	}
	for _, p := range programs {
		all[p.kind] = append(all[p.kind], p.form)
	}
	for _, d := range identifiers {
		all[d.kind] = append(all[d.kind], d.form)
	}
	for _, o := range orders {
		all["orders"] = append(all["orders"], o.form)
	}
	return all
}

// An expression is compiled when it is first tried, so a test tries them all.
func TestExpressionsCompile(t *testing.T) {
	for kind, expressions := range every() {
		for _, e := range expressions {
			first := e()
			if first.MatchString("") {
				t.Errorf("%s: the expression matches the empty text", kind)
			}
			if e() != first {
				t.Errorf("%s: the expression is compiled twice", kind)
			}
		}
	}
}

// sample writes a text that an expression matches, its borders aside.
func sample(b *strings.Builder, re *syntax.Regexp, r *rand.Rand) {
	times := func(least, most int) {
		if most < 0 {
			most = least + 3
		}
		for range least + r.IntN(most-least+1) {
			sample(b, re.Sub[0], r)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		i := 2 * r.IntN(len(re.Rune)/2)
		b.WriteRune(re.Rune[i] + r.Int32N(re.Rune[i+1]-re.Rune[i]+1))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(b, sub, r)
		}
	case syntax.OpAlternate:
		sample(b, re.Sub[r.IntN(len(re.Sub))], r)
	case syntax.OpCapture:
		sample(b, re.Sub[0], r)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	}
}

// around returns a few characters that may be beside a match.
func around(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString([]string{"a", "Z", "_", " ", "-", ".", "7", "é", "@", "/"}[r.IntN(10)])
	}
	return b.String()
}

// matching calls visit with texts that an expression matches, many for each.
func matching(t *testing.T, e expression, visit func(text string)) {
	t.Helper()
	re, err := syntax.Parse(e().String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	seen := 0
	for range 500 {
		var b strings.Builder
		b.WriteString(around(r))
		sample(&b, re, r)
		b.WriteString(around(r))
		if text := b.String(); e().MatchString(text) {
			seen++
			visit(text)
		}
	}
	if seen < 50 {
		t.Errorf("only %d of 500 texts match %s", seen, e().String())
	}
}

// No text that the form of an identifier matches is passed over for what it holds too
// little of, and the table asks for nearly as many digits as every match has.
func TestIdentifiersAreNotPassedOver(t *testing.T) {
	for _, d := range identifiers {
		fewest := charCount{1 << 20, 1 << 20, 1 << 20}
		matching(t, d.form, func(text string) {
			n := count(text)
			if !d.least.in(n) {
				t.Errorf("%s: %q is passed over", d.kind, text)
			}
			fewest = charCount{min(fewest.digits, n.digits), min(fewest.capitals, n.capitals), min(fewest.bare, n.bare)}
		})
		if !d.least.in(fewest) || fewest.digits > d.least.digits+2 {
			t.Errorf("%s: texts that match hold %+v at least, the table says %+v", d.kind, fewest, d.least)
		}
	}
}

// Nor is a text passed over that holds an e-mail address.
func TestAddressesAreNotPassedOver(t *testing.T) {
	matching(t, email, func(text string) {
		if !addressed(text) {
			t.Errorf("%q is passed over", text)
		}
	})
	for text, want := range map[string]bool{
		"": false, "@": false, "pack@1.0.0": false, "a@b": false, "a@b.": false, "a@b.c": false, "a@b.co": true, "pack@1.0.0 and a@b.co": true, "a@é.co": false,
	} {
		if addressed(text) != want {
			t.Errorf("%q: %v, want %v", text, !want, want)
		}
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]charCount{
		"": {}, "12 34": {4, 0, 4}, "a12 34": {4, 0, 2}, "12_ 3": {3, 0, 1}, "AB12": {2, 2, 0}, "1é2": {2, 0, 2}, "12-A": {2, 1, 2}, "1.0.0-rc1": {4, 0, 3},
	} {
		if got := count(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
