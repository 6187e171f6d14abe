package edm

// DecodePage reads the body of a query's answer. next is called once a row, and
// says where the row goes, as in DecodeEntity; m and rest may be nil. Where m is not,
// the row must have both keys. Rows before an error have been filled.
func (c *Codec) DecodePage(body []byte, next func() (dst any, m *Meta, rest *Unknown)) error {
	d := c.decoder(body)
	defer c.release(d)
	if err := d.page(next); err != nil {
		return err
	}
	return nil
}

func (d *decoder) page(next func() (any, *Meta, *Unknown)) error {
	if !d.start('{') {
		return d.err
	}
	d.pos++
	if d.next() == '}' {
		d.fail(d.pos, "a page without rows or value")
		return d.err
	}
	seen := false
	for {
		var name, value token
		if d.next() != '"' {
			d.unexpected()
			return d.err
		}
		at := d.pos
		if !d.text(&name) || !d.expect(':') {
			return d.err
		}
		if string(d.plain(&name)) == "value" {
			if seen {
				d.fail(at, "two members value")
				return d.err
			}
			seen = true
			if err := d.rows(next); err != nil {
				return err
			}
		} else if !d.value(&value, 1) {
			return d.err
		}
		switch d.next() {
		case ',':
			d.pos++
			continue
		case '}':
			d.pos++
		default:
			d.unexpected()
			return d.err
		}
		break
	}
	if d.finish() && !seen {
		d.fail(d.pos, "a page without value")
	}
	if d.err != nil {
		return d.err
	}
	return nil
}

func (d *decoder) rows(next func() (any, *Meta, *Unknown)) error {
	if !d.expect('[') {
		return d.err
	}
	if d.next() == ']' {
		d.pos++
		return nil
	}
	for {
		if d.next() != '{' {
			d.unexpected()
			return d.err
		}
		at := d.pos
		dst, m, rest := next()
		if err := d.entity(dst, m, rest); err != nil {
			return err
		}
		if m != nil && (d.toks[slotPartitionKey].kind != tokString || d.toks[slotRowKey].kind != tokString) {
			d.fail(at, "a row without its keys")
			return d.err
		}
		switch d.next() {
		case ',':
			d.pos++
		case ']':
			d.pos++
			return nil
		default:
			d.unexpected()
			return d.err
		}
	}
}
