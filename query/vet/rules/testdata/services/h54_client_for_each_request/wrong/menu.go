package menu

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Dish struct {
	RowKey string
	Name   string
	Cents  int32
}

func table(name string) (*aztables.Client, error) {
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	svc, err := aztables.NewServiceClient(os.Getenv("TABLES_URL"), cred, nil)
	if err != nil {
		return nil, fmt.Errorf("table service: %w", err)
	}
	return svc.NewClient(name), nil
}

func dish(ctx context.Context, place, id string) (d Dish, err error) {
	menus, err := table("menus") // MISTAKE: each request builds a credential and a client, with new tokens
	if err != nil {
		return d, err
	}
	resp, err := menus.GetEntity(ctx, place, id, nil)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(resp.Value, &d)
}

func Handle(w http.ResponseWriter, r *http.Request) {
	d, err := dish(r.Context(), r.PathValue("place"), r.PathValue("dish"))
	if err != nil {
		http.Error(w, "no such dish", http.StatusBadGateway)
		return
	}
	_ = json.NewEncoder(w).Encode(d)
}
