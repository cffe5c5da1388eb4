//go:build !linux

package stack

import "syscall"

// dieWithParent changes nothing where the kernel does not offer it: a child that its
// parent did not end stays.
func dieWithParent() *syscall.SysProcAttr { return nil }
