package bookmarks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Bookmark struct {
	PartitionKey string
	RowKey       string
	Address      string
	Title        string
}

func rowKey(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:])
}

// Save stores a bookmark of a user; saving it again changes its title.
func Save(ctx context.Context, table *aztables.Client, userID, address, title string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return fmt.Errorf("not a web address: %q", address)
	}
	b := Bookmark{
		PartitionKey: userID,
		RowKey:       rowKey(u.String()),
		Address:      u.String(),
		Title:        title,
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}
