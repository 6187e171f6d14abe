package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Limits of an entity group transaction.
// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions
const (
	MaxBatchOps   = 100
	MaxBatchBytes = 4 << 20
)

// BatchFailure is the operation for which the service refused a transaction.
// Nothing of the transaction was carried out.
type BatchFailure struct {
	Cause *azerr.Error
	Index int // into the writes, -1 when the service did not say
}

func (e *BatchFailure) Error() string { return e.Cause.Error() }
func (e *BatchFailure) Unwrap() error { return e.Cause }

// Batch carries out writes as one entity group transaction and gives the new
// ETags in their order, "" for deletes. All or nothing; one request. The caller
// has checked that they are 1 to 100, in one partition, and no row twice.
func (c *Client) Batch(ctx context.Context, writes []*Write) ([]string, error) {
	for i := range writes {
		if err := writes[i].Check(); err != nil {
			return nil, &BatchFailure{&azerr.Error{Op: "batch", Err: err}, i}
		}
	}
	if err := c.needsPolicy(ctx, writes); err != nil {
		return nil, err
	}
	var reply batchReply
	k := &call{client: c, write: true, batch: writes, rows: len(writes)}
	k.receive = func(resp *http.Response, body []byte) (err error) {
		reply, err = parseBatchReply(header(resp, "Content-Type"), body, len(writes))
		if reply.failure != nil {
			whole := *resp // its body is read, and the buffer of body used again
			whole.Body = io.NopCloser(bytes.NewReader(bytes.Clone(body)))
			reply.resp = &whole
		}
		return err
	}
	var actions []aztables.TransactionAction
	if c.mode.Load() == accelerated {
		// A delete is the operation that costs aztables the least.
		actions = []aztables.TransactionAction{{ActionType: aztables.TransactionTypeDelete, Entity: stubEntity}}
	} else {
		actions = plainActions(writes)
	}
	err := c.run(ctx, "batch", k, func(ctx context.Context) error {
		return submit(ctx, c.table, actions, k)
	})
	if k.body != nil {
		k.body.release()
	}
	if err != nil {
		return nil, err
	}
	if f := reply.failure; f != nil {
		unsure := k.unsure() || !definite(f.status, f.code, nil)
		return nil, &BatchFailure{&azerr.Error{
			Op: "batch", Status: f.status, Code: f.code, Kind: azerr.Classify(f.status, f.code),
			Unsure: unsure, Unanswered: unsure && k.unanswered(),
			Err: &azcore.ResponseError{StatusCode: f.status, ErrorCode: f.code, RawResponse: reply.resp},
		}, f.index}
	}
	return reply.etags, nil
}

var stubEntity = []byte(`{"PartitionKey":"-","RowKey":"-"}`)

// needsPolicy refuses what aztables cannot address in a transaction: a quote in
// a key is not doubled there, and an empty partition key is refused. Whether the
// policy is there may still be unknown; then one point read finds out.
func (c *Client) needsPolicy(ctx context.Context, writes []*Write) error {
	if c.mode.Load() == accelerated {
		return nil
	}
	for i, w := range writes {
		if w.Kind == Insert {
			continue // addressed by the table alone
		}
		if w.PartitionKey != "" && !strings.Contains(w.PartitionKey, "'") && !strings.Contains(w.RowKey, "'") {
			continue
		}
		if c.mode.Load() == unknownMode {
			c.probe(ctx, w)
			if c.mode.Load() == accelerated {
				return nil
			}
		}
		return &BatchFailure{&azerr.Error{Op: "batch", Err: azerr.ErrNeedsAccelerate}, i}
	}
	return nil
}

// probe makes a request whose answer does not matter, to learn the mode.
func (c *Client) probe(ctx context.Context, w *Write) {
	_, _ = c.Query(ctx, Query{Filter: "PartitionKey eq '" + strings.ReplaceAll(w.PartitionKey, "'", "''") + "' and RowKey eq ''", Top: 1},
		func([]byte) error { return nil })
}

// plainActions are the writes as aztables takes them.
func plainActions(writes []*Write) []aztables.TransactionAction {
	actions := make([]aztables.TransactionAction, len(writes))
	for i, w := range writes {
		a := aztables.TransactionAction{Entity: w.Body, IfMatch: ifMatch(w.ETag)}
		switch w.Kind {
		case Insert:
			a.ActionType, a.IfMatch = aztables.TransactionTypeAdd, nil
		case InsertOrMerge:
			a.ActionType, a.IfMatch = aztables.TransactionTypeInsertMerge, nil
		case InsertOrReplace:
			a.ActionType, a.IfMatch = aztables.TransactionTypeInsertReplace, nil
		case Merge:
			a.ActionType = aztables.TransactionTypeUpdateMerge
		case Replace:
			a.ActionType = aztables.TransactionTypeUpdateReplace
		case Delete:
			a.ActionType, a.Entity = aztables.TransactionTypeDelete, keysOnly(w.PartitionKey, w.RowKey)
		}
		actions[i] = a
	}
	return actions
}

// submit calls aztables, whose reading of the reply is then ignored: it takes a
// cut reply for success, panics on an empty one, and reports a failed
// transaction as 202 with no code. The captured reply is read instead.
func submit(ctx context.Context, table *aztables.Client, actions []aztables.TransactionAction, k *call) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if k.resp == nil {
				panic(p)
			}
			err = nil
		}
	}()
	_, err = table.SubmitTransaction(ctx, actions, nil)
	if k.seen || k.resp == nil || k.resp.StatusCode != http.StatusAccepted {
		return err
	}
	if _, perr := runtime.Payload(k.resp); perr != nil {
		return fmt.Errorf("%w: %w", azerr.ErrBadReply, perr)
	}
	return nil
}

var errBatchReply = errors.New("malformed answer to a transaction")
