package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type FileState struct {
	PartitionKey string
	RowKey       string
	Size         int32
	Digest       string
}

type Manifest struct {
	client *aztables.Client
	root   string
}

func (m *Manifest) key(rel string) string {
	return filepath.ToSlash(rel) // MISTAKE: a slash is not allowed in a RowKey
}

// Put records the state of a file that was backed up.
func (m *Manifest) Put(ctx context.Context, machine, file string, size int32, digest string) error {
	rel, err := filepath.Rel(m.root, file)
	if err != nil {
		return err
	}
	data, err := json.Marshal(FileState{
		PartitionKey: machine,
		RowKey:       m.key(rel),
		Size:         size,
		Digest:       digest,
	})
	if err != nil {
		return err
	}
	if _, err := m.client.UpsertEntity(ctx, data, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil {
		return fmt.Errorf("manifest entry %s: %w", rel, err)
	}
	return nil
}

func (m *Manifest) Forget(ctx context.Context, machine, file string) error {
	rel, err := filepath.Rel(m.root, file)
	if err != nil {
		return err
	}
	_, err = m.client.DeleteEntity(ctx, machine, m.key(rel), nil)
	return err
}
