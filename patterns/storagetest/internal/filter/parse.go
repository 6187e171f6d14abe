package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The errors of Parse.
var (
	ErrSyntax   = errors.New("the filter is malformed")
	ErrFunction = errors.New("the filter calls a function")
)

// maxDepth limits the nesting of conditions.
const maxDepth = 200

// Parse parses the text of a $filter. An empty text matches every row.
//
// A condition is a comparison of a property with a literal, in either order, a Boolean
// property, or a Boolean literal. Operators are not, and, or, in this order of precedence.
func Parse(text string) (Filter, error) {
	p := parser{lexer: lexer{rest: text}}
	p.advance()
	if p.token.kind == end && p.err == nil {
		return Filter{}, nil
	}
	root := p.condition(p.or())
	if p.token.kind != end {
		p.fail(ErrSyntax)
	}
	if p.err != nil {
		return Filter{}, fmt.Errorf("%w near character %d", p.err, utf8.RuneCountInString(text[:len(text)-p.left]))
	}
	return Filter{root, p.comparisons, p.capitals}, nil
}

// parser is a parser by recursive descent. After an error, every token is the end.
type parser struct {
	lexer
	token       token
	depth       int
	comparisons int
	capitals    string // the last Boolean literal that is not in lower case
	err         error
	left        int // bytes after the place of err
}

func (p *parser) advance() {
	t, err := p.next()
	if err != nil {
		p.fail(err)
		return
	}
	if p.err == nil {
		p.token = t
	}
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err, p.left = err, len(p.rest)
	}
	p.token = token{kind: end}
}

func (p *parser) takes(word string) bool {
	if p.token.kind != name || p.token.text != word {
		return false
	}
	p.advance()
	return true
}

// operand is a part of the text: a condition, a property, or a literal.
type operand struct {
	node *node
	token
}

// condition returns the condition that an operand is.
func (p *parser) condition(o operand) *node {
	switch {
	case o.node != nil:
		return o.node
	case o.kind == name:
		p.comparisons++
		return &node{kind: comparison, name: o.text, operator: "eq", literal: Value{Type: Boolean, Int: 1}}
	case o.kind == literal && o.value.Type == Boolean:
		return &node{kind: constant, truth: o.value.Int == 1}
	}
	p.fail(ErrSyntax)
	return &node{}
}

func (p *parser) or() operand {
	left := p.and()
	for p.takes("or") {
		left = operand{node: &node{kind: or, left: p.condition(left), right: p.condition(p.and())}}
	}
	return left
}

func (p *parser) and() operand {
	left := p.unary()
	for p.takes("and") {
		left = operand{node: &node{kind: and, left: p.condition(left), right: p.condition(p.unary())}}
	}
	return left
}

func (p *parser) unary() operand {
	if p.depth++; p.depth > maxDepth {
		p.fail(ErrSyntax)
	}
	defer func() { p.depth-- }()
	if p.takes("not") {
		return operand{node: &node{kind: not, left: p.condition(p.unary())}}
	}
	return p.comparison()
}

var mirrored = map[string]string{"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}

func (p *parser) comparison() operand {
	left := p.primary()
	operator := p.token.text
	if mirrored[operator] == "" || p.token.kind != name {
		return left
	}
	p.advance()
	right := p.primary()
	if left.kind == name && right.kind == name && !p.capital(&right) {
		p.capital(&left)
	}
	if left.kind == literal {
		left, right, operator = right, left, mirrored[operator]
	}
	if left.kind != name || right.kind != literal || left.node != nil || right.node != nil {
		p.fail(ErrSyntax)
	}
	p.comparisons++
	return operand{node: &node{kind: comparison, name: left.text, operator: operator, literal: right.value}}
}

// capital makes o a literal if it is true or false with a capital letter.
func (p *parser) capital(o *operand) bool {
	lower := strings.ToLower(o.text)
	if lower != "true" && lower != "false" {
		return false
	}
	p.capitals = o.text
	o.token = token{kind: literal, value: Value{Type: Boolean}}
	if lower == "true" {
		o.value.Int = 1
	}
	return true
}

// reserved are the words that are not properties.
var reserved = []string{"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "null", "NaN", "INF"}

func (p *parser) primary() operand {
	t := p.token
	switch {
	case t.kind == opening:
		p.advance()
		inner := p.or()
		if p.token.kind != closing {
			p.fail(ErrSyntax)
		}
		p.advance()
		return inner
	case t.kind == literal, t.kind == name && !slices.Contains(reserved, t.text):
		p.advance()
		if t.kind == name && p.token.kind == opening {
			p.fail(ErrFunction)
		}
		return operand{token: t}
	}
	p.fail(ErrSyntax)
	return operand{}
}
