package journal

import "context"

// CloseNow closes the epoch of a partition, if it has one.
func (j *Journal) CloseNow(ctx context.Context, partition string) error {
	r, err := j.readRoot(ctx, partition)
	if err != nil || r.epoch == 0 {
		return err
	}
	_, err = j.Close(ctx, partition, r.epoch)
	return err
}
