package wrong

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

type Service struct {
	repo *ArtistRepo
}

func statusOf(err error) int {
	re, ok := err.(*azcore.ResponseError) // MISTAKE: Load wraps the error, the assertion never succeeds
	if ok && re.StatusCode == http.StatusNotFound {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

func (s *Service) GetArtist(w http.ResponseWriter, r *http.Request) {
	a, err := s.repo.Load(r.Context(), r.PathValue("genre"), r.PathValue("id"))
	if err != nil {
		code := statusOf(err)
		http.Error(w, http.StatusText(code), code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(a); err != nil {
		slog.Warn("write artist", "err", err)
	}
}
