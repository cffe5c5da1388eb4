package atomicfile

import (
	"errors"
	"io/fs"
	"sync"
)

// writing is held, for reading, while files are moved to their places or created beside them.
var writing sync.RWMutex

// waits has each *wait that is there.
var waits sync.Map

// wait is a file or a folder that waits beside its place.
type wait struct {
	name   string
	remove func() error
}

// besides creates a file or folder that waits beside its place. After Stop it never returns.
func besides(make func() (remove func() error, err error)) (*wait, error) {
	writing.RLock()
	defer writing.RUnlock()
	remove, err := make()
	if err != nil {
		return nil, err
	}
	w := &wait{remove: remove}
	waits.Store(w, nil)
	return w, nil
}

// keep moves what waits to its place. The caller holds writing.
func (w *wait) keep(move func() error) error {
	err := move()
	if err == nil {
		w.forget()
	}
	return err
}

// discard removes what waits.
func (w *wait) discard() error {
	defer w.forget() // only now: Stop removes it too until it is gone
	if err := w.remove(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (w *wait) forget() { waits.Delete(w) }

// Stop is called before the process ends. It waits until files that are being moved are in their places,
// keeps all others from being written, and removes what waits beside its place.
func Stop() error {
	writing.Lock()
	var errs []error
	for w := range waits.Range {
		if err := w.(*wait).discard(); !errors.Is(err, fs.ErrClosed) { // whoever closed the folder has removed it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
