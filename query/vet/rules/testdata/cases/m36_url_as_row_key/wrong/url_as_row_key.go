package bookmarks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Bookmark struct {
	PartitionKey string
	RowKey       string
	URL          string
	Title        string
}

type Bookmarks struct {
	marks *aztables.Client
}

func rowKey(link string) string {
	return strings.TrimSuffix(link, "/") // MISTAKE: slashes and question marks are not allowed in a RowKey
}

// Keep adds a bookmark or renames the old one.
func (b *Bookmarks) Keep(ctx context.Context, user, link, title string) error {
	if u, err := url.Parse(link); err != nil || u.Host == "" {
		return fmt.Errorf("no link: %q", link)
	}
	body, err := json.Marshal(Bookmark{PartitionKey: user, RowKey: rowKey(link), URL: link, Title: title})
	if err != nil {
		return err
	}
	_, err = b.marks.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Drop removes a bookmark; a missing one is fine.
func (b *Bookmarks) Drop(ctx context.Context, user, link string) error {
	_, err := b.marks.DeleteEntity(ctx, user, rowKey(link), nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return nil
	}
	return err
}
