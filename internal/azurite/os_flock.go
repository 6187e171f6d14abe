//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package azurite

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// lockFile opens the file. The function that it returns waits for the lock.
func lockFile(name string) (wait func() (release func(), err error), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() (func(), error) {
		for {
			err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil {
				return nil, errors.Join(err, file.Close())
			}
			return func() { file.Close() }, nil
		}
	}, nil
}

// detach separates the command from this process's terminal, so that a Ctrl-C does not end it: other processes may be
// using it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
