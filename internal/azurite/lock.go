package azurite

import (
	"context"
	"fmt"
)

// lock waits until this process has the exclusive lock on the named file. The kernel releases it when the process ends.
func lock(ctx context.Context, name string) (release func(), err error) {
	type outcome struct {
		release func()
		err     error
	}
	wait, err := lockFile(name)
	if err != nil {
		return nil, fmt.Errorf("azurite: lock: %w", err)
	}
	done := make(chan outcome)
	go func() {
		release, err := wait()
		select {
		case done <- outcome{release, err}:
		case <-ctx.Done():
			if err == nil {
				release()
			}
		}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return nil, fmt.Errorf("azurite: lock: %w", got.err)
		}
		return got.release, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("azurite: wait for the process that starts Azurite: %w", ctx.Err())
	}
}
