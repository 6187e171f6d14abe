//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package azurite

import (
	"fmt"
	"os/exec"
	"runtime"
)

func lockFile(string) (wait func() (release func(), err error), err error) {
	return nil, fmt.Errorf("%w: file locks are not supported on %s", ErrUnavailable, runtime.GOOS)
}

func detach(*exec.Cmd) {}
