package createpercall

import (
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	tables "github.com/azpatterns/azpatterns/query/vet/rules/testdata/createpercall/store"
)

type api struct{ service *aztables.ServiceClient }

func (a *api) get(w http.ResponseWriter, r *http.Request) {
	tables.Table(r.Context(), a.service, "users").GetEntity(r.Context(), "p", "r", nil) // want `this creates the table, queue or container on each call`
}
