package right

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Loader struct {
	c   *aztables.Client
	buf []aztables.TransactionAction
}

func (l *Loader) flush(ctx context.Context) error {
	if len(l.buf) == 0 {
		return nil
	}
	_, err := l.c.SubmitTransaction(ctx, l.buf, nil)
	l.buf = l.buf[:0]
	return err
}

func (l *Loader) add(ctx context.Context, ent []byte) error {
	l.buf = append(l.buf, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: ent})
	if len(l.buf) == 100 {
		return l.flush(ctx)
	}
	return nil
}

// Load reads postcode,town pairs of one country.
func (l *Loader) Load(ctx context.Context, country string, src io.Reader) error {
	rows := csv.NewReader(src)
	rows.FieldsPerRecord = 2
	for {
		rec, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return l.flush(ctx)
		}
		if err != nil {
			return err
		}
		ent, err := json.Marshal(map[string]string{
			"PartitionKey": country,
			"RowKey":       rec[0],
			"Town":         rec[1],
		})
		if err != nil {
			return err
		}
		if err := l.add(ctx, ent); err != nil {
			return fmt.Errorf("postcode %s: %w", rec[0], err)
		}
	}
}
