package audio

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/google/uuid"
)

const maxUpload = 200 << 20

type Uploads struct {
	client *azblob.Client
}

// Post stores an audio file sent by a form.
func (u *Uploads) Post(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	file, header, err := r.FormFile("audio")
	if err != nil {
		http.Error(w, "no file", http.StatusBadRequest)
		return
	}
	defer file.Close()
	slog.Info("audio upload", "bytes", header.Size)

	name := uuid.NewString()
	_, err = u.client.UploadStream(r.Context(), "audio", name, file, &azblob.UploadStreamOptions{
		HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("application/octet-stream")},
	})
	if err != nil {
		slog.Error("storing audio", "error", err)
		http.Error(w, "cannot store the file", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	if err := json.NewEncoder(w).Encode(map[string]string{"name": name}); err != nil {
		slog.Warn("audio response", "error", err)
	}
}
