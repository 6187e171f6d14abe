package backups

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/google/uuid"
)

type Backups struct {
	client *azblob.Client
}

func (b *Backups) Download(w http.ResponseWriter, r *http.Request) {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	resp, err := b.client.DownloadStream(r.Context(), "backups", id.String()+".tar.gz", nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		slog.Error("opening backup", "id", id, "error", err)
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.Header().Set("Content-Type", "application/gzip")
	if _, err := io.Copy(w, resp.Body); err != nil {
		slog.Warn("sending backup", "id", id, "error", err)
	}
}
