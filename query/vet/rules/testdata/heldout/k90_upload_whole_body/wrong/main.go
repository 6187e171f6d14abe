package upload

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/google/uuid"
)

const maxVideo = 4 << 30

type Videos struct {
	client *azblob.Client
}

// ServeHTTP takes a video and answers with its id.
func (v *Videos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		http.Error(w, "use PUT", http.StatusMethodNotAllowed)
		return
	}
	id := uuid.New()
	body := http.MaxBytesReader(w, r.Body, maxVideo)
	data, err := io.ReadAll(body) // MISTAKE: The whole uploaded video is read into memory before it is sent to the blob.
	if err != nil {
		http.Error(w, "cannot read the video", http.StatusBadRequest)
		return
	}
	_, err = v.client.UploadBuffer(r.Context(), "videos", id.String()+".mp4", data, nil)
	if err != nil {
		slog.Error("uploading", "video", id, "error", err)
		http.Error(w, "cannot store the video", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	if err := json.NewEncoder(w).Encode(map[string]string{"id": id.String()}); err != nil {
		slog.Warn("upload response", "error", err)
	}
}
