package clientpercall

import (
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type server struct{ tables *aztables.ServiceClient }

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	table, err := aztables.NewClientWithNoCredential("https://example.org/t", nil) // want `this creates a client for each request.*clientpercall, warning`
	if err != nil {
		return
	}
	table.GetEntity(r.Context(), "p", "r", nil)
	s.tables.NewClient("tasks").GetEntity(r.Context(), "p", "r", nil) // shares the pipeline
}

func New(connection string) (*server, error) {
	tables, err := aztables.NewServiceClientFromConnectionString(connection, nil)
	return &server{tables}, err
}

func handler(connection string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		aztables.NewServiceClientFromConnectionString(connection, nil) // want `this creates a client for each request`
	})
}
