package right

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type EventStore struct {
	tbl *aztables.Client
}

type Clicked struct {
	Campaign string
	Link     string
	Agent    string
}

func (s *EventStore) key(now time.Time) string {
	return fmt.Sprintf("%020d-%s", now.UnixMicro(), uuid.NewString())
}

func (s *EventStore) Append(ctx context.Context, ev Clicked) error {
	doc := map[string]any{
		"PartitionKey": ev.Campaign,
		"RowKey":       s.key(time.Now()),
		"Link":         ev.Link,
		"Agent":        ev.Agent,
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = s.tbl.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Handler records a click and sends the visitor on.
func (s *EventStore) Handler(targets map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		link := r.PathValue("link")
		target, ok := targets[link]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if err := s.Append(r.Context(), Clicked{Campaign: r.PathValue("campaign"), Link: link, Agent: r.UserAgent()}); err != nil {
			slog.Error("click lost", "link", link, "err", err)
		}
		http.Redirect(w, r, target, http.StatusFound)
	}
}
