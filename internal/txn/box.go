package txn

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sealed"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Box returns what encrypts the properties of the table of c, nil if e is. It makes no request.
func Box(c *wire.Client, e *types.Encryption) (*sealed.Box, error) {
	if e == nil {
		return nil, nil
	}
	table := e.Table
	if table == "" {
		table = strings.ToLower(c.TableName())
	}
	if e.Keys == nil || table == "" {
		return nil, azerr.Errorf("%w: Encryption without Keys, or without Table for a client that was not built with Accelerate", azerr.ErrBadOption)
	}
	return sealed.New(e.Keys, table), nil
}
