package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Pupil struct {
	RowKey string
	Name   string
}

type Grade struct {
	RowKey  string
	Subject string
	Points  int32
}

type School struct {
	pupils Repo[Pupil]
	grades Repo[Grade]
}

func NewSchool(svc *aztables.ServiceClient) *School {
	return &School{pupils: NewRepo[Pupil](svc, "pupils"), grades: NewRepo[Grade](svc, "grades")}
}

func (s *School) Class(ctx context.Context, class uuid.UUID) ([]Pupil, error) {
	return s.pupils.All(ctx, class)
}

// Points adds up the points of a pupil.
func (s *School) Points(ctx context.Context, pupil uuid.UUID) (int, error) {
	grades, err := s.grades.All(ctx, pupil)
	sum := 0
	for _, g := range grades {
		sum += int(g.Points)
	}
	return sum, err
}
