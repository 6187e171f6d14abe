package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// Run is one execution of a job; Ended is zero while it goes on.
type Run struct {
	Job     uuid.UUID
	ID      uuid.UUID
	Started time.Time
	Ended   time.Time
}

func (r Run) entity() aztables.EDMEntity {
	e := aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: r.Job.String(), RowKey: r.ID.String()},
		Properties: map[string]any{
			"Started": aztables.EDMDateTime(r.Started.UTC()),
		},
	}
	e.Properties["Ended"] = aztables.EDMDateTime(r.Ended.UTC()) // MISTAKE: An unfinished job has the zero time as its end, and DateTime properties before 1601 are rejected.
	return e
}

type Runs struct{ table *aztables.Client }

// Begin records that a job has started.
func (s *Runs) Begin(ctx context.Context, job uuid.UUID) (Run, error) {
	r := Run{Job: job, ID: uuid.New(), Started: time.Now()}
	body, err := json.Marshal(r.entity())
	if err != nil {
		return r, err
	}
	if _, err := s.table.AddEntity(ctx, body, nil); err != nil {
		return r, fmt.Errorf("recording run of %s: %w", job, err)
	}
	return r, nil
}
