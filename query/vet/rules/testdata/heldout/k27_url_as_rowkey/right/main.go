package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type visit struct {
	PartitionKey string
	RowKey       string
	URL          string
	Status       int32
}

type Log struct {
	visits *aztables.Client
}

func rowKey(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:])
}

// Record stores the last status seen at an address.
func (l *Log) Record(ctx context.Context, address string, status int) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("address: %w", err)
	}
	if u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("not an https address: %s", address)
	}
	body, err := json.Marshal(visit{
		PartitionKey: u.Hostname(),
		RowKey:       rowKey(u),
		URL:          address,
		Status:       int32(status),
	})
	if err != nil {
		return err
	}
	_, err = l.visits.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("recording visit: %w", err)
	}
	return nil
}
