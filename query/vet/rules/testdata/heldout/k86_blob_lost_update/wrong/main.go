package roster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

const maxRoster = 1 << 20

type Roster struct {
	Shifts map[string]string
}

type File struct {
	blob *blockblob.Client
}

// Assign puts a person on a shift.
func (f *File) Assign(ctx context.Context, shift, person string) error {
	resp, err := f.blob.DownloadStream(ctx, nil)
	if err != nil {
		return fmt.Errorf("downloading roster: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxRoster))
	if err != nil {
		return fmt.Errorf("reading roster: %w", err)
	}
	var r Roster
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("decoding roster: %w", err)
	}
	if r.Shifts == nil {
		r.Shifts = map[string]string{}
	}
	r.Shifts[shift] = person
	if raw, err = json.Marshal(r); err != nil {
		return err
	}
	if _, err := f.blob.UploadBuffer(ctx, raw, nil); err != nil { // MISTAKE: The JSON blob is read, changed and uploaded without If-Match, so one of two concurrent changes is lost.
		return fmt.Errorf("uploading roster: %w", err)
	}
	return nil
}
