package edm

// Text is the value of a text property in r.
func (r *Unknown) Text(name string) (text string, ok bool) {
	r.each(func(p *restProperty) {
		if p.name != name || ok || p.tok.kind != tokString || p.tok.wireType(p.value) != String {
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
func (r *Unknown) WithText(name, text string) Unknown {
	e := encoder{dst: r.without(name)}
	e.dst = append(e.dst, ',')
	e.quote(name)
	e.dst = append(e.dst, ':')
	e.quote(text)
	return Unknown{raw: e.dst}
}

func (r *Unknown) without(name string) []byte {
	var raw []byte
	r.each(func(p *restProperty) {
		if p.name != name {
			raw = append(raw, p.member...)
		}
	})
	return raw
}
