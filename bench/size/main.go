// Command size prints how large the release binary and the image are, and which
// modules make them so, as Markdown tables.
//
//	go run ./bench/size > bench/size.md
//
// It is to be run in the root of packgate's module, and links the program twice: as
// the Dockerfile does, and with the symbols that tell what belongs to which module.
// It fails where something is beyond its budget.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/contextosai/packgate/bench/size/weight"
)

// certificates is the one file beside the binary in the image, here that of the
// machine at hand: the Dockerfile takes that of its build stage.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "packgate-size-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.CommandContext(ctx, "go", "run", "./playground/build").CombinedOutput(); err != nil {
		return fmt.Errorf("build the playground: %w\n%s", err, out)
	}
	released, err := build(ctx, filepath.Join(dir, "released"), "-s -w -X github.com/contextosai/packgate/internal/release.Version=dev")
	if err != nil {
		return err
	}
	named, err := build(ctx, filepath.Join(dir, "named"), "-w -X github.com/contextosai/packgate/internal/release.Version=dev")
	if err != nil {
		return err
	}
	sizes, err := weight.Measure(released)
	if err != nil {
		return err
	}
	parts, err := weight.Parts(named)
	if err != nil {
		return err
	}
	beside, err := os.ReadFile(certificates)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if sizes.Certificates, err = weight.Layer(beside); err != nil {
		return err
	}
	if err := weight.Markdown(os.Stdout, sizes, parts); err != nil {
		return err
	}
	return sizes.Within()
}

// build returns the program for the platform of the image, linked with flags.
func build(ctx context.Context, name, flags string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=playground,grpcnotrace", "-ldflags", flags, "-o", name, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.ReadFile(name)
}
