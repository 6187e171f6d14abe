package journal

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// CloseNow closes the epoch of a partition, if it has one.
func (j *Journal) CloseNow(ctx context.Context, partition string) error {
	r, err := j.readRoot(ctx, partition)
	if err != nil || r.epoch == 0 {
		return err
	}
	if err = j.closeEpoch(ctx, partition, r); errors.Is(err, azerr.ErrConflict) || errors.Is(err, azerr.ErrNotFound) || errors.Is(err, azerr.ErrExists) {
		return nil // another program was faster
	}
	return err
}
