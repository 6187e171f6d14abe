package createpercall

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type store struct{ table *aztables.Client }

func (s *store) Put(ctx context.Context, body []byte) error {
	s.table.CreateTable(ctx, nil) // want `this creates the table, queue or container on each call.*createpercall, warning`
	_, err := s.table.UpsertEntity(ctx, body, nil)
	return err
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.table.CreateTable(r.Context(), nil) // want `this creates the table, queue or container on each call`
}

func (s *store) Init(ctx context.Context, body []byte) error {
	if _, err := s.table.CreateTable(ctx, nil); err != nil { // want `this fails if the table or container exists`
		return err
	}
	_, err := s.table.AddEntity(ctx, body, nil)
	return err
}

func (s *store) Save(ctx context.Context, body []byte) error {
	_, err := s.table.UpsertEntity(ctx, body, nil)
	if err != nil {
		s.table.CreateTable(ctx, nil)
		_, err = s.table.UpsertEntity(ctx, body, nil)
	}
	return err
}

func example(ctx context.Context, table *aztables.Client, body []byte) error {
	table.CreateTable(ctx, nil)
	_, err := table.AddEntity(ctx, body, nil)
	return err
}
