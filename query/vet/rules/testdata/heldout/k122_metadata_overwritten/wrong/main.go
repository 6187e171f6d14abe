package scanner

import (
	"context"
	"fmt"
	"maps"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Verdict string

const (
	Clean    Verdict = "clean"
	Infected Verdict = "infected"
)

type Marker struct {
	uploads *container.Client
}

// Mark notes the verdict of the scanner at a blob next to its other metadata.
func (m *Marker) Mark(ctx context.Context, name string, v Verdict) error {
	b := m.uploads.NewBlobClient(name)
	props, err := b.GetProperties(ctx, nil)
	if err != nil {
		return fmt.Errorf("properties of %s: %w", name, err)
	}
	if old, ok := props.Metadata["Verdict"]; ok && old != nil && *old == string(v) {
		return nil
	}
	metadata := map[string]*string{}
	maps.Copy(metadata, map[string]*string{"Verdict": to.Ptr(string(v))}) // MISTAKE: SetMetadata replaces all metadata, so setting the scan result removes everything that was there before.
	_, err = b.SetMetadata(ctx, metadata, &blob.SetMetadataOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: props.ETag},
		},
	})
	if err != nil {
		return fmt.Errorf("marking %s: %w", name, err)
	}
	return nil
}
