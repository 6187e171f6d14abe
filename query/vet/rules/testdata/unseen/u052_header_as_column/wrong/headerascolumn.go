package wrong

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type RequestLog struct {
	c *aztables.Client
}

var kept = []string{"User-Agent", "Accept-Language", "Referer"}

func column(h string) string {
	return "H_" + h // MISTAKE: a hyphen is not allowed in a property name
}

func (l *RequestLog) entity(r *http.Request) ([]byte, error) {
	now := time.Now().UTC()
	e := aztables.EDMEntity{Entity: aztables.Entity{
		PartitionKey: now.Format("2006010215") + "-" + strconv.Itoa(now.Nanosecond()%16),
		RowKey:       uuid.NewString(),
	}}
	e.Properties = map[string]any{
		"Method":   r.Method,
		"Path":     r.URL.Path,
		"Received": aztables.EDMDateTime(now),
	}
	for _, h := range kept {
		if v := r.Header.Get(h); v != "" {
			e.Properties[column(h)] = v
		}
	}
	return json.Marshal(e)
}

// Middleware stores one row for each request.
func (l *RequestLog) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := l.entity(r)
		if err == nil {
			_, err = l.c.AddEntity(r.Context(), b, nil)
		}
		if err != nil {
			log.Printf("request log: %v", err)
		}
		next.ServeHTTP(w, r)
	})
}
