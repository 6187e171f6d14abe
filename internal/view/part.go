package view

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Part is what one primary has in one row of a view, or should have there. Two parts with
// the same fields have the same content.
type Part struct {
	Kind    PartKind
	View    string
	Key     keys.Key // of the row
	Primary keys.Key
	Content [16]byte // a hash

	// Loose means that the row need not state its primary, or does not. It is not among the bytes.
	Loose bool
}

// PartKind is what a part is.
type PartKind byte

const (
	PartCopy   PartKind = 'c'
	PartMember PartKind = 'm'
	PartSet    PartKind = 's' // properties merged into a row
	PartMark   PartKind = 'n' // the parts of remote counters
	PartLookup PartKind = 'l'
)

// MemberLister is a [List] that can be verified: its members can be listed.
type MemberLister interface {
	// Members returns the members of the list in row, which is stored at key.
	Members(row map[string]any, key keys.Key) ([]keys.Key, error)
}

// Verifiable reports whether [Set.StoredParts] finds the parts of v: its rows are in a
// table, and its lists, if any, are MemberListers.
func (v *View) Verifiable() bool {
	if table, _ := v.Where(); v.Foreign() && table == nil {
		return false
	}
	_, lists := v.Shape.List.(MemberLister)
	return v.Shape.Kind != types.Members || lists
}

// ImpliedParts returns the parts that should be stored because the primary at key implies d.
// Counters in the partition of the primary have none: nothing shows who was counted.
func ImpliedParts(d *Derived, primary keys.Key) ([]Part, error) {
	p := Part{View: d.View.Name, Key: d.Key, Primary: primary}
	switch d.Kind {
	case types.Copies:
		properties, _, err := edm.ReadProperties(d.Body)
		p.Kind, p.Content = PartCopy, contentOf(d.View.at(d.Key).normal(properties, d.Copy.Only))
		return []Part{p}, err
	case types.Members:
		p.Kind = PartMember
		return []Part{p}, nil
	}
	var all []Part
	if len(d.Merge.Set) > 0 {
		p.Kind, p.Content = PartSet, contentOf(d.View.at(d.Key).normal(d.Merge.Set, nil))
		all = append(all, p)
	}
	if len(d.Merge.Add) > 0 && !d.local(primary) {
		numbers := map[string]any{}
		for name, v := range d.Merge.Add {
			numbers[name], _ = number(v)
		}
		p.Kind, p.Content = PartMark, contentOf(numbers)
		all = append(all, p)
	}
	return all, nil
}

// StoredParts returns the parts in the row at key, of the views that use reports. A copy
// that is only reserved is none.
func (s *Set) StoredParts(key keys.Key, row edm.Properties, use func(*View) bool) (all []Part, err error) {
	setters, err := settersOf(row)
	if err != nil {
		return nil, err
	}
	for _, v := range s.Views {
		if !use(v) {
			continue
		}
		p := Part{View: v.Name, Key: key}
		switch from, sets := setters[v.Name]; {
		case v.Shape.Kind != types.Merges:
			all, err = v.appendStored(all, p, row)
		case sets:
			p.Kind, p.Primary = PartSet, keys.Key{Partition: from.Partition, Row: from.Row}
			set := maps.Clone(row)
			maps.DeleteFunc(set, func(name string, _ any) bool { return !slices.Contains(from.Names, name) })
			p.Content = contentOf(v.at(key).normal(set, nil))
			all = append(all, p)
		case row[PropView] == v.Name && strings.HasPrefix(key.Row, markPrefix):
			all, err = appendMark(all, p, row)
		}
		if err != nil {
			return nil, &types.ViewError{View: v.Name, Err: err}
		}
	}
	return all, nil
}

// UnmarkedParts returns the copies that the row at key may be, of the views that use reports, if it
// has no property of the library. They are Loose, and have no Primary.
func (s *Set) UnmarkedParts(key keys.Key, row edm.Properties, use func(*View) bool) (all []Part) {
	if !isUnmarked(row) {
		return nil
	}
	for _, v := range s.Views {
		if l := v.Layout; use(v) && v.MayBeUnmarked() && l.Has(key) && v.shows(row, l.Only) {
			all = append(all, Part{Kind: PartCopy, View: v.Name, Key: key, Content: contentOf(v.at(key).normal(row, l.Only)), Loose: true})
		}
	}
	return all
}

// MayBeUnmarked reports whether [Set.UnmarkedParts] finds copies of v.
func (v *View) MayBeUnmarked() bool {
	return v.Shape.Kind == types.Copies && v.Shape.Owner == nil && v.Layout.Has != nil && !v.exact
}

// appendStored appends the copy or the members in a row, if it is one of v.
func (v *View) appendStored(all []Part, p Part, row edm.Properties) ([]Part, error) {
	owner, ok, err := v.Claims(p.Key, row)
	if err != nil || !ok || owner.Reserved {
		return all, err
	}
	if v.Shape.Kind == types.Copies {
		p.Kind, p.Primary, p.Content = PartCopy, owner.Primary, contentOf(v.at(p.Key).normal(row, v.Layout.Only))
		return append(all, p), nil
	}
	if v.Shape.Kind == types.Lookups {
		if p.Kind, p.Primary = PartLookup, owner.Primary; v.Expiring != nil { // it may be at an earlier key than the one implied
			return all, nil
		}
		return append(all, p), nil
	}
	lister, ok := v.Shape.List.(MemberLister)
	if !ok {
		return all, nil
	}
	members, err := lister.Members(withoutReserved(row), p.Key)
	for _, member := range members {
		p.Kind, p.Primary = PartMember, member
		all = append(all, p)
	}
	return all, err
}

// appendMark appends what a mark counts.
func appendMark(all []Part, p Part, row edm.Properties) ([]Part, error) {
	mark := edm.Content{Properties: row}
	numbers, err := parseParts(mark.Text(propParts))
	counted := edm.Properties{}
	for name, n := range numbers {
		counted[name] = n
	}
	p.Kind, p.Content = PartMark, contentOf(counted)
	p.Key.Row, p.Primary = mark.Text(propRow), keys.Key{Partition: mark.Text(PropOwnerPK), Row: mark.Text(PropOwnerRK)}
	return append(all, p), err
}

// contentOf returns a hash of properties. Values that are equal for [edm.Properties.Equal] have
// the same hash.
func contentOf(row edm.Properties) (sum [16]byte) {
	h := sha256.New()
	for _, name := range namesOf(row) {
		writeText(h, 'p', name)
		switch v := row[name].(type) {
		case string:
			writeText(h, 's', v)
		case []byte:
			writeText(h, 'b', string(v))
		case [16]byte:
			writeText(h, 'g', string(v[:]))
		case bool:
			kind := byte('0')
			if v {
				kind = '1'
			}
			writeNumber(h, kind, 0)
		case int32:
			writeNumber(h, 'i', uint64(v))
		case int64:
			writeNumber(h, 'l', uint64(v))
		case time.Time:
			writeNumber(h, 'd', uint64(v.Unix()))
			writeNumber(h, 'n', uint64(v.Nanosecond()))
		case float64:
			switch {
			case v == 0:
				v = 0 // -0 is equal to it
			case math.IsNaN(v):
				v = math.NaN()
			}
			writeNumber(h, 'f', math.Float64bits(v))
		}
	}
	copy(sum[:], h.Sum(nil))
	return sum
}

func writeText(w io.Writer, kind byte, text string) {
	writeNumber(w, kind, uint64(len(text)))
	_, _ = io.WriteString(w, text)
}

func writeNumber(w io.Writer, kind byte, n uint64) {
	var b [9]byte
	b[0] = kind
	binary.LittleEndian.PutUint64(b[1:], n)
	_, _ = w.Write(b[:])
}

// Bytes returns p in bytes, from which [ParsePart] makes it again.
func (p *Part) Bytes() []byte {
	b := append([]byte{byte(p.Kind)}, p.Content[:]...)
	for _, text := range []string{p.View, p.Key.Partition, p.Key.Row, p.Primary.Row, p.Primary.Partition} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// ParsePart is the inverse of [Part.Bytes].
func ParsePart(b []byte) (p Part, err error) {
	bad := azerr.Errorf("%w: not a part of a row", azerr.ErrBadCursor)
	if len(b) < 1+len(p.Content) {
		return p, bad
	}
	p.Kind = PartKind(b[0])
	b = b[1+copy(p.Content[:], b[1:]):]
	for _, text := range []*string{&p.View, &p.Key.Partition, &p.Key.Row, &p.Primary.Row, &p.Primary.Partition} {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return p, bad
		}
		*text, b = string(b[used:used+int(n)]), b[used+int(n):]
	}
	return p, nil
}

// Agrees reports whether nothing would have to be written to carry out c, given what was
// read, or nothing but the properties of the library in a copy that has none. If the row belongs to
// another primary, other describes it. It makes no request.
func (c *Claim) Agrees(found Found) (agrees bool, other *OwnedByOther, err error) {
	if c.View.Shape.Kind == types.Lookups {
		return c.Wanted != found.Row.Absent(), nil, nil
	}
	if agrees, err = c.agreesUnmarked(found.Row); agrees || err != nil {
		return agrees, nil, err
	}
	writes, err := c.writes(found, nil)
	if errors.As(err, &other) {
		return false, other, nil
	}
	return err == nil && len(writes) == 0, nil, err
}

// agreesUnmarked reports whether the row, which was read as found, is the copy that c wants, and has
// no property of the library.
func (c *Claim) agreesUnmarked(found txn.Row) (bool, error) {
	if c.View.Shape.Kind != types.Copies || c.View.exact || !c.Wanted || found.Absent() {
		return false, nil
	}
	row, err := found.Content()
	if err != nil || !isUnmarked(row.Properties) {
		return false, err
	}
	want, _, err := edm.ReadProperties(c.Body)
	if err != nil {
		return false, err
	}
	owner, known, err := c.View.ownerOf(c.Key, row.Properties)
	if known {
		return owner.Primary == c.Owner && c.View.at(c.Key).same(withoutReserved(want), row.Properties, c.Only), err
	}
	return err == nil && c.View.at(c.Key).recognizes(want, row.Properties, c.Only), err
}
