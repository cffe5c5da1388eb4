// Package schemas holds the JSON Schemas (draft 2020-12) of every document that
// packgate reads or writes, and checks documents against them.
//
// Two families live here. The contracts (Context Pack, CompiledContext,
// RunContext, invokeAgent, ReplayPacket, DecisionRecord) carry the identifiers
// under which ContextOS publishes them; their text is ours, written from the
// published tables. The rest describes packgate's own files: config,
// environment catalog, golden case, overlay, scorecard, tool surface, replay
// side file and report.
//
// The Context Pack schema is deliberately narrow. A fault has one rule id, so
// the schema checks shapes (types, required members, closed word lists that no
// rule owns) and leaves limits of meaning, such as ranges, durations and
// approval modes, to the rules that can explain them. It is open, as the
// published one is; unknown members are found by asking [KnownMembers]. Our own
// formats are closed: a misspelled key in a config must never be ignored.
//
// Schemas are embedded, parsed and compiled on first use, each at most once.
// Nothing is ever loaded from disk or network: a reference to a schema that is
// not in this package is an error. The validator's error tree is turned into
// flat violations in plain words, so that no caller depends on the validator.
package schemas

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrUnknownName is wrapped by the errors of [Source] and [Validate] when no
// schema has the given name.
var ErrUnknownName = errors.New("unknown schema")

// Violation is one cause for which a document does not fit its schema.
type Violation struct {
	// Pointer is the JSON pointer (RFC 6901) of the value at fault, "" for the
	// document itself. For a missing or unknown member it is the object that
	// lacks or holds the member.
	Pointer string
	// Keyword is the JSON Schema keyword that failed, such as "type".
	Keyword string
	// Message says what was wanted and what is there, in lower case and without
	// a final period. It includes the suggestion in Nearest.
	Message string
	// Property is the member concerned, for "required" and
	// "additionalProperties"; else "".
	Property string
	// Nearest is the known member or word that was probably meant, or "".
	Nearest string
}

// Names returns the names of all schemas, sorted.
func Names() []string {
	return slices.Clone(shared().names)
}

// Source returns the text of the schema with the given name, as embedded. The
// error wraps [ErrUnknownName] and lists the known names.
func Source(name string) ([]byte, error) {
	if _, err := shared().entry(name); err != nil {
		return nil, err
	}
	return files.ReadFile(name + fileSuffix)
}

// Validate checks doc against the schema with the given name and returns one
// violation per cause, sorted by pointer and without repetitions; none means
// that the document fits. Doc is decoded JSON: map[string]any, []any, string,
// float64, bool and nil, with finite numbers. The error is for what is no fault
// of the document: an unknown name (wrapping [ErrUnknownName]), a value that is
// not JSON, or a failure of the validator.
func Validate(name string, doc any) (violations []Violation, err error) {
	lib := shared()
	entry, err := lib.entry(name)
	if err != nil {
		return nil, err
	}
	schema, err := entry.compiled()
	if err != nil {
		return nil, err
	}
	// The validator has panicked on hostile numbers before. A document must
	// not be able to end the process, whatever it holds.
	defer func() {
		if r := recover(); r != nil {
			violations, err = nil, fmt.Errorf("schema %s: the validator failed: %v", name, r)
		}
	}()
	failure := schema.Validate(doc)
	if failure == nil {
		return nil, nil
	}
	var tree *jsonschema.ValidationError
	if !errors.As(failure, &tree) {
		return nil, fmt.Errorf("schema %s: %w", name, failure)
	}
	flat := flattener{library: lib, document: doc, known: map[string][]string{}}
	if err := flat.walk(tree); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	flat.unknown(flat.closed)
	return tidy(flat.violations), nil
}

// tidy sorts violations, removes repetitions, and drops "missing" where an
// unknown member beside it was recognised as the missing one's misspelling:
// that is one mistake, and the suggestion says both.
func tidy(all []Violation) []Violation {
	misspelled := map[[2]string]bool{}
	for _, v := range all {
		if v.Keyword == "additionalProperties" && v.Nearest != "" {
			misspelled[[2]string{v.Pointer, v.Nearest}] = true
		}
	}
	all = slices.DeleteFunc(all, func(v Violation) bool {
		return v.Keyword == "required" && misspelled[[2]string{v.Pointer, v.Property}]
	})
	slices.SortFunc(all, func(a, b Violation) int {
		if c := comparePointers(a.Pointer, b.Pointer); c != 0 {
			return c
		}
		return slices.Compare(
			[]string{a.Property, a.Keyword, a.Message},
			[]string{b.Property, b.Keyword, b.Message})
	})
	return slices.Compact(all)
}

//go:embed *.schema.json
var files embed.FS

const (
	fileSuffix = ".schema.json"
	baseURL    = "https://contextosai.com/schemas/"
	ownFolder  = "packgate/"
	// heldURL is how the library knows the schemas. The validator holds each schema against its
	// metaschema, which takes longer than all else that a check of one small pack does, but not
	// those at the address of the metaschemas themselves. That the embedded ones fit it is tested.
	heldURL = "https://json-schema.org/contextosai/"
)

// shared is the one library of the process. It is filled lazily and never
// changes what it has once answered.
var shared = sync.OnceValue(newLibrary)

// library knows every embedded schema and remembers what it has parsed and
// compiled. One compiler serves all schemas, because several refer to the same
// ones; it does not allow concurrent compilation, hence the lock.
type library struct {
	names   []string
	entries map[string]*entry

	compiling sync.Mutex
	compiler  *jsonschema.Compiler

	known sync.Map // of members, by the name of the schema and the pointer
	kept  atomic.Int32
}

// entry is one schema. Both functions do their work once.
type entry struct {
	parsed   func() (map[string]any, error)
	compiled func() (*jsonschema.Schema, error)
}

func newLibrary() *library {
	// The only error of Glob is a malformed pattern, and this one is not.
	paths, _ := fs.Glob(files, "*"+fileSuffix)
	lib := &library{entries: map[string]*entry{}}
	for _, path := range paths {
		name := strings.TrimSuffix(path, fileSuffix)
		lib.names = append(lib.names, name)
		lib.entries[name] = &entry{
			parsed:   sync.OnceValues(func() (map[string]any, error) { return parse(name) }),
			compiled: sync.OnceValues(func() (*jsonschema.Schema, error) { return lib.compile(name) }),
		}
	}
	slices.Sort(lib.names)
	lib.compiler = jsonschema.NewCompiler()
	lib.compiler.DefaultDraft(jsonschema.Draft2020)
	lib.compiler.AssertFormat()
	lib.compiler.UseLoader(lib)
	return lib
}

// entry returns the schema with the given name; the error wraps ErrUnknownName.
func (lib *library) entry(name string) (*entry, error) {
	if e := lib.entries[name]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("%w %q%s (known: %s)", ErrUnknownName, name, didYouMean(Nearest(name, lib.names)), strings.Join(lib.names, ", "))
}

// Load gives the compiler the schema with the given identifier. It is the only
// loader there is, so nothing outside this package is ever read.
func (lib *library) Load(url string) (any, error) {
	doc, err := lib.byURL(url)
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// byURL returns the parsed schema whose $id is url (without a fragment).
func (lib *library) byURL(url string) (map[string]any, error) {
	e := lib.entries[nameOf(url)]
	if e == nil {
		return nil, fmt.Errorf("%q is not one of the embedded schemas, and no other source is read", url)
	}
	doc, err := e.parsed()
	if err != nil {
		return nil, err
	}
	if doc["$id"] != url {
		return nil, fmt.Errorf("%q is not an embedded schema; the one of that name is %q", url, doc["$id"])
	}
	return doc, nil
}

func (lib *library) compile(name string) (*jsonschema.Schema, error) {
	doc, err := lib.entries[name].parsed()
	if err != nil {
		return nil, err
	}
	id, ok := doc["$id"].(string)
	if !ok {
		return nil, fmt.Errorf("schema %s has no $id", name)
	}
	lib.compiling.Lock()
	defer lib.compiling.Unlock()
	schema, err := lib.compiler.Compile(id)
	if err != nil {
		return nil, fmt.Errorf("schema %s does not compile: %w", name, err)
	}
	return schema, nil
}

// nameOf returns the schema name within an identifier such as heldURL with
// packgate/config.v1.schema.json, or "".
func nameOf(url string) string {
	rest, ok := strings.CutPrefix(url, heldURL)
	if !ok {
		return ""
	}
	rest = strings.TrimPrefix(rest, ownFolder)
	rest, ok = strings.CutSuffix(rest, fileSuffix)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, ".")
	return name
}

// parse reads a schema, whose identifier and references begin with heldURL.
func parse(name string) (map[string]any, error) {
	source, err := files.ReadFile(name + fileSuffix)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{`"$id": "`, `"$ref": "`} {
		source = bytes.ReplaceAll(source, []byte(key+baseURL), []byte(key+heldURL))
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		return nil, fmt.Errorf("schema %s is not JSON: %w", name, err)
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("schema %s is not an object", name)
	}
	return object, nil
}
