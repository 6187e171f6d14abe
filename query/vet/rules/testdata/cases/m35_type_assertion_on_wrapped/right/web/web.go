package web

import (
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/cases/m35_type_assertion_on_wrapped/right/store"
)

type Site struct{ Store *store.Store }

func (s *Site) Show(w http.ResponseWriter, r *http.Request) {
	b, err := s.Store.Load(r.Context(), "page", r.PathValue("id"))
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(b); err != nil {
		return
	}
}
