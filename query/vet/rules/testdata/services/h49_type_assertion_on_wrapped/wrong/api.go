package api

import (
	"encoding/json"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"services/h49_type_assertion_on_wrapped/wrong/store"
)

type Handler struct {
	Recipes *store.Recipes
}

func code(err error) int {
	if re, ok := err.(*azcore.ResponseError); ok && re.StatusCode == http.StatusNotFound { // MISTAKE: the store wraps its errors, so this is never true and a missing recipe leads to 502
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
