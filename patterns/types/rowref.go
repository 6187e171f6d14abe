package types

import "github.com/azpatterns/azpatterns/keys"

// RowRef identifies a row of a view. A RowRef may be read concurrently.
type RowRef struct {
	View      string `json:"v"`
	Partition string `json:"p"`
	Row       string `json:"r"`
}

// Key is the row's key.
func (r RowRef) Key() keys.Key { return keys.Key{Partition: r.Partition, Row: r.Row} }
