package shards

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// position is the content of a cursor. If the directory has changed since, only Last counts.
type position[T any] struct {
	Version int64
	From    *keys.Key `json:",omitempty"`
	Last    *keys.Key `json:",omitempty"`
	Streams []stream[T]
}

// bounds identify the read that a cursor belongs to.
func (r *merge[T]) bounds() []string {
	selected := "*"
	if r.opts.Select != nil {
		selected = strings.Join(r.opts.Select, ",")
	}
	return []string{r.filter.String(), selected}
}

// cursor returns the position after the last row.
func (r *merge[T]) cursor() (string, error) {
	p := position[T]{Version: r.d.Version, From: r.from, Last: r.last, Streams: slices.Clone(r.streams)}
	for i := range p.Streams {
		if s := &p.Streams[i]; len(s.rows) > 0 {
			s.Done = false // its page has to be read again
		}
	}
	text, err := json.Marshal(p)
	return cursor.Seal(text, r.shards.table, r.bounds()...), err
}

// position decodes a cursor.
func (r *merge[T]) position(text string) (p position[T], err error) {
	c, ok := cursor.Open(text, r.bounds()...)
	if !ok || !c.Of(r.shards.table) {
		return p, patterns.ErrBadCursor
	}
	if text != "" && json.Unmarshal(c.Position, &p) != nil {
		return p, patterns.ErrBadCursor
	}
	return p, nil
}
