package clicks

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Click struct {
	PartitionKey string
	RowKey       string
	Campaign     string
	Referrer     string
}

type Recorder struct {
	table *aztables.Client
}

func (r *Recorder) record(ctx context.Context, campaign, referrer string) error {
	c := Click{
		PartitionKey: campaign,
		RowKey:       uuid.NewString(),
		Campaign:     campaign,
		Referrer:     referrer,
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = r.table.AddEntity(ctx, raw, nil)
	return err
}

// ServeHTTP takes one click; the campaign number has been checked by the router.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if err := r.record(req.Context(), req.PathValue("campaign"), req.Referer()); err != nil {
		http.Error(w, "not recorded", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
