package gallery

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"
)

type picture struct {
	PartitionKey string
	RowKey       string
	Caption      string
	Blob         string
}

type Gallery struct {
	pictures *aztables.Client
	files    *container.Client
}

// Add stores a picture and its caption.
func (g *Gallery) Add(ctx context.Context, album uuid.UUID, caption string, jpeg io.Reader) (uuid.UUID, error) {
	if len(caption) > 500 {
		return uuid.Nil, fmt.Errorf("caption has %d bytes", len(caption))
	}
	id := uuid.New()
	name := album.String() + "/" + id.String() + ".jpg"
	body, err := json.Marshal(picture{PartitionKey: album.String(), RowKey: id.String(), Caption: caption, Blob: name})
	if err != nil {
		return uuid.Nil, err
	}
	if _, err := g.pictures.AddEntity(ctx, body, nil); err != nil { // MISTAKE: The row that names the blob is written before the blob, so a failed upload leaves a row pointing to nothing.
		return uuid.Nil, fmt.Errorf("picture row: %w", err)
	}
	if _, err := g.files.NewBlockBlobClient(name).UploadStream(ctx, jpeg, nil); err != nil {
		return uuid.Nil, fmt.Errorf("picture blob: %w", err)
	}
	return id, nil
}
