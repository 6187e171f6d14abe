package wire

// Text is the value of a text property in r.
func (r *Rest) Text(name string) (text string, ok bool) {
	r.each(func(p *restProperty) {
		if p.name != name || ok || p.tok.kind != tokString || p.tok.wireType(p.value) != EDMString {
			return
		}
		value := p.value
		if p.tok.escaped {
			value, ok = unescape(nil, value)
		} else {
			ok = true
		}
		text = string(value)
	})
	return text, ok
}

// WithText is r with a text property, in place of the one it has of that name.
func (r *Rest) WithText(name, text string) Rest {
	e := encoder{dst: r.without(name)}
	e.dst = append(e.dst, ',')
	e.quote(name)
	e.dst = append(e.dst, ':')
	e.quote(text)
	return Rest{raw: e.dst}
}

func (r *Rest) without(name string) []byte {
	var raw []byte
	r.each(func(p *restProperty) {
		if p.name != name {
			raw = append(raw, p.member...)
		}
	})
	return raw
}
