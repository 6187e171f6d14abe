package media

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/google/uuid"
)

type Handler struct {
	videos *container.Client
}

// Watch answers with a link under which the browser can load a video.
func (h *Handler) Watch(w http.ResponseWriter, r *http.Request) {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	permissions := sas.BlobPermissions{Read: true, Write: true, Delete: true} // MISTAKE: The signature for a download also permits writing and deleting the blob.
	video := h.videos.NewBlobClient(id.String() + ".mp4")
	url, err := video.GetSASURL(permissions, time.Now().UTC().Add(2*time.Hour), nil)
	if err != nil {
		slog.Error("signing", "video", id, "error", err)
		http.Error(w, "no link", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(map[string]string{"url": url}); err != nil {
		slog.Warn("watch response", "error", err)
	}
}
