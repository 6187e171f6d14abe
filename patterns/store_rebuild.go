package patterns

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
)

// Rebuild looks after every row that follows from the entity at key, whether it
// should need it or not, and writes what is missing or wrong: after a view was
// added to a table that has rows, or after something wrote past the Store. It writes
// the entity itself again, unchanged, so that its ETag is a new one. ErrNotFound
// where there is no entity.
//
// It cannot find rows that no entity implies, nor a counter that is wrong though each
// entity was counted once. One elsewhere is to be deleted, row or property, before any
// entity that it counts is rebuilt, which adds it up again. One in the entities'
// partition is to be set right by hand while nobody writes.
func (s *Store[T]) Rebuild(ctx context.Context, key keys.Key) (Item[T], error) {
	return s.run(ctx, &intent[T]{what: "rebuild", key: key, again: true, blind: true, mend: true, next: func(was *Item[T]) (*T, error) {
		if was == nil {
			return nil, fmt.Errorf("rebuild: %w", ErrNotFound)
		}
		v := was.Value
		return &v, nil
	}})
}

// Follows lists the rows that follow from v, without a request: the view's name and
// the key.
func (s *Store[T]) Follows(v *T) ([]Place, error) {
	key, err := s.table.Key(v)
	if err != nil {
		return nil, fmt.Errorf("follows: %w", err)
	}
	rows, err := s.views.derive(v, key)
	if err != nil {
		return nil, fmt.Errorf("follows: %w", err)
	}
	places := make([]Place, len(rows))
	for i := range rows {
		places[i] = Place{View: rows[i].lens.name, Partition: rows[i].key().Partition, Row: rows[i].key().Row}
	}
	return places, nil
}
