package web

import (
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/cases/m35_type_assertion_on_wrapped/wrong/store"
)

type Site struct{ Store *store.Store }

func (s *Site) Show(w http.ResponseWriter, r *http.Request) {
	b, err := s.Store.Load(r.Context(), "page", r.PathValue("id"))
	if re, ok := err.(*azcore.ResponseError); ok && re.StatusCode == http.StatusNotFound { // MISTAKE: Load wraps the error, so the assertion never holds and a missing page is a 500
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
