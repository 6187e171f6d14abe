package wire

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Kind is what a write does.
//
// https://learn.microsoft.com/rest/api/storageservices/inserting-and-updating-entities
type Kind int

const (
	Insert          Kind = iota // fails if the row exists
	InsertOrMerge               // no condition
	InsertOrReplace             // no condition
	Merge                       // needs ETag
	Replace                     // needs ETag
	Delete                      // needs ETag
)

var kindNames = [...]string{"insert", "upsert", "upsert", "merge", "replace", "delete"}

func (k Kind) String() string { return kindNames[k] }

// Write is one change of one row.
type Write struct {
	Kind         Kind
	PartitionKey string
	RowKey       string
	Body         []byte // the entity as JSON, with its keys; not used by Delete
	ETag         string // for Merge, Replace, Delete: an ETag or "*"
}

// Check returns an error if the write has no valid ETag but needs one.
func (w *Write) Check() error {
	if w.Kind < Merge {
		return nil
	}
	return azerr.CheckETag(w.ETag)
}

// Write carries out one write and returns the row's new ETag, "" after Delete. It makes one
// request. With an empty partition key it uses Batch.
func (c *Client) Write(ctx context.Context, w Write) (etag string, err error) {
	op := w.Kind.String()
	if err := w.Check(); err != nil {
		return "", &types.Error{Op: op, Err: err}
	}
	if w.PartitionKey == "" && w.Kind != Insert {
		// aztables does not accept an empty partition key in an address.
		return c.writeInBatch(ctx, w)
	}
	k := &call{
		client: c, write: true, again: w.repeatable(), prefer: w.Kind == Insert,
		requestTarget: requestTarget{requestKind(w.Kind), w.PartitionKey, w.RowKey, w.ETag, nil},
	}
	if w.Kind != Delete {
		k.body = fixedBody(w.Body)
	}
	k.receive = func(resp *http.Response, _ []byte) error {
		etag = ""
		if w.Kind == Delete {
			return nil
		}
		etag = header(resp, "Etag")
		return azerr.CheckVersion(etag)
	}
	err = c.run(ctx, op, k, func(ctx context.Context) (err error) {
		entity := w.Body
		if w.Kind != Delete && c.mode.Load() == accelerated {
			entity = keysOnly(w.PartitionKey, w.RowKey) // aztables needs only these, for the address
		}
		switch w.Kind {
		case Insert:
			_, err = c.table.AddEntity(ctx, entity, nil)
		case InsertOrMerge, InsertOrReplace:
			_, err = c.table.UpsertEntity(ctx, entity, &aztables.UpsertEntityOptions{UpdateMode: w.Kind.mode()})
		case Merge, Replace:
			_, err = c.table.UpdateEntity(ctx, entity, &aztables.UpdateEntityOptions{IfMatch: ifMatch(w.ETag), UpdateMode: w.Kind.mode()})
		case Delete:
			_, err = c.table.DeleteEntity(ctx, w.PartitionKey, w.RowKey, &aztables.DeleteEntityOptions{IfMatch: ifMatch(w.ETag)})
		}
		return err
	})
	k.track(ctx, err, &w)
	if err != nil {
		return "", err
	}
	return etag, nil
}

func (c *Client) writeInBatch(ctx context.Context, w Write) (string, error) {
	etags, err := c.Batch(ctx, []*Write{&w})
	if err != nil {
		return "", err
	}
	return etags[0], nil
}

func (k Kind) mode() aztables.UpdateMode {
	if k == Merge || k == InsertOrMerge {
		return aztables.UpdateModeMerge
	}
	return aztables.UpdateModeReplace
}

// keysOnly returns an entity that has only its keys.
func keysOnly(pk, rk string) []byte {
	b, _ := json.Marshal(map[string]string{"PartitionKey": pk, "RowKey": rk}) // strings always encode
	return b
}

// ifMatch returns nil for no condition.
func ifMatch(etag string) *azcore.ETag {
	if etag == "" {
		return nil
	}
	e := azcore.ETag(etag)
	return &e
}
