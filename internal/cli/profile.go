package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/cobra"
)

// profile measures a command from its beginning to its end, into the files that the
// flags name.
type profile struct {
	cpu, trace string
	// stops end what was started, the last one first.
	stops []func() error
}

// addFlags adds the flags to a command and to all of its commands, and starts what
// they ask for before any of them does anything. A command that was called wrongly
// starts nothing, and so leaves no file.
func (p *profile) addFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile for go tool pprof into this `file`")
	f.StringVar(&p.trace, "trace", "", "write an execution trace for go tool trace into this `file`")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return p.start() }
}

// start begins to measure. What was started before an error is stopped by stop.
func (p *profile) start() error {
	if p.cpu != "" {
		if err := p.into(p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) }, pprof.StopCPUProfile); err != nil {
			return fmt.Errorf("write the CPU profile: %w", err)
		}
	}
	if p.trace != "" {
		if err := p.into(p.trace, func(f *os.File) error { return trace.Start(f) }, trace.Stop); err != nil {
			return fmt.Errorf("write the execution trace: %w", err)
		}
	}
	return nil
}

// around runs a command, and stops what it measured whatever comes of the command. An
// error that the command has yet to say matters more than one of the measurement.
func (p *profile) around(command func() error) (err error) {
	defer func() {
		stopped := p.stop()
		if _, said := err.(*verdictError); stopped != nil && (said || err == nil) {
			err = fmt.Errorf("write what was measured: %w", stopped)
		}
	}()
	return command()
}

// into starts a measurement that is written into a file as it goes.
func (p *profile) into(name string, start func(*os.File) error, stop func()) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := start(f); err != nil {
		return errors.Join(err, f.Close())
	}
	p.stops = append(p.stops, func() error {
		stop()
		return f.Close()
	})
	return nil
}

// stop ends all measurements and closes their files.
func (p *profile) stop() error {
	var errs []error
	for len(p.stops) > 0 {
		last := len(p.stops) - 1
		errs = append(errs, p.stops[last]())
		p.stops = p.stops[:last]
	}
	return errors.Join(errs...)
}
