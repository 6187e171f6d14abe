package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"services/h49_type_assertion_on_wrapped/right/store"
)

type Handler struct {
	Recipes *store.Recipes
}

func code(err error) int {
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return http.StatusNotFound
	}
	return http.StatusBadGateway
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recipe, err := h.Recipes.Get(r.Context(), r.PathValue("cook"), r.PathValue("id"))
	if err != nil {
		http.Error(w, http.StatusText(code(err)), code(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(recipe)
}
