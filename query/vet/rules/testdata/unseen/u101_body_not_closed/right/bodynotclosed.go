package right

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
)

type AvatarHandler struct {
	blobs     *azblob.Client
	container string
	maxBytes  int64
}

func (h *AvatarHandler) load(ctx context.Context, user string) ([]byte, string, error) {
	resp, err := h.blobs.DownloadStream(ctx, h.container, "avatars/"+user+".png", nil)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, h.maxBytes))
	if err != nil {
		return nil, "", fmt.Errorf("read avatar of %s: %w", user, err)
	}
	kind := "image/png"
	if resp.ContentType != nil {
		kind = *resp.ContentType
	}
	return data, kind, nil
}

func (h *AvatarHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, kind, err := h.load(r.Context(), r.PathValue("user"))
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "cannot load picture", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data)
}
