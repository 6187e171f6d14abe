// Package before is a small product catalogue as it is often written directly on aztables.
// Package after is the same service on azpatterns. Both work on the same table.
//
// The comments that begin with "Mistake" name what is wrong in it. No mistake has an effect
// while the service is small and no reply is lost.
package before

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Product is a row of the catalogue.
type Product struct {
	PartitionKey string // the category
	RowKey       string // the article number
	Name         string
	// Mistake: encoding/json writes a whole price, such as 3.0, without a decimal point, and
	// the service stores it as an Edm.Int32.
	Price    float64
	Stock    int
	Supplier string
	// Mistake: encoding/json writes a time as text with the offset of its zone, and the service
	// stores it as an Edm.String. Such texts of several zones are not in the order of time.
	Since time.Time
}

// Catalogue is the service. It is safe for concurrent use.
type Catalogue struct {
	// SkipReserved makes InCategory ignore the rows that a patterns.Store keeps in a partition
	// while an operation is in progress. It is all that the migration changes in this service.
	SkipReserved bool

	table *aztables.Client
}

// New returns a Catalogue on the table of products.
func New(table *aztables.Client) *Catalogue { return &Catalogue{table: table} }

// ErrExists means that the product is in the catalogue already.
var ErrExists = errors.New("the product exists")

// Add adds a product. One request.
func (c *Catalogue) Add(ctx context.Context, p Product) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = c.table.AddEntity(ctx, body, nil)
	// Mistake: if the reply is lost, the SDK sends the request again, and the second attempt
	// finds the row of the first. The product was added, and Add reports that it was not.
	if hasStatus(err, http.StatusConflict) {
		return ErrExists
	}
	return err
}

// Get reads a product. One request.
func (c *Catalogue) Get(ctx context.Context, category, article string) (p Product, err error) {
	reply, err := c.table.GetEntity(ctx, category, article, nil)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(reply.Value, &p)
}

// Sell takes n pieces of a product from the stock. Two requests without a conflict.
func (c *Catalogue) Sell(ctx context.Context, category, article string, n int) error {
	for {
		reply, err := c.table.GetEntity(ctx, category, article, nil)
		if err != nil {
			return err
		}
		var p Product
		if err := json.Unmarshal(reply.Value, &p); err != nil {
			return err
		}
		p.Stock -= n
		body, err := json.Marshal(p)
		if err != nil {
			return err
		}
		_, err = c.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
			IfMatch:    &reply.ETag,
			UpdateMode: aztables.UpdateModeMerge, // keeps properties that Product lacks
		})
		// Mistake: if the reply is lost, the first attempt has changed the ETag, and the second
		// is refused. The loop then sells the same pieces again.
		if !hasStatus(err, http.StatusPreconditionFailed) {
			return err
		}
	}
}

// InCategory returns the products of a category. One request for each 1,000 products.
func (c *Catalogue) InCategory(ctx context.Context, category string) ([]Product, error) {
	// Mistake: a quote in the category ends the string and changes the filter.
	filter := fmt.Sprintf("PartitionKey eq '%s'", category)
	if c.SkipReserved {
		filter += " and RowKey lt '~azp'"
	}
	return c.find(ctx, filter)
}

// BySupplier returns the products of a supplier.
func (c *Catalogue) BySupplier(ctx context.Context, supplier string) ([]Product, error) {
	// Mistake: Supplier is not part of the key, so the service reads the whole table.
	return c.find(ctx, fmt.Sprintf("Supplier eq '%s'", supplier))
}

func (c *Catalogue) find(ctx context.Context, filter string) ([]Product, error) {
	var found []Product
	pager := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Entities {
			var p Product
			if err := json.Unmarshal(row, &p); err != nil {
				return nil, err
			}
			found = append(found, p)
		}
	}
	return found, nil
}

func hasStatus(err error, status int) bool {
	var e *azcore.ResponseError
	return errors.As(err, &e) && e.StatusCode == status
}
