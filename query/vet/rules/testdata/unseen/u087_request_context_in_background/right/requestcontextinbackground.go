package right

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type SearchLog struct {
	table *aztables.Client
	wg    sync.WaitGroup
}

func (s *SearchLog) store(ctx context.Context, user, terms string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	b, err := json.Marshal(map[string]string{
		"PartitionKey": user,
		"RowKey":       fmt.Sprintf("%019d", math.MaxInt64-time.Now().UnixNano()),
		"Terms":        terms,
	})
	if err != nil {
		log.Print(err)
		return
	}
	if _, err := s.table.AddEntity(ctx, b, nil); err != nil {
		log.Printf("search of %s not recorded: %v", user, err)
	}
}

// Search answers a query and records it without delay for the user.
func (s *SearchLog) Search(find func(context.Context, string) ([]string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, user := r.FormValue("q"), r.Header.Get("X-User")
		hits, err := find(r.Context(), q)
		if err != nil {
			http.Error(w, "search failed", http.StatusBadGateway)
			return
		}
		s.wg.Go(func() {
			s.store(context.WithoutCancel(r.Context()), user, q)
		})
		_ = json.NewEncoder(w).Encode(hits)
	}
}

func (s *SearchLog) Close() { s.wg.Wait() }
