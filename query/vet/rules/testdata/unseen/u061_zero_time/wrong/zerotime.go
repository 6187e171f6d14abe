package wrong

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Todo struct {
	ID    string
	Title string
	Due   time.Time
}

type TodoList struct {
	owner string
	table *aztables.Client
}

func (l *TodoList) properties(t Todo) map[string]any {
	p := map[string]any{
		"Title": t.Title,
		"Added": aztables.EDMDateTime(time.Now().UTC()),
	}
	p["Due"] = aztables.EDMDateTime(t.Due.UTC()) // MISTAKE: the zero time is outside the range of DateTime
	return p
}

func (l *TodoList) Add(ctx context.Context, title string, due *time.Time) (Todo, error) {
	t := Todo{ID: uuid.NewString(), Title: title}
	if due != nil {
		t.Due = *due
	}
	e := aztables.EDMEntity{Properties: l.properties(t)}
	e.PartitionKey = l.owner
	e.RowKey = t.ID
	raw, err := json.Marshal(e)
	if err != nil {
		return Todo{}, err
	}
	if _, err = l.table.AddEntity(ctx, raw, nil); err != nil {
		return Todo{}, err
	}
	return t, nil
}

func (l *TodoList) Done(ctx context.Context, id string) error {
	_, err := l.table.DeleteEntity(ctx, l.owner, id, nil)
	return err
}
