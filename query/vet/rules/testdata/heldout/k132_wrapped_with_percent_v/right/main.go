package playlist

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Repository struct {
	table *aztables.Client
}

func (r *Repository) Delete(ctx context.Context, owner, id uuid.UUID) error {
	_, err := r.table.DeleteEntity(ctx, owner.String(), id.String(), nil)
	if err != nil {
		return fmt.Errorf("failed to delete playlist %s: %w", id, err)
	}
	return nil
}

type Handler struct {
	playlists *Repository
}

func (h *Handler) Delete(w http.ResponseWriter, r *http.Request) {
	owner, oerr := uuid.Parse(r.PathValue("owner"))
	id, ierr := uuid.Parse(r.PathValue("id"))
	if oerr != nil || ierr != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	err := h.playlists.Delete(r.Context(), owner, id)
	var re *azcore.ResponseError
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.As(err, &re) && re.StatusCode == http.StatusNotFound:
		http.NotFound(w, r)
	default:
		slog.Error("deleting playlist", "error", err)
		http.Error(w, "storage error", http.StatusBadGateway)
	}
}
