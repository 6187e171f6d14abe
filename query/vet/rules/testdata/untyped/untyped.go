package untyped

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type product struct {
	PartitionKey, RowKey string
	Price                float64   // want `encoding/json writes Price without its type.*an Int32 if it is a whole number, not as an Edm.Double.*untyped, error`
	Sold                 int64     // want `writes Sold without its type`
	Created              time.Time // want `writes Created without its type`
	Picture              []byte    // want `writes Picture`
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
		"Price":             price,                // want `Price has no annotation of its type`
		"Sold":              sold,                 // want `Sold has no annotation`
		"Limit":             aztables.EDMInt64(5), // want `Limit has no annotation of its type in this map`
		"Rating":            price,
		"Rating@odata.type": "Edm.Double",
		"Half":              0.5,
		"Three":             3.0, // want `Three has no annotation`
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
