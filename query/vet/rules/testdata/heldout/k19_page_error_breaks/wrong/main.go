package exporter

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type reading struct {
	RowKey string
	Sensor string
	Unit   string
}

// Export writes the readings of a building as CSV and returns the number of rows.
func Export(ctx context.Context, table *aztables.Client, building uuid.UUID, w io.Writer) (int, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s'", building)
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})

	out := csv.NewWriter(w)
	rows := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			log.Printf("export of %s stopped: %v", building, err)
			break // MISTAKE: A failing page ends the loop and the part read so far is returned as if it were complete.
		}
		for _, raw := range page.Entities {
			var r reading
			if err := json.Unmarshal(raw, &r); err != nil {
				return rows, fmt.Errorf("decoding reading: %w", err)
			}
			if err := out.Write([]string{r.RowKey, r.Sensor, r.Unit}); err != nil {
				return rows, err
			}
			rows++
		}
	}
	out.Flush()
	return rows, out.Error()
}
