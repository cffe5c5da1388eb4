package schemas

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed *.schema.json
var files embed.FS

const (
	fileSuffix = ".schema.json"
	baseURL    = "https://contextosai.com/schemas/"
	ownFolder  = "packgate/"
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

// nameOf returns the schema name within an identifier such as
// https://contextosai.com/schemas/packgate/config.v1.schema.json, or "".
func nameOf(url string) string {
	rest, ok := strings.CutPrefix(url, baseURL)
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

func parse(name string) (map[string]any, error) {
	source, err := files.ReadFile(name + fileSuffix)
	if err != nil {
		return nil, err
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
