package syncer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Course struct {
	ID    uuid.UUID
	Title string
	Seats int32
}

// Source delivers the courses of the old system.
type Source interface {
	Courses(ctx context.Context) ([]Course, error)
}

// Sync copies all courses of a school; it may be repeated after an error.
func Sync(ctx context.Context, src Source, table *aztables.Client, school uuid.UUID) (int, error) {
	courses, err := src.Courses(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading courses: %w", err)
	}
	count := 0
	for _, c := range courses {
		if len(c.Title) > 300 {
			return count, fmt.Errorf("title of course %s is too long", c.ID)
		}
		body, err := json.Marshal(map[string]any{
			"PartitionKey": school.String(),
			"RowKey":       c.ID.String(),
			"Title":        c.Title,
			"Seats":        c.Seats,
		})
		if err != nil {
			return count, fmt.Errorf("encoding course %s: %w", c.ID, err)
		}
		_, err = table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
		if err != nil {
			return count, fmt.Errorf("writing course %s: %w", c.ID, err)
		}
		count++
	}
	slog.Info("courses copied", "school", school, "count", count)
	return count, nil
}
