package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/examples/migrate/after"
	"github.com/azpatterns/azpatterns/examples/migrate/before"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// The catalogue: so many products in each category, from so many suppliers.
const perCategory, suppliers = 100, 10

var categories = []string{"screws", "nuts"}

// zones are those of the machines on which the old service has run.
var zones = []*time.Location{time.UTC, time.FixedZone("", 2*3600), time.FixedZone("", -7*3600)}

// sales is how many pieces each service sells of the same product.
const sales = 25

// supplier is the one whose products are listed.
const supplier = "Contoso 3"

// run prints what each step returns, and how many requests it made.
func (m *migration) run(ctx context.Context, requests func() int) error {
	return account.Run(ctx, m.out, 81, requests,
		m.fill, m.scan, m.sell, m.rename, m.addBoth, m.readBoth,
		m.interrupt, m.readReserved, m.skipReserved,
		m.create, m.complete, m.backfill, m.verify, m.share, m.lookUp)
}

// fill is the state before the migration.
func (m *migration) fill(ctx context.Context) (string, error) {
	if _, err := m.products.CreateTable(ctx, nil); err != nil {
		return "", err
	}
	m.created = append(m.created, dropTable(m.products))
	for _, category := range categories {
		for i := range perCategory {
			p := before.Product{
				PartitionKey: category,
				RowKey:       fmt.Sprintf("%05d", i),
				Name:         fmt.Sprintf("%s, %d mm", category, i+1),
				Price:        float64(i) / 4,
				Stock:        1000,
				Supplier:     fmt.Sprintf("Contoso %d", i%suppliers),
				Since:        time.Date(2014, 7, i%28, i%24, 0, 0, i%3*120_000_000, zones[i%len(zones)]),
			}
			if err := m.byHand.Add(ctx, p); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("by hand: created the table and added %d products", len(categories)*perCategory), nil
}

func (m *migration) scan(ctx context.Context) (string, error) {
	found, err := m.byHand.BySupplier(ctx, supplier)
	return fmt.Sprintf("by hand: found %d products of a supplier, by reading the whole table", len(found)), err
}

// sell is the time in which processes of both services are running.
func (m *migration) sell(ctx context.Context) (string, error) {
	services, serving := errgroup.WithContext(ctx)
	for _, sell := range []func(context.Context, string, string, int) error{m.byHand.Sell, m.first.Sell} {
		services.Go(func() error {
			for range sales {
				if err := sell(serving, "screws", "00012", 1); err != nil { // its price is 3.0
					return err
				}
			}
			return nil
		})
	}
	if err := services.Wait(); err != nil {
		return "", err
	}
	byHand, err1 := m.byHand.Get(ctx, "screws", "00012")
	migrated, err2 := m.first.Get(ctx, "screws", "00012")
	return fmt.Sprintf("both services sold %d pieces concurrently, and read stocks of %d and %d",
		sales, byHand.Stock, migrated.Stock), errors.Join(err1, err2)
}

// rename changes one property of each product. The row must have the others as the old service stored
// them: a whole price as an Edm.Int32, and a time with its offset.
func (m *migration) rename(ctx context.Context) (string, error) {
	was, err := m.rows(ctx)
	if err != nil {
		return "", err
	}
	for key := range was {
		if _, err := m.first.Store.Update(ctx, key, func(p *after.Product) error { p.Name += " *"; return nil }); err != nil {
			return "", err
		}
	}
	is, err := m.rows(ctx)
	if err != nil {
		return "", err
	}
	for key, row := range was {
		if is[key]["Name"] == row["Name"] {
			return "", fmt.Errorf("%v has not been renamed", key)
		}
		for name, value := range row {
			if name != "Name" && is[key][name] != value || len(is[key]) != len(row) {
				return "", fmt.Errorf("%v: %s was %s and is %s", key, name, value, is[key][name])
			}
		}
	}
	return fmt.Sprintf("renamed %d products; all their other properties have the same bytes", len(was)), nil
}

// rows returns the properties of all products with their types, as the service sends them.
func (m *migration) rows(ctx context.Context) (map[keys.Key]map[string]string, error) {
	found := map[keys.Key]map[string]string{}
	//azvet:ignore tablescan a migration reads all rows
	for pages := m.products.NewListEntitiesPager(nil); pages.More(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, entity := range page.Entities {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(entity, &members); err != nil {
				return nil, err
			}
			row := map[string]string{}
			for name, value := range members {
				if !strings.HasPrefix(name, "odata.") && !strings.HasPrefix(name, "azp_") && name != "Timestamp" {
					row[name] = string(value)
				}
			}
			key := keys.Key{Partition: strings.Trim(row["PartitionKey"], `"`), Row: strings.Trim(row["RowKey"], `"`)}
			found[key] = row
		}
	}
	return found, nil
}

func (m *migration) addBoth(ctx context.Context) (string, error) {
	err1 := m.byHand.Add(ctx, before.Product{PartitionKey: "bolts", RowKey: "00001", Name: "by hand", Price: 3, Stock: 5, Supplier: supplier})
	err2 := m.first.Add(ctx, after.Product{Category: "bolts", Article: "00002", Name: "by azpatterns", Price: 3, Stock: 5, Supplier: supplier})
	return "each service added a product", errors.Join(err1, err2)
}

func (m *migration) readBoth(ctx context.Context) (string, error) {
	byHand, err1 := m.byHand.InCategory(ctx, "bolts")
	migrated, err2 := m.first.InCategory(ctx, "bolts")
	return fmt.Sprintf("by hand there are %d products in the category, by azpatterns %d", len(byHand), len(migrated)), errors.Join(err1, err2)
}

// unfinished is the key of a product whose index row is not written.
var unfinished = keys.Key{Partition: "bolts", Row: "00003"}

// interrupt runs the first operation of the second version. From here on the processes on
// aztables only read. The table of the index has not been created, so the operation is
// applied, but not completed: its outbox row stays in the partition.
func (m *migration) interrupt(ctx context.Context) (string, error) {
	if _, err := m.queue.Create(ctx, nil); err != nil {
		return "", err
	}
	m.created = append(m.created, dropQueue(m.queue))
	err := m.second.Add(ctx, after.Product{Category: unfinished.Partition, Article: unfinished.Row, Name: "by azpatterns", Price: 3, Stock: 5, Supplier: supplier})
	return "the last writer on aztables has ended; added a product, but not its index row", err
}

func (m *migration) readReserved(ctx context.Context) (string, error) {
	found, err := m.byHand.InCategory(ctx, "bolts")
	if len(found) == 0 {
		return "", errors.Join(err, errors.New("the category is empty"))
	}
	row := found[len(found)-1].RowKey
	return fmt.Sprintf("by hand there are %d products, the last one with the row key %.11s…", len(found), row), err
}

func (m *migration) skipReserved(ctx context.Context) (string, error) {
	m.byHand.SkipReserved = true
	found, err := m.byHand.InCategory(ctx, "bolts")
	return fmt.Sprintf("by hand, with RowKey lt '~azp', there are %d products", len(found)), err
}

func (m *migration) create(ctx context.Context) (string, error) {
	m.created = append(m.created, dropTable(m.index))
	return "created the table of the index", m.second.Store.Create(ctx)
}

// complete does what the worker of a service does when the outbox message becomes visible, a
// minute after the operation.
func (m *migration) complete(ctx context.Context) (string, error) {
	return "completed the operation", m.second.Store.Repair(ctx, unfinished)
}

func (m *migration) backfill(ctx context.Context) (string, error) {
	report, err := reindex.Backfill(ctx, m.second.Store, after.Index, "", nil)
	return fmt.Sprintf("stored the index rows of %d products", report.Filled), err
}

func (m *migration) verify(ctx context.Context) (string, error) {
	findings := 0
	for _, err := range reindex.Verify(ctx, m.second.Store, "", nil) {
		if err != nil {
			return "", err
		}
		findings++
	}
	return fmt.Sprintf("verified both tables: %d rows are wrong", findings), nil
}

func (m *migration) lookUp(ctx context.Context) (string, error) {
	found, err := m.second.BySupplier(ctx, supplier)
	return fmt.Sprintf("found %d products of the supplier by the index", len(found)), err
}
