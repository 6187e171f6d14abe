package shards

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
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
	p := position[T, V]{Version: r.d.Version, From: r.from, Last: r.last, Streams: slices.Clone(r.streams)}
	for i := range p.Streams {
		if s := &p.Streams[i]; len(s.rows) > 0 {
			s.Done = false // its page has to be read again
		}
	}
	text, err := json.Marshal(p)
	return pages.SealCursor(text, r.shards.table, r.bounds()...), err
}

// position decodes a cursor.
func (r *merge[T, V]) position(text string) (p position[T, V], err error) {
	c, ok := pages.OpenCursor(text, r.bounds()...)
	if !ok || !c.Of(r.shards.table) || text != "" && json.Unmarshal(c.Position, &p) != nil {
		return p, patterns.ErrBadCursor
	}
	return p, nil
}
