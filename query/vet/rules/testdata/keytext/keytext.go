package keytext

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type row struct {
	PartitionKey, RowKey string
	Name                 string
}

func (r row) add() (aztables.TransactionAction, error) {
	body, err := json.Marshal(r)
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body}, err
}

func input(r *http.Request, table *aztables.Client) any {
	name := r.FormValue("name")
	table.GetEntity(r.Context(), "p", name, nil) // the row is not found
	return []any{
		row{PartitionKey: "p", RowKey: r.URL.Path}, // want `input is used in a key`
		map[string]any{
			"PartitionKey": "p_" + r.Header.Get("Tenant"), // want `input is used in a key`
			"RowKey":       "r",
		},
	}
}

func numbers(n int, when time.Time) any {
	return []any{
		aztables.Entity{PartitionKey: strconv.Itoa(n), RowKey: strconv.Itoa(n)}, // want `compared as text, so rows with this number`
		row{PartitionKey: "p", RowKey: fmt.Sprintf("order-%d", n)},              // want `compared as text`
		row{PartitionKey: "p", RowKey: fmt.Sprintf("%d-%s", n, "a")},            // want `compared as text`
		row{PartitionKey: "p", RowKey: fmt.Sprintf("%010d", n)},
		row{PartitionKey: "p", RowKey: fmt.Sprintf("%d", math.MaxInt64-when.UnixNano())},
		row{PartitionKey: "p", RowKey: strconv.FormatInt(when.Unix(), 10)},
		row{PartitionKey: "p", RowKey: strconv.Itoa(7), Name: strconv.Itoa(n)},
	}
}

func counters(table *aztables.Client) (rows []row) {
	for i := 1; i <= 3; i++ {
		rows = append(rows, row{PartitionKey: "p", RowKey: strconv.Itoa(i)}) // all have one digit
	}
	for i := range 10 {
		rows = append(rows, row{PartitionKey: "p", RowKey: fmt.Sprintf("row%d", i)})
	}
	for i, name := range []string{"a", "b"} {
		rows = append(rows, row{PartitionKey: "p", RowKey: fmt.Sprintf("row%d", i), Name: name})
	}
	for i := range 11 {
		rows = append(rows, row{PartitionKey: "p", RowKey: fmt.Sprintf("row%d", i)}) // want `compared as text`
	}
	return rows
}

func times(when time.Time) any {
	now := time.Now().UTC()
	return []any{
		row{PartitionKey: "p", RowKey: time.Now().Format(time.RFC3339)},               // want `a key made of local time`
		row{PartitionKey: "p", RowKey: "a_" + time.Now().Add(time.Hour).Format("15")}, // want `a key made of local time`
		row{PartitionKey: "p", RowKey: time.Now().UTC().Format(time.RFC3339)},         // want `two rows of the same moment get the same key`
		row{PartitionKey: "p", RowKey: now.Format(time.RFC3339)},                      // want `two rows of the same moment get the same key`
		row{PartitionKey: "p", RowKey: when.Format(time.RFC3339), Name: time.Now().Format("15")},
	}
}

func assigned(r *http.Request, n int) any {
	var e aztables.Entity
	e.PartitionKey = "p"
	e.RowKey = fmt.Sprint(n) // want `compared as text`
	m := map[string]any{"Size": strconv.Itoa(n)}
	m["PartitionKey"] = "p"
	m["RowKey"] = r.URL.Query()["id"][0] // want `input is used in a key`
	return []any{e, m}
}
