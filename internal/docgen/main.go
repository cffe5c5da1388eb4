// Command docgen writes the documentation that is made from the code: with no
// argument into docs/, with -check it compares and says what is out of date. With -man
// FOLDER it writes the manual pages of a release there.
package main

//go:generate go run -C ../.. ./internal/docgen

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// page is one generated file.
type page struct {
	file  string
	write func(*bytes.Buffer)
}

func pages() []page {
	return []page{
		{"rules.md", writeRules},
		{"classes.md", writeClasses},
	}
}

func main() {
	check := flag.Bool("check", false, "compare with the files instead of writing them")
	dir := flag.String("dir", "docs", "the folder of the documentation")
	manual := flag.String("man", "", "write the manual pages into this folder, and nothing else")
	day := flag.String("date", "", "the day that the manual pages name, YYYY-MM-DD")
	flag.Parse()
	var err error
	if *manual != "" {
		err = writeManual(*manual, *day)
	} else {
		err = run(*dir, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	var errs []error
	for _, p := range pages() {
		var b bytes.Buffer
		p.write(&b)
		name := filepath.Join(dir, p.file)
		if !check {
			errs = append(errs, os.WriteFile(name, b.Bytes(), 0o644))
			continue
		}
		old, err := os.ReadFile(name)
		if err != nil {
			errs = append(errs, err)
		} else if !slices.Equal(old, b.Bytes()) {
			errs = append(errs, fmt.Errorf("%s is out of date; run go generate ./... and commit it", name))
		}
	}
	return errors.Join(errs...)
}
