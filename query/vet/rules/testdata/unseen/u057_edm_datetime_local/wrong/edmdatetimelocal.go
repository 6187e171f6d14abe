package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Loan struct {
	Book   string
	Reader string
	Due    time.Time
}

type Library struct {
	loans *aztables.Client
	days  int
}

func (l *Library) due() time.Time {
	y, m, d := time.Now().Date()
	return time.Date(y, m, d+l.days, 18, 0, 0, 0, time.Local)
}

// Lend notes who has the book and until when.
func (l *Library) Lend(ctx context.Context, branch, book, reader string) (Loan, error) {
	loan := Loan{Book: book, Reader: reader, Due: l.due()}
	ent := aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: branch, RowKey: book},
		Properties: map[string]any{
			"Reader": reader,
			"Due":    aztables.EDMDateTime(loan.Due), // MISTAKE: a local time is written as if it were UTC
		},
	}
	raw, err := json.Marshal(ent)
	if err != nil {
		return loan, err
	}
	_, err = l.loans.AddEntity(ctx, raw, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.ErrorCode == string(aztables.EntityAlreadyExists) {
		return loan, fmt.Errorf("%s is lent out", book)
	}
	return loan, err
}

// Return takes the book back.
func (l *Library) Return(ctx context.Context, branch, book string) error {
	_, err := l.loans.DeleteEntity(ctx, branch, book, nil)
	return err
}
