package dataseries

import (
	"fmt"
	"strconv"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// layout describes the rows of a series: the names of their properties and their keys.
type layout struct {
	names  []slotNames
	perRow int                // slots of each row but the last
	rows   int                // of each series
	suffix func(n int) string // of the key of the n-th row, in ascending order

	// shared means that programs that do not know addsProperty may replace a row.
	shared bool
}

// slotNames are the names of a slot's properties. If turn is "" the row does not store the
// turn of the value.
type slotNames struct{ value, turn string }

// maxProperties is the number of properties that a row may have.
const maxProperties = 252

// ownLayout has two properties for each slot. 125 slots leave room for addsProperty.
func ownLayout(slots int) layout {
	l := newLayout(slots, 125, func(slot int) slotNames {
		return slotNames{fmt.Sprintf("Value%03d", slot), fmt.Sprintf("Turn%03d", slot)}
	})
	l.suffix = func(n int) string {
		if n == 0 {
			return "_"
		}
		return fmt.Sprintf("_%02d", n)
	}
	return l
}

// guideLayout has one property for each slot, numbered from 1.
func guideLayout(property string, slots int) layout {
	width := len(strconv.Itoa(slots))
	l := newLayout(slots, maxProperties, func(slot int) slotNames {
		return slotNames{value: fmt.Sprintf("%s%0*d", property, width, slot+1)}
	})
	l.shared = true
	l.suffix = func(n int) string {
		if l.rows == 1 {
			return ""
		}
		return fmt.Sprintf("_%02d", n+1)
	}
	return l
}

func newLayout(slots, perRow int, name func(slot int) slotNames) layout {
	l := layout{names: make([]slotNames, slots), perRow: perRow, rows: (slots + perRow - 1) / perRow}
	for i := range l.names {
		l.names[i] = name(i)
	}
	return l
}

// valid reports whether the names are those of properties.
func (l *layout) valid() bool { return txn.IsOwnName(l.names[len(l.names)-1].value) }

// rowKey returns the key of the n-th row of a series.
func (l *layout) rowKey(id ID, n int) (keys.Key, error) {
	if id.Series == "" {
		return keys.Key{}, ErrNoID
	}
	k := keys.Key{Partition: id.Partition, Row: keys.Escape(id.Series) + l.suffix(n)}
	return k, k.Validate()
}

// logged reports whether the n-th row has room for addsProperty.
func (l *layout) logged(n int) bool {
	properties := min(l.perRow, len(l.names)-n*l.perRow)
	if l.names[0].turn != "" {
		properties *= 2
	}
	return properties < maxProperties
}

// turnIn returns the turn of the slot's value in row. A value that is stored without a turn
// is one of the turn that the caller wants. found is false if there is no value.
func (n *slotNames) turnIn(row map[string]any, want int64) (turn int64, found bool) {
	if n.turn != "" {
		return valueOf[int64](row[n.turn])
	}
	_, found = row[n.value]
	return want, found
}
