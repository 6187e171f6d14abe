package edm

import (
	"bytes"
	"reflect"
)

// DecodePage reads the reply to a query. For each row it calls next, which returns where
// to decode the row, as in DecodeEntity; m and unknown may be nil. If m is not nil, the row
// must have both keys and an ETag. The rows before an error are filled.
func (c *Codec) DecodePage(body []byte, next func() (dst any, m *Meta, unknown *Unknown)) error {
	d := c.decoder(body)
	defer c.release(d)
	return d.decodePage(next, nil, true)
}

// DecodeBarePage is DecodePage of a reply without metadata, whose rows have no ETags. If
// partition is not nil, it is the partition key of rows that do not contain theirs.
func (c *Codec) DecodeBarePage(body []byte, partition *string, next func() (dst any, m *Meta, unknown *Unknown)) error {
	d := c.decoder(body)
	defer c.release(d)
	d.partition, d.level = partition, levelUntyped
	return d.decodePage(next, nil, false)
}

// DecodeMixedPage is DecodePage of rows of which some may be of other types. If a row does
// not fit, it calls other with the error. The m and unknown of the row are filled then, and
// its value is filled in part. If other returns nil, DecodeMixedPage continues with the next
// row, otherwise it returns the error.
func (c *Codec) DecodeMixedPage(body []byte, next func() (dst any, m *Meta, unknown *Unknown), other func(error) error) error {
	d := c.decoder(body)
	defer c.release(d)
	return d.decodePage(next, other, true)
}

func (d *decoder) decodePage(next func() (any, *Meta, *Unknown), other func(error) error, tagged bool) error {
	if !d.start('{') {
		return d.err
	}
	return d.page(func() error {
		at := d.pos
		dst, m, unknown := next()
		row, err := d.entity(dst, m, unknown)
		if err != nil && d.err == nil && other != nil {
			err = other(err)
		}
		if err != nil {
			return err
		}
		if m != nil && (row.toks[slotPartitionKey].kind != tokString && !row.inPartition() || row.toks[slotRowKey].kind != tokString) {
			d.fail(at, "a row without its keys")
			return d.err
		}
		if m != nil && tagged && row.toks[slotETag].kind != tokString { // its form has been checked
			d.fail(at, "a row without its ETag")
			return d.err
		}
		return nil
	})
}

// A Chooser takes the place of the pointer to the entity, for rows of several Go types. The
// codec is then that of struct{}.
type Chooser interface {
	// Discriminator is the name of the text property that depends on the Go type, "" for
	// none.
	Discriminator() string

	// Choose returns a pointer to a zero value of the row's Go type, into which the row is
	// decoded; nil for a row of which only the Meta is wanted. text is the discriminator's
	// value. It is nil if the row has none, and isText is false if it has one that is not
	// text. The slices are valid only during the call.
	Choose(rowKey, text []byte, isText bool) any

	// CodecOf returns the codec of a Go type that Choose has chosen. It is not called again while
	// a decoder remembers the type.
	CodecOf(t reflect.Type) (*Codec, error)
}

// A rowType is a Go type that a Chooser has chosen, with its decoder.
type rowType struct {
	codec *Codec
	*decoder
}

// choose reads the object at pos, and returns the decoder for the row's Go type, which has
// its tokens, and the pointer to the entity. d remembers the types of earlier rows, and
// first tries that of the last one.
func (d *decoder) choose(c Chooser) (*decoder, any, error) {
	at, row := d.pos, d
	if d.rowType < len(d.rowTypes) {
		row = d.rowTypes[d.rowType].decoder
	}
	if !d.objectBy(row, at) {
		return d, nil, d.err
	}
	text, isText := row.discriminator(c.Discriminator())
	dst := c.Choose(row.rawText(&row.toks[slotRowKey]), text, isText)
	if dst == nil {
		return row, nil, nil
	}
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return d, nil, &FieldError{Type: v.Type().String(), Reason: "is not a pointer to a value"}
	}
	t := v.Type().Elem()
	if row.plan.typ == t {
		return row, dst, nil
	}
	for d.rowType = range d.rowTypes {
		if row = d.rowTypes[d.rowType].decoder; row.plan.typ == t {
			break
		}
	}
	if row.plan.typ != t {
		codec, err := c.CodecOf(t)
		if err != nil {
			return d, nil, err
		}
		row = codec.decoder(d.data)
		d.rowType = len(d.rowTypes)
		d.rowTypes = append(d.rowTypes, rowType{codec, row})
	}
	if !d.objectBy(row, at) {
		return d, nil, d.err
	}
	return row, dst, nil
}

// objectBy makes row read the object that begins at the given position.
func (d *decoder) objectBy(row *decoder, at int) bool {
	row.pos = at
	ok := row.object()
	d.pos, d.err = row.pos, row.err
	return ok
}

// discriminator returns the text of a property of the row, as [Chooser.Choose] receives it.
func (d *decoder) discriminator(name string) (text []byte, isText bool) {
	i, ok := d.plan.index[name]
	if !ok {
		i, ok = d.index[name]
	}
	if !ok {
		return nil, true
	}
	t := &d.toks[d.members[i].slot]
	text = d.rawText(t)
	if t.escaped { // unescaped in memory that the next text will use
		text = bytes.Clone(text)
	}
	return text, t.kind == tokNone || t.kind == tokNull || t.kind == tokString && (t.edm == 0 || t.edm == String)
}

// rawText returns the text of a string token, nil for other tokens.
func (d *decoder) rawText(t *token) []byte {
	if t.kind != tokString {
		return nil
	}
	return d.unescaped(t)
}

// maxRows is the maximum number of rows in a page, whatever $top is. Many rows of a few bytes
// each would take much more memory than the page.
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const maxRows = 1000

// page reads the object of a page, to the end of the text. It calls row for each row, at
// its opening brace; row must read the whole row.
func (s *scanner) page(row func() error) (err error) {
	found, n := false, 0
	oneRow := func() bool {
		if s.peek() != '{' {
			return s.unexpected()
		}
		if n++; n > maxRows {
			return s.fail(s.pos, "more rows than a page can have")
		}
		err = row()
		return err == nil
	}
	ok := s.list('{', '}', func() bool {
		var name, value token
		switch {
		case !s.name(&name):
			return false
		case !s.isText(&name, "value"):
			return s.value(&value, 1)
		case found:
			return s.fail(int(name.start)-1, "two members value")
		}
		found = true
		return s.list('[', ']', oneRow)
	})
	if err != nil {
		return err
	}
	if ok && s.atEnd() && !found {
		s.fail(s.pos, "a page without value")
	}
	return s.failed()
}

// isText reports whether the string token t is the given text.
func (s *scanner) isText(t *token, text string) bool {
	raw := s.data[t.start:t.end]
	if t.escaped {
		raw, _ = unescape(nil, raw)
	}
	return string(raw) == text
}
