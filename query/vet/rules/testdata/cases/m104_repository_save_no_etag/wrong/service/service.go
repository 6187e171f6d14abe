package service

import (
	"context"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/cases/m104_repository_save_no_etag/wrong/repo"
)

type Machine struct {
	PartitionKey string
	RowKey       string
	Owner        string
}

type Service struct{ Machines *repo.Repo[Machine] }

// Hand passes a machine to another owner.
func (s *Service) Hand(ctx context.Context, site, id, owner string) error {
	v, err := s.Machines.Load(ctx, site, id)
	if err != nil {
		return err
	}
	v.Value.Owner = owner
	return s.Machines.Save(ctx, v)
}
