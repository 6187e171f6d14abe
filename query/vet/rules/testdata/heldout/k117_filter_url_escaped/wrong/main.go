package stations

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Station struct {
	RowKey string
	Line   string
}

type Network struct {
	stations *aztables.Client
}

func lineFilter(network uuid.UUID, line string) string {
	quoted := "'" + strings.ReplaceAll(line, "'", "''") + "'"
	filter := "PartitionKey eq '" + network.String() + "' and Line eq " + quoted
	return url.QueryEscape(filter) // MISTAKE: The filter is URL-escaped before it is handed to the client, which escapes it again, so the service gets nonsense.
}

// OnLine lists the stations of a line.
func (n *Network) OnLine(ctx context.Context, network uuid.UUID, line string) ([]Station, error) {
	filter := lineFilter(network, line)
	pager := n.stations.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var out []Station
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("stations of %s: %w", line, err)
		}
		for _, raw := range page.Entities {
			var s Station
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, fmt.Errorf("decoding station: %w", err)
			}
			out = append(out, s)
		}
	}
	return out, nil
}
