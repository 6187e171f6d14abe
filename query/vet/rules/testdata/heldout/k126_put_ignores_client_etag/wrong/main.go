package wiki

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

const maxText = 20000

type Wiki struct {
	pages *aztables.Client
}

func fail(w http.ResponseWriter, err error) {
	var re *azcore.ResponseError
	if errors.As(err, &re) && (re.StatusCode == http.StatusNotFound || re.StatusCode == http.StatusPreconditionFailed) {
		http.Error(w, re.ErrorCode, re.StatusCode)
		return
	}
	slog.Error("wiki", "error", err)
	http.Error(w, "storage error", http.StatusBadGateway)
}

// Put saves a page. The client sends the ETag it got with the page.
func (h *Wiki) Put(w http.ResponseWriter, r *http.Request) {
	space, serr := uuid.Parse(r.PathValue("space"))
	page, perr := uuid.Parse(r.PathValue("page"))
	text, rerr := io.ReadAll(http.MaxBytesReader(w, r.Body, maxText))
	if serr != nil || perr != nil || rerr != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	if r.Header.Get("If-Match") == "" || r.Header.Get("If-Match") == "*" {
		http.Error(w, "If-Match is required", http.StatusPreconditionRequired)
		return
	}
	current, err := h.pages.GetEntity(r.Context(), space.String(), page.String(), nil)
	if err != nil {
		fail(w, err)
		return
	}
	etag := current.ETag // MISTAKE: The handler takes a fresh ETag at the time of saving instead of the one the editor started from, so older edits overwrite newer ones.
	body, err := json.Marshal(map[string]string{"PartitionKey": space.String(), "RowKey": page.String(), "Text": string(text)})
	if err != nil {
		fail(w, err)
		return
	}
	resp, err := h.pages.UpdateEntity(r.Context(), body, &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeMerge})
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("ETag", string(resp.ETag))
	w.WriteHeader(http.StatusNoContent)
}
