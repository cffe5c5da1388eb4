package weight

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// Part is a part of a binary: a module, or a section of the file.
type Part struct {
	Name       string
	Code, Data int64 // in bytes
}

// Composition is what a binary is made of.
type Composition struct {
	Modules  []Part // by the symbols that bear their names, the largest first
	Sections []Part // of the file, the largest first, as Data
}

// These stand for the symbols of no module.
const (
	standard = "standard library"
	shared   = "of several modules, or none: types, strings, tables of the linker"
)

// Parts says what an ELF binary with symbols is made of. It fails where the file
// cannot be read or has no symbols. Memory that the file does not hold is not counted.
func Parts(binary []byte) (*Composition, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, err
	}
	modules := []string{info.Main.Path}
	for _, m := range info.Deps {
		modules = append(modules, m.Path)
	}
	file, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return nil, err
	}
	symbols, err := file.Symbols()
	if err != nil {
		return nil, fmt.Errorf("the binary has no symbols: %w", err)
	}
	c := &Composition{}
	byModule := map[string]*Part{}
	for _, s := range symbols {
		if int(s.Section) >= len(file.Sections) || file.Sections[s.Section].Type == elf.SHT_NOBITS || s.Size == 0 {
			continue
		}
		name := moduleOf(packageOf(s.Name), modules)
		if byModule[name] == nil {
			byModule[name] = &Part{Name: name}
		}
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			byModule[name].Code += int64(s.Size)
		} else {
			byModule[name].Data += int64(s.Size)
		}
	}
	for _, p := range byModule {
		c.Modules = append(c.Modules, *p)
	}
	for _, s := range file.Sections {
		if s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_ALLOC != 0 {
			c.Sections = append(c.Sections, Part{Name: s.Name, Data: int64(s.FileSize)})
		}
	}
	slices.SortFunc(c.Modules, largestFirst)
	slices.SortFunc(c.Sections, largestFirst)
	return c, nil
}

func largestFirst(a, b Part) int {
	return cmp.Or(cmp.Compare(b.Code+b.Data, a.Code+a.Data), cmp.Compare(a.Name, b.Name))
}

// packageOf returns the import path within the name of a symbol, "" where the linker
// made it of several: example.com/a/b.(*T).Method, example.com/a/b.F[go.shape.int].
func packageOf(symbol string) string {
	if i := strings.IndexAny(symbol, "[("); i >= 0 {
		symbol = symbol[:i] // of arguments of types, and of receivers
	}
	if strings.HasPrefix(symbol, "go:") || strings.HasPrefix(symbol, "type:") || strings.HasPrefix(symbol, "$") {
		return ""
	}
	slash := strings.LastIndexByte(symbol, '/') + 1
	folder, rest := symbol[:slash], symbol[slash:]
	name, _, found := strings.Cut(rest, ".")
	if !found {
		return ""
	}
	return folder + strings.ReplaceAll(name, "%2e", ".")
}

// moduleOf returns the module that a package belongs to: the longest of the modules
// that its path begins with. The first one is that of the program, whose main package
// has no path.
func moduleOf(path string, modules []string) string {
	if path == "main" {
		return modules[0]
	}
	longest := ""
	for _, m := range modules {
		if (path == m || strings.HasPrefix(path, m+"/")) && len(m) > len(longest) {
			longest = m
		}
	}
	first, _, _ := strings.Cut(path, "/")
	switch {
	case longest != "":
		return longest
	case path == "":
		return shared
	case !strings.Contains(first, "."):
		return standard
	}
	return shared
}
