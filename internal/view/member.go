package view

import (
	"fmt"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// List edits the row that contains a list. Implementations are pure, and safe for
// concurrent use.
//
// A row is a map of its properties by name, without keys, Timestamp and the properties
// of the library. Values are string, bool, int32, int64, float64, time.Time, []byte or
// [16]byte. A missing row is an empty map.
type List interface {
	// Add adds member, the key of a primary, to the list and reports whether that changed
	// the row. It changes row in place. If the row is full, the error matches
	// [azerr.ErrTooLarge].
	Add(row map[string]any, member keys.Key) (changed bool, err error)

	// Remove removes member from the list and reports whether that changed the row.
	Remove(row map[string]any, member keys.Key) (changed bool, err error)

	// Len returns the number of members. A list without members is deleted.
	Len(row map[string]any) (int, error)
}

// editList adds the primary to the list in row, or removes it, and reports whether that
// changed anything. If the row is not a list of the view, editList fails with
// [*OwnedByOther] if the primary is to be added, and otherwise does nothing.
func editList(row txn.Content, view string, list List, primary keys.Key, wanted bool) (changed bool, err error) {
	reserved := edm.Properties{}
	for name, v := range row.Properties {
		if edm.IsReserved(name) {
			reserved[name] = v
			delete(row.Properties, name)
		}
	}
	defer func() {
		for name, v := range reserved {
			row.Properties[name] = v
		}
	}()
	empty := len(reserved) == 0 && len(row.Properties) == 0
	if owner, _ := reserved[PropView].(string); owner != view && !empty {
		if wanted {
			err = &OwnedByOther{View: view}
		}
		return false, err
	}
	reserved[PropView] = view
	defer func() {
		if p := recover(); p != nil {
			changed, err = false, BadView(view, "the list panicked with a %T", p)
		}
	}()
	if wanted {
		return list.Add(row.Properties, primary)
	}
	return list.Remove(row.Properties, primary)
}

// isEmptyList reports whether the list in row has no members.
func isEmptyList(row txn.Content, list List) (bool, error) {
	own := edm.Properties{}
	for name, v := range row.Properties {
		if !edm.IsReserved(name) {
			own[name] = v
		}
	}
	n, err := list.Len(own)
	if err != nil {
		return false, fmt.Errorf("list: %w", err)
	}
	return n == 0, nil
}

// memberWrite returns the write that adds the owner to the list which was read as found,
// or removes it. needed is false if no write is necessary.
func (c *Claim) memberWrite(found txn.Row) (w wire.Write, needed bool, err error) {
	row, err := found.Content()
	if err != nil {
		return w, false, err
	}
	if changed, err := editList(row, c.View, c.List, c.Owner, c.Wanted); err != nil || !changed {
		return w, false, err
	}
	empty, err := isEmptyList(row, c.List)
	if err != nil {
		return w, false, err
	}
	if empty {
		return txn.Delete(c.Key, found.ETag), !found.Absent(), nil
	}
	w, err = row.Over(c.Key, found)
	return w, true, err
}
