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
	err := checkContext(ctx, "create table")
	if err != nil {
		return err
	}
	if _, err = c.table.CreateTable(ctx, nil); err == nil {
		return nil
	}
	e := tableError("create table", err)
	if e.Code == "TableAlreadyExists" {
		return nil
	}
	return e
}

// DropTable deletes the table. It returns nil if the table does not exist or is being
// deleted, perhaps by an earlier try of the same call. It makes one request.
func (c *Client) DropTable(ctx context.Context) error {
	err := checkContext(ctx, "drop table")
	if err != nil {
		return err
	}
	if _, err = c.table.Delete(ctx, nil); err == nil {
		return nil
	}
	e := tableError("drop table", err)
	if errors.Is(e, azerr.ErrNotFound) || errors.Is(e, azerr.ErrTableNotFound) {
		return nil
	}
	return e
}

// tableError returns the error of a request that changes the table itself.
func tableError(op string, err error) *types.Error {
	if e := sdkerr.New(op, err); definite(e.Status, e.Code, err) {
		return e
	}
	return sdkerr.NewWrite(op, err)
}
