package audit

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Entry struct {
	PartitionKey string
	RowKey       string
	Path         string
	Method       string
}

type Middleware struct {
	table *aztables.Client
	log   *slog.Logger
	user  func(*http.Request) string
}

func (m *Middleware) write(ctx context.Context, e Entry) {
	raw, err := json.Marshal(e)
	if err == nil {
		_, err = m.table.UpsertEntity(ctx, raw, nil)
	}
	if err != nil {
		m.log.Error("audit entry lost", "user", e.PartitionKey, "error", err)
	}
}

// Wrap notes every request of a signed-in user without delaying it.
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := Entry{
			PartitionKey: m.user(r),
			RowKey:       time.Now().UTC().Format("20060102150405.000000") + "_" + uuid.NewString(),
			Path:         r.URL.Path,
			Method:       r.Method,
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
		go func() {
			defer cancel()
			m.write(ctx, e)
		}()
		next.ServeHTTP(w, r)
	})
}
