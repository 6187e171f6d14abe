package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type repo struct{ table *aztables.Client }

func (r *repo) raw(ctx context.Context, folder, id uuid.UUID) ([]byte, error) {
	resp, err := r.table.GetEntity(ctx, folder.String(), id.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("reading file %s: %w", id, err)
	}
	return resp.Value, nil
}

type Files struct{ repo *repo }

func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	folder, err := uuid.Parse(r.PathValue("folder"))
	if err != nil {
		http.Error(w, "bad folder", http.StatusBadRequest)
		return
	}
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	body, err := f.repo.raw(r.Context(), folder, id)
	if re, ok := err.(*azcore.ResponseError); ok && re.StatusCode == http.StatusNotFound { // MISTAKE: The error was wrapped by the repository, so the type assertion in the handler never succeeds.
		http.NotFound(w, r)
		return
	}
	if err != nil {
		slog.Error("file", "error", err)
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(body); err != nil {
		slog.Warn("writing file", "error", err)
	}
}
