package retried

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var errExists = errors.New("exists")

type counter struct {
	PartitionKey, RowKey string
	N                    int
}

func is(err error, status int) bool {
	var e *azcore.ResponseError
	return errors.As(err, &e) && e.StatusCode == status
}

func add(ctx context.Context, table *aztables.Client, body []byte) error {
	_, err := table.AddEntity(ctx, body, nil)
	if is(err, http.StatusConflict) { // want `this error can mean that the request itself succeeded.*Table.Insert.*retried, error`
		return errExists
	}
	return err
}

func lock(ctx context.Context, table *aztables.Client, body []byte) (bool, error) {
	if _, err := table.AddEntity(ctx, body, nil); err != nil {
		var e *azcore.ResponseError
		if errors.As(err, &e) && e.ErrorCode == string(aztables.EntityAlreadyExists) { // want `this error can mean`
			return false, nil
		}
		return false, err
	}
	return true, nil
}

func remove(ctx context.Context, table *aztables.Client) error {
	_, err := table.DeleteEntity(ctx, "p", "r", nil)
	var e *azcore.ResponseError
	if errors.As(err, &e) {
		switch e.StatusCode {
		case 404: // want `Table.Delete finds out`
			return errors.New("not found")
		}
	}
	return err
}

func count(ctx context.Context, table *aztables.Client, set bool) error {
	for {
		reply, err := table.GetEntity(ctx, "p", "r", nil)
		if err != nil {
			return err
		}
		var c counter
		if err := json.Unmarshal(reply.Value, &c); err != nil {
			return err
		}
		c.N++
		body, err := json.Marshal(c)
		if err != nil {
			return err
		}
		_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag, UpdateMode: aztables.UpdateModeMerge})
		if !is(err, 412) { // want `412 can mean that this change was made already`
			return err
		}
	}
}

func fine(ctx context.Context, table *aztables.Client, body []byte) error {
	_, err := table.AddEntity(ctx, body, nil)
	if is(err, 409) { // the row is there, which is what the caller wants
		return nil
	}
	if is(err, 409) {
		reply, err := table.GetEntity(ctx, "p", "r", nil)
		if err != nil || string(reply.Value) != string(body) {
			return errExists
		}
	}
	if err != nil {
		return err
	}
	if _, err := table.GetEntity(ctx, "p", "r", nil); is(err, 404) {
		return errors.New("not found")
	}
	if _, err := table.DeleteEntity(ctx, "p", "r", nil); err != nil && !is(err, 404) {
		return err
	}
	return nil
}

func set(ctx context.Context, table *aztables.Client) error {
	for {
		reply, err := table.GetEntity(ctx, "p", "r", nil)
		if err != nil {
			return err
		}
		var c counter
		if err := json.Unmarshal(reply.Value, &c); err != nil {
			return err
		}
		c.N = 5
		body, err := json.Marshal(c)
		if err != nil {
			return err
		}
		_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag, UpdateMode: aztables.UpdateModeMerge})
		if !is(err, 412) {
			return err
		}
	}
}

func isConflict(err error) bool { return is(err, http.StatusConflict) }

func helped(ctx context.Context, table *aztables.Client, body []byte) error {
	if _, err := table.AddEntity(ctx, body, nil); isConflict(err) { // want `this error can mean`
		return errExists
	}
	_, err := table.AddEntity(ctx, body, nil)
	if isConflict(err) {
		_, err = table.UpsertEntity(ctx, body, nil)
	}
	return err
}

func replace(ctx context.Context, table *aztables.Client, body []byte, etag azcore.ETag) error {
	_, err := table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &etag})
	if is(err, 412) { // want `Table.Update finds out`
		return errors.New("changed by another")
	}
	return err
}

func countInMap(ctx context.Context, table *aztables.Client) error {
	for {
		reply, err := table.GetEntity(ctx, "p", "r", nil)
		if err != nil {
			return err
		}
		var entity aztables.EDMEntity
		if err := json.Unmarshal(reply.Value, &entity); err != nil {
			return err
		}
		entity.Properties["N"] = entity.Properties["N"].(int32) + 1
		body, err := json.Marshal(entity)
		if err != nil {
			return err
		}
		_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag})
		if is(err, 412) { // want `412 can mean that this change was made already`
			continue
		}
		return err
	}
}

func countAttempts(ctx context.Context, table *aztables.Client, attempts map[string]int) error {
	for {
		attempts["r"]++ // no part of the entity
		reply, err := table.GetEntity(ctx, "p", "r", nil)
		if err != nil {
			return err
		}
		body := append([]byte(nil), reply.Value...)
		_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag})
		if is(err, 412) {
			continue
		}
		return err
	}
}
