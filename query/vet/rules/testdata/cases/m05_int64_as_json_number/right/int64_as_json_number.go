package traffic

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Sample struct {
	PartitionKey string `json:"PartitionKey"`
	RowKey       string `json:"RowKey"`
	Bytes        int64  `json:"Bytes,string"`
	BytesType    string `json:"Bytes@odata.type"`
	Interface    string `json:"Interface"`
}

type Collector struct {
	samples *aztables.Client
	host    string
}

func NewCollector(svc *aztables.ServiceClient, host string) *Collector {
	return &Collector{samples: svc.NewClient("samples"), host: host}
}

// Save stores the traffic that one interface saw in the minute that began at t.
func (c *Collector) Save(ctx context.Context, iface string, t time.Time, total int64) error {
	s := Sample{
		PartitionKey: c.host + "_" + iface,
		RowKey:       t.UTC().Format("200601021504"),
		Bytes:        total,
		BytesType:    "Edm.Int64",
		Interface:    iface,
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = c.samples.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}
