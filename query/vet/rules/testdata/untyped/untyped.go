package untyped

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type product struct {
	PartitionKey, RowKey string
	Price                float64   // want `Price is written by encoding/json without its type.*an Int32 if it is a whole number, not as an Edm.Double.*untyped, error`
	Sold                 int64     // want `Sold is written`
	Created              time.Time // want `Created is written`
	Picture              []byte    // want `Picture is written`
	Views                int64     `json:",string"`
	Rating               float64
	RatingType           string `json:"Rating@odata.type"`
	Stock                int
	Name                 string
	hidden               float64
}

type response struct{ Price float64 } // no entity

func add(ctx context.Context, table *aztables.Client, price float64, sold int64, created time.Time, picture []byte) error {
	body, err := json.Marshal(product{PartitionKey: "p", RowKey: "r"})
	if err != nil {
		return err
	}
	if _, err := table.AddEntity(ctx, body, nil); err != nil {
		return err
	}
	entity := map[string]any{
		"PartitionKey":      "p",
		"RowKey":            "r",
		"Price":             price, // want `Price has no annotation of its type.*so are: Three`
		"Sold":              sold,  // want `Sold has no annotation of its type.*so are: Limit`
		"Limit":             aztables.EDMInt64(5),
		"Rating":            price,
		"Rating@odata.type": "Edm.Double",
		"Half":              0.5,
		"Three":             3.0,
		"Count":             3,
	}
	second, err := json.Marshal(entity)
	if err != nil {
		return err
	}
	if _, err := table.AddEntity(ctx, second, nil); err != nil {
		return err
	}
	other, err := json.Marshal(map[string]any{"PartitionKey": "p", "RowKey": "r", "Sold": sold, "Created": created, "Picture": picture}) // want `Sold has` `Created has` `Picture has`
	if err != nil {
		return err
	}
	if _, err := table.AddEntity(ctx, other, nil); err != nil {
		return err
	}
	_, err = json.Marshal(response{Price: 3})
	return err
}

func edm(price float64, sold int64, created time.Time, picture []byte) ([]byte, error) {
	return json.Marshal(aztables.EDMEntity{
		Properties: map[string]any{
			"Price":    price,   // want `Price has no annotation`
			"Sold":     sold,    // want `Sold has no annotation`
			"Created":  created, // want `Created has no annotation`
			"Picture":  picture, // want `Picture has no annotation`
			"Typed":    aztables.EDMInt64(sold),
			"Count":    int32(3),
			"Name":     "x",
			"Duration": aztables.EDMDateTime(created.UTC()),
		},
	})
}

func put(ctx context.Context, table *aztables.Client, entity any) error {
	body, err := json.Marshal(entity)
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, body, nil)
	return err
}

func encode(entity any) []byte {
	body, _ := json.Marshal(entity)
	return body
}

type optional struct {
	PartitionKey, RowKey string
	Limit                *int64 // want `Limit is written by encoding/json without its type`
}

func assigned(ctx context.Context, table *aztables.Client, price float64, created time.Time) error {
	entity := map[string]any{"PartitionKey": "p", "RowKey": "r"}
	entity["Created"] = created // want `Created has no annotation`
	entity["Price"] = price
	entity["Price@odata.type"] = "Edm.Double"
	if err := put(ctx, table, entity); err != nil {
		return err
	}
	typed := aztables.EDMEntity{Properties: map[string]any{}}
	typed.Properties["Created"] = created // want `Created has no annotation`
	typed.Properties["Created2"] = aztables.EDMDateTime(created)
	if err := put(ctx, table, typed); err != nil {
		return err
	}
	numbers := map[string]float64{"Cost": price} // want `Cost has no annotation`
	if _, err := table.AddEntity(ctx, encode(numbers), nil); err != nil {
		return err
	}
	return put(ctx, table, optional{})
}

func collision(created time.Time) any {
	aztables := "a local name"
	entity := edmEntity{Properties: map[string]any{"Created": created, "Name": aztables}} // want `Created has no annotation`
	return entity
}

type edmEntity = aztables.EDMEntity
