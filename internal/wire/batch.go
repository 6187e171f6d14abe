package wire

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Limits of an entity group transaction.
// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions
const (
	MaxBatchOps   = 100
	MaxBatchBytes = 4 << 20
)

// BatchFailure is the operation because of which a transaction was refused. No operation
// of the transaction was carried out.
type BatchFailure struct {
	Cause *types.Error
	Index int // into the writes, -1 if the service did not name one
}

func (e *BatchFailure) Error() string { return e.Cause.Error() }
func (e *BatchFailure) Unwrap() error { return e.Cause }

// Batch carries out writes as one entity group transaction, all or none, and returns the
// new ETags in their order, "" for deletes. The caller has checked that there are 1 to 100
// writes, in one partition, of different rows. Batch makes one request; if aztables cannot
// address a row and it is not known yet whether the policy is in place, one more.
func (c *Client) Batch(ctx context.Context, writes []*Write) ([]string, error) {
	for i := range writes {
		if err := writes[i].Check(); err != nil {
			return nil, &BatchFailure{&types.Error{Op: "batch", Err: err}, i}
		}
	}
	if err := c.needsPolicy(ctx, writes); err != nil {
		return nil, err
	}
	var reply batchReply
	k := &call{client: c, requestTarget: requestTarget{kind: batchRequest}, write: true, again: repeatable(writes), batch: writes}
	k.receive = func(resp *http.Response, body []byte) (err error) {
		reply, err = parseBatchReply(header(resp, "Content-Type"), body, writes)
		if reply.failure != nil {
			whole := *resp // its body has been read, and the buffer of body is reused
			whole.Body = io.NopCloser(bytes.NewReader(bytes.Clone(body)))
			reply.resp = &whole
		}
		return err
	}
	err := c.run(ctx, "batch", k, func(ctx context.Context) error {
		actions := stubActions
		if c.mode.Load() != accelerated {
			actions = plainActions(writes)
		}
		return submit(ctx, c.table, actions, k)
	})
	if k.body != nil {
		k.body.release()
	}
	if err != nil {
		k.track(ctx, err, nil)
		return nil, err
	}
	if f := reply.failure; f != nil {
		unsure := k.earlierTryOpen() || !definite(f.status, f.code, nil)
		failure := &BatchFailure{&types.Error{
			Op: "batch", Status: f.status, Code: f.code, Kind: sdkerr.Classify(f.status, f.code),
			Unsure: unsure, Unanswered: unsure && k.unanswered(),
			Err: &azcore.ResponseError{StatusCode: f.status, ErrorCode: f.code, RawResponse: reply.resp},
		}, f.index}
		k.track(ctx, failure, at(writes, f.index))
		return nil, failure
	}
	k.track(ctx, nil, nil)
	return reply.etags, nil
}

// stubActions are for aztables if the policy replaces the body. A delete is the cheapest.
var stubActions = []aztables.TransactionAction{{
	ActionType: aztables.TransactionTypeDelete, Entity: []byte(`{"PartitionKey":"-","RowKey":"-"}`),
}}

// needsPolicy returns an error if the policy is absent and aztables cannot address a row in
// a transaction: it does not double quotes in keys, and does not accept an empty partition
// key. If it is not known yet whether the policy is present, one query finds out.
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
		return &BatchFailure{&types.Error{Op: "batch", Err: azerr.ErrNeedsAccelerate}, i}
	}
	return nil
}

// probe makes a request only to find out the mode. The reply does not matter.
func (c *Client) probe(ctx context.Context, w *Write) {
	_, _ = c.Query(ctx, Query{Filter: RowFilter(w.PartitionKey, ""), Top: 1},
		func([]byte) error { return nil })
}

// plainActions returns the writes as actions for aztables.
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

// submit calls aztables and ignores what it makes of the reply: it treats a truncated reply
// as success, panics on an empty one, and reports a failed transaction as 202 without a
// code. The captured reply is parsed instead.
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
		return azerr.Errorf("%w: %w", azerr.ErrBadReply, perr)
	}
	return nil
}

var errBatchReply = azerr.Sentinel("malformed reply to a transaction")
