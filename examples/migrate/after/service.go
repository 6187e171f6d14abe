// Package after is the service of package before on azpatterns. It works on the same table
// at the same time, and each service reads what the other one writes.
package after

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// Product is a row of the catalogue. encoding/json has stored the Stock as an Edm.Int32, which
// the tag requires for new rows too, a whole Price as an Edm.Int32, and Since as text with an offset. A
// change of one field leaves the others as they are, in text and type.
type Product struct {
	Category string `table:"PartitionKey"`
	Article  string `table:"RowKey"`
	Name     string
	Price    float64
	Stock    int `table:",int32"`
	Supplier string
	Since    time.Time
}

// Index is the name of the index by supplier.
const Index = "supplier"

// Catalogue is the service. It is safe for concurrent use.
type Catalogue struct {
	// Store contains the products. It finds out what became of an operation whose reply was
	// lost, and updates the index with each change.
	Store *patterns.Store[Product]

	bySupplier *secondaryindex.Reader[Product]
}

// New returns a Catalogue on the table of products. The index is in a table of its own, so
// readers of the products do not see its rows. While a program that does not know the index
// changes products, building is true: then the service adds no rows to the index.
func New(products, index *aztables.Client, outbox patterns.OutboxQueue, building bool) (*Catalogue, error) {
	// A stamp in each row shows whether a sale was applied whose reply was lost.
	table, err := patterns.NewTable(products, &patterns.TableOptions[Product]{StampWrites: true})
	if err != nil {
		return nil, err
	}
	bySupplier := secondaryindex.Inter(Index, index,
		func(p *Product) (string, bool) { return p.Supplier, p.Supplier != "" },
		&secondaryindex.Options[Product]{
			NonUnique: true,
			Partition: func(_, supplier string) string { return "supplier_" + keys.Escape(supplier) },
			// Without Price and Stock a sale does not change the index.
			Only: []string{"Name", "Supplier"},
		})
	opts := &patterns.StoreOptions[Product]{
		Views:  []patterns.View[Product]{bySupplier},
		Outbox: outbox,
	}
	if building {
		opts.Building = []string{Index}
	}
	store, err := patterns.NewStore(table, opts)
	if err != nil {
		return nil, err
	}
	return &Catalogue{store, bySupplier.On(store)}, nil
}

// Add adds a product, or fails with patterns.ErrExists. One request while the index is
// building, otherwise those of the outbox.
func (c *Catalogue) Add(ctx context.Context, p Product) error {
	_, err := c.Store.Insert(ctx, &p)
	return err
}

// Get reads a product. One request.
func (c *Catalogue) Get(ctx context.Context, category, article string) (Product, error) {
	item, err := c.Store.Get(ctx, keys.Key{Partition: category, Row: article})
	return item.Value, err
}

// Sell takes n pieces of a product from the stock. Two requests without a conflict.
func (c *Catalogue) Sell(ctx context.Context, category, article string, n int) error {
	_, err := c.Store.Update(ctx, keys.Key{Partition: category, Row: article}, func(p *Product) error {
		p.Stock -= n
		return nil
	})
	return err
}

// InCategory returns the products of a category. One request for each 1,000 rows.
func (c *Catalogue) InCategory(ctx context.Context, category string) ([]Product, error) {
	var found []Product
	for item, err := range c.Store.Query(ctx, query.PartitionKey.Eq(category), nil) {
		if err != nil {
			return nil, err
		}
		found = append(found, item.Value)
	}
	return found, nil
}

// BySupplier returns the keys, names and suppliers of the products of a supplier, without
// the other properties. One request for each 1,000 products.
func (c *Catalogue) BySupplier(ctx context.Context, supplier string) ([]Product, error) {
	var found []Product
	for entry, err := range c.bySupplier.Query(ctx, "", secondaryindex.Equal(supplier), nil) {
		if err != nil {
			return nil, err
		}
		found = append(found, entry.Value)
	}
	return found, nil
}
