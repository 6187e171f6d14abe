package wire

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// CreateTable creates the table. It returns nil if the table exists already. It makes one
// request.
func (c *Client) CreateTable(ctx context.Context) error {
	return changeTable(ctx, "create table", func() error {
		_, err := c.table.CreateTable(ctx, nil)
		return err
	}, func(e *types.Error) bool { return e.Code == "TableAlreadyExists" })
}

// DropTable deletes the table. It returns nil if the table does not exist or is being
// deleted, perhaps by an earlier try of the same call. It makes one request.
func (c *Client) DropTable(ctx context.Context) error {
	return changeTable(ctx, "drop table", func() error {
		_, err := c.table.Delete(ctx, nil)
		return err
	}, func(e *types.Error) bool {
		return errors.Is(e, azerr.ErrNotFound) || errors.Is(e, azerr.ErrTableNotFound)
	})
}

// changeTable calls send. An error for which done returns true shows that there is nothing to do.
func changeTable(ctx context.Context, op string, send func() error, done func(*types.Error) bool) error {
	err := checkContext(ctx, op)
	if err != nil {
		return err
	}
	if err = send(); err == nil {
		return nil
	}
	if e := tableError(op, err); !done(e) {
		return e
	}
	return nil
}

// tableError returns the error of a request that changes the table itself.
func tableError(op string, err error) *types.Error {
	if e := sdkerr.New(op, err); definite(e.Status, e.Code, err) {
		return e
	}
	return sdkerr.NewWrite(op, err)
}
