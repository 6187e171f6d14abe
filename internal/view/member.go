package view

import (
	"fmt"
	"maps"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// editList adds the primary to the list in the row at key, or removes it, and reports
// whether that changed anything. A list without a marker gets one if the primary is added.
// If the row is not a list of the view, editList fails with [*OwnedByOther] or [errLeave]
// if the primary is to be added, and otherwise does nothing.
func editList(row edm.Content, v *View, key, primary keys.Key, wanted bool) (changed bool, err error) {
	empty := len(row.Properties) == 0
	owner, ok, err := v.ownerOf(key, row.Properties)
	if err != nil {
		return false, err
	}
	if !empty && (!ok || owner.View != v.Name) {
		switch {
		case !wanted:
			return false, nil
		case v.Shape.Adopt == types.AdoptLeave && isUnmarked(row.Properties):
			return false, errLeave
		}
		return false, &OwnedByOther{View: v.Name}
	}
	reserved := edm.Properties{}
	for name, v := range row.Properties {
		if edm.IsReserved(name) {
			reserved[name] = v
			delete(row.Properties, name)
		}
	}
	defer maps.Copy(row.Properties, reserved)
	_, marked := reserved[PropView]
	if v.Shape.Plain {
		delete(reserved, PropView)
	} else {
		reserved[PropView] = v.Name
	}
	defer func() {
		if p := recover(); p != nil {
			changed, err = false, BadView(v.Name, "the list panicked with a %T", p)
		}
	}()
	if !wanted {
		return v.Shape.List.Remove(row.Properties, primary)
	}
	changed, err = v.Shape.List.Add(row.Properties, primary)
	return changed || err == nil && !empty && marked == v.Shape.Plain, err
}

// isEmptyList reports whether the list in row has no members.
func isEmptyList(row edm.Content, list types.List) (bool, error) {
	n, err := list.Len(withoutReserved(row.Properties))
	if err != nil {
		return false, fmt.Errorf("list: %w", err)
	}
	return n == 0, nil
}

// memberWrite returns the write that adds the owner to the list which was read as found,
// or removes it. needed is false if no write is necessary.
func (c *Claim) memberWrite(found txn.Row) (w wire.Write, needed bool, err error) {
	if c.Keep {
		return w, false, nil
	}
	row, err := found.Content()
	if err != nil {
		return w, false, err
	}
	if changed, err := editList(row, c.View, c.Key, c.Owner, c.Wanted); err != nil || !changed {
		return w, false, err
	}
	empty, err := isEmptyList(row, c.View.Shape.List)
	if err != nil {
		return w, false, err
	}
	if empty {
		return txn.Delete(c.Key, found.ETag), !found.Absent(), nil
	}
	w, err = txn.OverWith(c.Key, found, row)
	return w, true, err
}
