package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Vote struct {
	RowKey string
	Choice string
}

type Ballot struct{ votes *aztables.Client }

// each yields the votes of a poll.
func (b *Ballot) each(ctx context.Context, poll uuid.UUID) iter.Seq2[Vote, error] {
	return func(yield func(Vote, error) bool) {
		filter := fmt.Sprintf("PartitionKey eq '%s'", poll)
		pager := b.votes.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return // MISTAKE: The iterator ends on a failing page without yielding the error, so the caller takes the part for the whole.
			}
			for _, raw := range page.Entities {
				var v Vote
				err := json.Unmarshal(raw, &v)
				if !yield(v, err) {
					return
				}
			}
		}
	}
}

// Result counts the votes for each choice.
func (b *Ballot) Result(ctx context.Context, poll uuid.UUID) (map[string]int, error) {
	result := map[string]int{}
	for v, err := range b.each(ctx, poll) {
		if err != nil {
			return nil, err
		}
		result[v.Choice]++
	}
	return result, nil
}
