package right

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type PageCache struct {
	table *aztables.Client
	ttl   time.Duration
}

type cached struct {
	PartitionKey string
	RowKey       string
	Etag         string
	Expires      string
}

func cacheKey(rawURL string) (pk, rk string) {
	sum := sha256.Sum256([]byte(rawURL))
	rk = base64.URLEncoding.EncodeToString(sum[:])
	return fmt.Sprintf("%02x", sum[0]), rk
}

func (c *PageCache) Set(ctx context.Context, rawURL, tag string) error {
	row := cached{Etag: tag, Expires: time.Now().UTC().Add(c.ttl).Format(time.RFC3339)}
	row.PartitionKey, row.RowKey = cacheKey(rawURL)
	b, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = c.table.UpsertEntity(ctx, b, nil)
	return err
}

func (c *PageCache) Get(ctx context.Context, rawURL string) (string, bool, error) {
	pk, rk := cacheKey(rawURL)
	r, err := c.table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return "", false, nil
		}
		return "", false, err
	}
	var row cached
	if err := json.Unmarshal(r.Value, &row); err != nil {
		return "", false, err
	}
	exp, err := time.Parse(time.RFC3339, row.Expires)
	return row.Etag, err == nil && time.Now().Before(exp), nil
}
