package votes

import (
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type API struct {
	conn string
}

func NewAPI(conn string) (*API, error) {
	if conn == "" {
		return nil, errors.New("connection string is missing")
	}
	return &API{conn: conn}, nil
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	svc, err := aztables.NewServiceClientFromConnectionString(a.conn, nil) // MISTAKE: a new client, with a new pipeline, for every request
	if err != nil {
		http.Error(w, "configuration", http.StatusInternalServerError)
		return
	}
	resp, err := svc.NewClient("votes").GetEntity(r.Context(), r.PathValue("poll"), r.PathValue("choice"), nil)
	var re *azcore.ResponseError
	switch {
	case errors.As(err, &re) && re.StatusCode == http.StatusNotFound:
		http.NotFound(w, r)
		return
	case err != nil:
		http.Error(w, "storage", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(resp.Value); err != nil {
		return
	}
}
