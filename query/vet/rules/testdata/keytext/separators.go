package keytext

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func separated(kind, id string, day time.Time) any {
	return []any{
		aztables.Entity{PartitionKey: kind + "/" + id, RowKey: "r"},                     // want `the service refuses keys with`
		aztables.Entity{PartitionKey: kind, RowKey: day.UTC().Format("2006/01/02")},     // want `the service refuses keys with`
		aztables.Entity{PartitionKey: kind, RowKey: day.UTC().Format("2006-01-02")},     // in order
		aztables.Entity{PartitionKey: kind, RowKey: day.UTC().Format(time.RFC3339Nano)}, // want `this layout drops zeros`
		aztables.Entity{PartitionKey: kind, RowKey: shown(day)},
		aztables.Entity{PartitionKey: kind, RowKey: link(id)},
	}
}

func shown(when time.Time) string { return when.Local().Format("20060102") } // want `a key made of local time`

func link(url string) string { return trim(url) }

func trim(s string) string { return s[1:] }
