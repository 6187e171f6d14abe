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

type Handler struct {
	menus *aztables.Client
}

func NewHandler() (*Handler, error) {
	t, err := table("menus")
	return &Handler{menus: t}, err
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

func (h *Handler) dish(ctx context.Context, place, id string) (d Dish, err error) {
	resp, err := h.menus.GetEntity(ctx, place, id, nil)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(resp.Value, &d)
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, err := h.dish(r.Context(), r.PathValue("place"), r.PathValue("dish"))
	if err != nil {
		http.Error(w, "no such dish", http.StatusBadGateway)
		return
	}
	_ = json.NewEncoder(w).Encode(d)
}
