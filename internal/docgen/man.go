package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/contextosai/packgate/internal/cli"
	"github.com/spf13/cobra/doc"
)

// writeManual writes a page of section 1 for each command into a folder, which is made
// where it is missing. The day, YYYY-MM-DD, is the one that the pages name, so that the
// same source gives the same bytes on any other day.
func writeManual(dir, day string) error {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return fmt.Errorf("-date is %q, wanted a day such as 2026-05-09: it is the one that the pages name", day)
	}
	root := cli.Commands(cli.Env{Getenv: func(string) string { return "" }, Stdout: os.Stdout, Stderr: os.Stderr})
	root.DisableAutoGenTag = true
	err = os.MkdirAll(dir, 0o755)
	return errors.Join(err, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "packgate", Manual: "packgate"}, dir))
}
