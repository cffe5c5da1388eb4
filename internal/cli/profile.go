package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"slices"

	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/spf13/cobra"
)

// profile measures a command from beginning to end, into the files that the flags name.
type profile struct {
	cpu, trace string
	stops      []func() error // stops end what was started, the last one first
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
		if err := p.into(p.cpu, pprof.StartCPUProfile, pprof.StopCPUProfile); err != nil {
			return fmt.Errorf("measure the CPU time: %w", err)
		}
	}
	if p.trace != "" {
		if err := p.into(p.trace, trace.Start, trace.Stop); err != nil {
			return fmt.Errorf("trace the execution: %w", err)
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
			err = stopped
		}
	}()
	return command()
}

// into starts a measurement that is put into its file once it is whole.
func (p *profile) into(name string, start func(io.Writer) error, stop func()) error {
	file, err := atomicfile.Open(name)
	if err != nil {
		return err
	}
	noted := &noting{to: file}
	if err := start(noted); err != nil {
		return errors.Join(err, file.Discard())
	}
	p.stops = append(p.stops, func() error {
		stop()
		if noted.err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", name, atomicfile.Cause(noted.err)), file.Discard())
		}
		return file.Keep()
	})
	return nil
}

// stop ends all measurements and closes their files.
func (p *profile) stop() error {
	var errs []error
	for _, stop := range slices.Backward(p.stops) {
		errs = append(errs, stop())
	}
	p.stops = nil
	return errors.Join(errs...)
}

// noting keeps the first error of writing: those who measure write and do not look.
type noting struct {
	to  io.Writer
	err error
}

func (n *noting) Write(b []byte) (int, error) {
	if n.err != nil {
		return 0, n.err
	}
	written, err := n.to.Write(b)
	n.err = err
	return written, err
}
