package wrong

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type addressBook struct{ customers *aztables.Client }

type addressUpdate struct {
	Street  string `json:"street"`
	City    string `json:"city"`
	Version string `json:"version"`
}

func (a addressBook) put(w http.ResponseWriter, r *http.Request) {
	var in addressUpdate
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Version == "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	row, err := json.Marshal(map[string]string{
		"PartitionKey": r.PathValue("tenant"),
		"RowKey":       r.PathValue("customer"),
		"Street":       in.Street,
		"City":         in.City,
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	version := azcore.ETag(in.Version)
	_, err = a.customers.UpdateEntity(r.Context(), row, &aztables.UpdateEntityOptions{
		IfMatch:    &version,
		UpdateMode: aztables.UpdateModeMerge,
	})
	var re *azcore.ResponseError
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed:
		w.WriteHeader(http.StatusNoContent) // MISTAKE: nothing was stored, but the caller is told it was
	case errors.As(err, &re) && re.StatusCode == http.StatusNotFound:
		http.Error(w, "no such customer", http.StatusNotFound)
	default:
		http.Error(w, "storage error", http.StatusBadGateway)
	}
}
