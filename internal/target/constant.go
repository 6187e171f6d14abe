package target

import "github.com/azpatterns/azpatterns/keys"

// form is how a constant is written.
type form uint8

const (
	decoded form = iota
	inPath       // with escapes
	inQuery      // also with + for a space
)

// A constant is the text between the quotes of a key in an address or a filter.
type constant[S []byte | string] struct {
	text  S
	plain bool // its text is its value
}

// next returns the constant at the start of text, which follows a quote of that width, and the
// text from the quote that ends it. A quote within the constant is doubled.
func next[S []byte | string](text S, width int) (c constant[S], rest S) {
	c.plain = true
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b > '+': // most characters of keys
		case b != '\'' && b != '%':
			c.plain = c.plain && b != '+'
		case quoteAt(text, i) != width:
			c.plain = false
		case quoteAt(text, i+width) == width:
			c.plain = false
			i += 2*width - 1
		default:
			c.text = text[:i]
			return c, text[i:]
		}
	}
	c.text = text
	return c, text[len(text):]
}

// quoteAt returns the width of the quote at i, which may be escaped, or 0.
func quoteAt[S []byte | string](text S, i int) int {
	switch {
	case i >= len(text):
	case text[i] == '\'':
		return 1
	case text[i] == '%' && i+2 < len(text) && text[i+1] == '2' && text[i+2] == '7':
		return 3
	}
	return 0
}

// afterQuote returns what follows the first quote, and the width of that quote, 0 if there is
// none.
func afterQuote[S []byte | string](text S) (rest S, width int) {
	for i := 0; i < len(text); i++ {
		if b := text[i]; b == '\'' || b == '%' {
			if width = quoteAt(text, i); width > 0 {
				return text[i+width:], width
			}
		}
	}
	return text[len(text):], 0
}

// below returns the text of the value of a constant below another text.
func below[S []byte | string](r *Request, of TextSpan, c constant[S], f form) TextSpan {
	if c.plain {
		return extend(r, of, 0, c.text)
	}
	from := r.under(of)
	r.text = c.value(append(r.text, 0), f)
	return r.span(from)
}

// value appends the value of a constant.
func (c constant[S]) value(text []byte, f form) []byte {
	for i, quoted := 0, false; i < len(c.text); i++ {
		b := c.text[i]
		switch {
		case b == '%' && f != decoded && i+2 < len(c.text):
			high, low := c.text[i+1], c.text[i+2]
			b = (high&15+high>>6*9)<<4 | (low&15 + low>>6*9)
			i += 2
		case b == '+' && f == inQuery:
			b = ' '
		}
		if quoted = b == '\'' && !quoted; !quoted {
			text = append(text, b)
		}
	}
	return text
}

// compare compares the values of two constants, in the order of keys.
func compare(a, b constant[string], f form) int {
	if a.plain && b.plain {
		return keys.Compare(a.text, b.text)
	}
	return keys.Compare(string(a.value(nil, f)), string(b.value(nil, f)))
}
