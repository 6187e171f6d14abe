package shards

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
)

// position is the content of a cursor. If the directory has changed since, only Last counts.
type position[T any, V accessor[T, V]] struct {
	Version int64
	From    *keys.Key `json:",omitempty"`
	Last    *keys.Key `json:",omitempty"`
	Streams []stream[T, V]
}

// bounds identify the read that a cursor belongs to.
func (r *merge[T, V]) bounds() []string {
	selected := "*"
	if r.opts.Select != nil {
		selected = strings.Join(r.opts.Select, ",")
	}
	return []string{r.filter.String(), selected}
}

// cursor returns the position after the last row.
func (r *merge[T, V]) cursor() (string, error) {
	p := position[T, V]{Version: r.d.Version, From: r.from, Last: r.last, Streams: r.streams}
	return pages.SealJSON(p, r.shards.table, r.bounds()...)
}
