package clientpercall

import (
	"net/http"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/clientpercall/store"
)

func read(w http.ResponseWriter, r *http.Request) {
	table, err := store.Table("connection", "users") // want `this creates a client for each request`
	if err != nil {
		return
	}
	table.GetEntity(r.Context(), "p", "r", nil)
}

func readShared(w http.ResponseWriter, r *http.Request) {
	service, err := store.Shared("connection")
	if err != nil {
		return
	}
	service.NewClient("users").GetEntity(r.Context(), "p", "r", nil)
}

func notify(w http.ResponseWriter, r *http.Request) {
	if err := store.Notify(r.Context(), "connection", "text"); err != nil { // the mistake is in Notify
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
