package cachedstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrConflict = errors.New("changed by somebody else")

type Layout struct {
	PartitionKey string
	RowKey       string
	Widgets      string
}

type entry struct {
	layout Layout
	etag   azcore.ETag
}

type Layouts struct {
	table *aztables.Client
	mu    sync.Mutex
	cache map[uuid.UUID]entry
}

func NewLayouts(table *aztables.Client) *Layouts {
	return &Layouts{table: table, cache: map[uuid.UUID]entry{}}
}

func (l *Layouts) get(ctx context.Context, user uuid.UUID) (entry, error) {
	if e, ok := l.cache[user]; ok {
		return e, nil
	}
	resp, err := l.table.GetEntity(ctx, user.String(), "layout", nil)
	if err != nil {
		return entry{}, fmt.Errorf("layout of %s: %w", user, err)
	}
	e := entry{etag: resp.ETag}
	if err := json.Unmarshal(resp.Value, &e.layout); err != nil {
		return entry{}, err
	}
	l.cache[user] = e
	return e, nil
}

// Append adds a widget; on ErrConflict the caller may try again.
func (l *Layouts) Append(ctx context.Context, user, widget uuid.UUID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.get(ctx, user)
	if err != nil {
		return err
	}
	if len(e.layout.Widgets) > 4000 {
		return fmt.Errorf("layout of %s is full", user)
	}
	e.layout.Widgets += " " + widget.String()
	body, err := json.Marshal(e.layout)
	if err != nil {
		return err
	}
	resp, err := l.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &e.etag, UpdateMode: aztables.UpdateModeReplace})
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
		return ErrConflict // MISTAKE: After a 412 the cached row stays in the cache, so every later save of it fails with the same stale ETag.
	}
	if err != nil {
		return fmt.Errorf("saving layout of %s: %w", user, err)
	}
	e.etag = resp.ETag
	l.cache[user] = e
	return nil
}
