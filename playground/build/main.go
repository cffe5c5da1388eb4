// Command build makes what a binary with the tag playground embeds: the playground as
// WebAssembly, compressed, and the program of the Go distribution that starts it.
// It is run from the root of the module (make playground); the same sources and the
// same Go give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const folder = "playground/dist"

func main() {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "build the playground:", err)
		os.Exit(1)
	}
}

func build() error {
	root, err := run(nil, "env", "GOROOT")
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "packgate-playground-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary) // only a copy is left there
	program := filepath.Join(temporary, "playground.wasm")
	if _, err := run([]string{"GOOS=js", "GOARCH=wasm", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0"},
		"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", program, "./playground/wasm"); err != nil {
		return err
	}
	wasm, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = w.Write(wasm)
	if err := errors.Join(err, w.Close(), os.MkdirAll(folder, 0o755)); err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(folder, "playground.wasm.gz"), packed.Bytes(), 0o644)
	if err := errors.Join(err, os.WriteFile(filepath.Join(folder, "wasm_exec.js"), glue, 0o644)); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes of WebAssembly, %d compressed\n", folder, len(wasm), packed.Len())
	return nil
}

// run runs the go command with more variables in its environment.
func run(environment []string, arguments ...string) (string, error) {
	c := exec.Command("go", arguments...)
	c.Env = append(os.Environ(), environment...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return string(out), nil
}
