package view

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/patterns/types"
)

// Journal makes a view one of changes: it implies no rows. Package journal adds a row for each change of an entity to its transaction.
type Journal struct {
	Content types.Content
	Only    func(entity any) bool // the entities whose changes are recorded; nil: all
	Feeds   []Feed
}

// Feed is a consumer of the changes that a journal records.
type Feed struct {
	Name string

	// Wake puts the message after which the feed closes an epoch of a partition of the table, and reads the changes up to it. It is delivered
	// after a delay.
	Wake func(ctx context.Context, table, partition string, epoch int64, delay time.Duration) error

	Delay time.Duration // of the first message of a transaction
}

// Records reports whether a change from one version to another is recorded; nil is no entity.
func (j *Journal) Records(was, now any) bool {
	return j.Only == nil || was != nil && j.Only(was) || now != nil && j.Only(now)
}

// Journal returns the view with the journal of the entities that s writes, nil if there is none.
func (s *Set) Journal() *View {
	for _, v := range s.Views {
		if v.Journal != nil {
			return v
		}
	}
	return nil
}
