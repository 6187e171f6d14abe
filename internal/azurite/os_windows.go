package azurite

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// lockFile returns a function that waits until it can open the file without sharing, which Windows allows to one
// process at a time.
func lockFile(name string) (wait func() (release func(), err error), err error) {
	const sharingViolation = syscall.Errno(32)
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	return func() (func(), error) {
		for {
			handle, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
				syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
			if err == nil {
				return func() { syscall.CloseHandle(handle) }, nil
			}
			if !errors.Is(err, sharingViolation) {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond) // Windows has no event for the end of a sharing violation
		}
	}, nil
}

// detach separates the command from this process's console, so that a Ctrl-C does not end it: other processes may be
// using it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
