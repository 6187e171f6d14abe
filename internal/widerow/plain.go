package widerow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
)

// The rows of a plain entity contain its properties and nothing else, as another program
// writes them: no notes, no pieces. Only the head is added, by the first write. So the
// rows themselves show which parts there are, and their ETags take the place of versions:
// a write changes each row under its ETag, in one transaction with the head.

// plain reports whether h is the head of a plain entity.
func (h *head) plain() bool { return h != nil && strings.HasPrefix(h.layout, plainLayout) }

// gone reports whether another program has deleted the rows of a plain entity, and left
// the head.
func (h *head) gone() bool { return h.plain() && len(h.parts) == 0 }

// tag is the ETag of the entity: of a plain one, a hash of those of its rows.
func (h *head) tag() string {
	if !h.plain() {
		return h.etag
	}
	text := h.etag
	for _, i := range slices.Sorted(maps.Keys(h.parts)) {
		if h.parts[i].etag == txn.SupersededETag {
			return txn.SupersededETag
		}
		text += " " + partNumber(i) + " " + h.parts[i].etag
	}
	sum := sha256.Sum256([]byte(text))
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

// storedEntity are the rows of an entity as they were read.
type storedEntity struct {
	*edm.StoredRows
	at   map[string]int // row key -> index in Rows
	head *head
}

// readPlainHead is readHead for an entity that may be plain.
func (t *Table) readPlainHead(ctx context.Context, rows entityRows, names []string) (h *head, err error) {
	err = t.attempt(ctx, func() (bool, error) {
		s, err := t.readRows(ctx, rows, append([]string{}, names...))
		h = s.head
		return errors.Is(err, ErrTorn), err
	})
	return h, err
}

// headOf returns the entity that the rows of g are. If there is none, the error is
// [azerr.ErrNotFound].
func (t *Table) headOf(g *edm.StoredRows, rows entityRows) (s storedEntity, err error) {
	s = storedEntity{StoredRows: g, at: make(map[string]int, len(g.Rows))}
	for i := range g.Rows {
		s.at[g.Rows[i].RowKey] = i
	}
	i, exists := s.at[rows.head().Row]
	switch {
	case exists:
		if s.head, err = parseHead(&g.Rows[i]); err != nil || !s.head.plain() {
			return s, err
		}
	case t.layout.plain:
		s.head = &head{layout: t.layout.name, parts: map[int]entityPart{}}
	default:
		return s, azerr.ErrNotFound
	}
	for i := range g.Rows {
		r := &g.Rows[i]
		k, ok := kindOf(strings.TrimPrefix(r.RowKey, rows.base))
		if !ok || k != (rowKind{part: k.part}) {
			continue
		}
		if r.Text(noteProperty) != "" {
			return s, fmt.Errorf("part %s: %w", partNumber(k.part), ErrForeignRow)
		}
		s.head.parts[k.part] = entityPart{etag: r.ETag}
		s.head.timestamp = later(s.head.timestamp, r.Timestamp)
		if s.head.layout == t.layout.name {
			err = t.checkPlaces(g, i, k.part)
		}
		if err != nil {
			return s, err
		}
	}
	if !exists && len(s.head.parts) == 0 {
		err = azerr.ErrNotFound
	}
	return s, err
}

// checkPlaces refuses row i of g if it has a property that belongs to another part than p:
// a merge would store it twice.
func (t *Table) checkPlaces(g *edm.StoredRows, i, p int) error {
	for _, name := range g.Names(i) {
		if err := t.layout.check(name); err != nil {
			return err
		}
		if want := t.layout.partOf(name); want != p {
			return fmt.Errorf("%w: property %s is in row %s and belongs to row %s", ErrForeignRow, name, partNumber(p), partNumber(want))
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
