package wrong

import (
	"context"
	"encoding/json"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Heartbeat struct {
	aztables.Entity
	Healthy  bool
	QueueLen int32
}

type Agent struct {
	nodes   *aztables.Client
	cluster string
	node    string
}

// Beat stores the health of this node; address and size of the node are kept by the provisioner in the same row.
func (a *Agent) Beat(ctx context.Context, healthy bool, queue int) error {
	hb := Heartbeat{Healthy: healthy, QueueLen: int32(queue)}
	hb.PartitionKey = a.cluster
	hb.RowKey = a.node
	doc, err := json.Marshal(&hb)
	if err != nil {
		return err
	}
	_, err = a.nodes.UpsertEntity(ctx, doc, &aztables.UpsertEntityOptions{
		UpdateMode: aztables.UpdateModeReplace, // MISTAKE: removes the columns that are not in Heartbeat
	})
	return err
}

func (a *Agent) Loop(ctx context.Context, probe func() (bool, int)) error {
	tick := time.NewTicker(15 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			ok, n := probe()
			if err := a.Beat(ctx, ok, n); err != nil {
				log.Printf("heartbeat of %s: %v", a.node, err)
			}
		}
	}
}
