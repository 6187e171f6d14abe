package edm

// DecodePage reads the reply to a query. For each row it calls next, which returns where
// to decode the row, as in DecodeEntity; m and unknown may be nil. If m is not nil, the row
// must have both keys and an ETag. The rows before an error are filled.
func (c *Codec) DecodePage(body []byte, next func() (dst any, m *Meta, unknown *Unknown)) error {
	d := c.decoder(body)
	defer c.release(d)
	return d.decodePage(next, nil, true)
}

// DecodeBarePage is DecodePage of a reply without metadata, whose rows have no ETags.
func (c *Codec) DecodeBarePage(body []byte, next func() (dst any, m *Meta, unknown *Unknown)) error {
	d := c.decoder(body)
	defer c.release(d)
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
		err := d.entity(dst, m, unknown)
		if err != nil && d.err == nil && other != nil {
			err = other(err)
		}
		if err != nil {
			return err
		}
		if m != nil && (d.toks[slotPartitionKey].kind != tokString || d.toks[slotRowKey].kind != tokString) {
			d.fail(at, "a row without its keys")
			return d.err
		}
		if m != nil && tagged && d.toks[slotETag].kind != tokString { // its form has been checked
			d.fail(at, "a row without its ETag")
			return d.err
		}
		return nil
	})
}

// page reads the object of a page, to the end of the text. It calls row for each row, at
// its opening brace; row must read the whole row.
func (s *scanner) page(row func() error) error {
	if !s.expect('{') {
		return s.err
	}
	if s.peek() == '}' {
		s.fail(s.pos, "a page without rows or value")
		return s.err
	}
	found := false
	for {
		var name, value token
		if s.peek() != '"' {
			s.unexpected()
			return s.err
		}
		at := s.pos
		if !s.text(&name) || !s.expect(':') {
			return s.err
		}
		if s.isText(&name, "value") {
			if found {
				s.fail(at, "two members value")
				return s.err
			}
			found = true
			if err := s.rows(row); err != nil {
				return err
			}
		} else if !s.value(&value, 1) {
			return s.err
		}
		if s.peek() != ',' {
			break
		}
		s.pos++
	}
	if s.expect('}') && s.atEnd() && !found {
		s.fail(s.pos, "a page without value")
	}
	if s.err != nil {
		return s.err
	}
	return nil
}

// maxRows is the maximum number of rows in a page, whatever $top is. Many rows of a few bytes
// each would take much more memory than the page.
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const maxRows = 1000

// rows reads the array of the rows of a page.
func (s *scanner) rows(row func() error) error {
	if !s.expect('[') {
		return s.err
	}
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for n := 0; ; n++ {
		if s.peek() != '{' {
			s.unexpected()
			return s.err
		}
		if n == maxRows {
			s.fail(s.pos, "more rows than a page can have")
			return s.err
		}
		if err := row(); err != nil {
			return err
		}
		if s.peek() != ',' {
			break
		}
		s.pos++
	}
	if !s.expect(']') {
		return s.err
	}
	return nil
}

// isText reports whether the string token t is the given text.
func (s *scanner) isText(t *token, text string) bool {
	raw := s.data[t.start:t.end]
	if t.escaped {
		raw, _ = unescape(nil, raw)
	}
	return string(raw) == text
}
