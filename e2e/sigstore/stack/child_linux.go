package stack

import "syscall"

// dieWithParent makes the kernel kill a child when the process that started it ends,
// however that ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
