package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxNesting limits the recursion of the parser. The text of a tree has at most two
// levels of nesting for each level of the tree.
const maxNesting = 2*maxDepth + 2

// Parse parses an OData filter text, not URL-encoded, as the Table service does. It
// accepts the six comparison operators; not, and, or, in this order of precedence;
// parentheses; every form of literal; and the constant on either side: `30 lt Age` is
// parsed as Age gt 30. A property without a comparison is a Boolean: `not Active` is
// parsed as not (Active eq true). The empty text matches every row.
//
// If the service rejects the text, for example for functions, arithmetic, null, or a
// comparison of two properties or two constants, Parse returns an invalid filter and a
// [*SyntaxError] with the offset. Parse accepts more than [MaxComparisons] comparisons;
// [Explain] warns of them.
//
// Parse(f.String()) equals f for every valid filter f.
//
// See https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities#constructing-filter-strings
func Parse(text string) (f Filter, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *SyntaxError: // the parser ends with it, at any depth
			f, err = Filter{err: e}, e
		default:
			panic(e)
		}
	}()
	return Filter{root: parse(text)}, nil
}

// parse returns the tree of a text. Like all functions of the parser and the lexer, it
// panics with a *SyntaxError if the text is invalid.
func parse(text string) *node {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(r)) {
			panic(&SyntaxError{i, "the text is not valid UTF-8"})
		}
	}
	p := &parser{lex: lexer{text: text}}
	if p.advance(); p.tok.kind == tokEnd {
		return nil
	}
	root := p.or().condition()
	switch p.tok.kind {
	case tokEnd:
	case tokClose:
		panic(&SyntaxError{p.tok.off, "closing parenthesis without an opening one"})
	default:
		panic(p.unexpected("expected and, or, or the end"))
	}
	if root.depth > maxDepth {
		panic(&SyntaxError{0, "nested more than 100 levels deep"})
	}
	return root
}

type exprKind uint8

const (
	exprCondition exprKind = iota
	exprProperty
	exprConstant
)

// expr is a parsed part of the text. Parentheses can enclose a condition, but also a
// single property or constant.
type expr struct {
	kind exprKind
	off  int
	node *node   // of a condition
	name string  // of a property
	lit  literal // of a constant
}

func (e expr) condition() *node {
	switch e.kind {
	case exprProperty:
		return compare(e.name, opEq, boolLiteral(true))
	case exprConstant:
		panic(&SyntaxError{e.off, "a constant is not a condition"})
	}
	return e.node
}

type parser struct {
	lex     lexer
	tok     token
	nesting int
}

func (p *parser) advance() { p.tok = p.lex.next() }

func (p *parser) atWord(word string) bool { return p.tok.kind == tokWord && p.tok.word == word }

func (p *parser) or() expr  { return p.chain(opOr, (*parser).and) }
func (p *parser) and() expr { return p.chain(opAnd, (*parser).unary) }

// chain parses parts joined by one operator.
func (p *parser) chain(o op, part func(*parser) expr) expr {
	first := part(p)
	if !p.atWord(opWords[o]) {
		return first
	}
	parts := []*node{first.condition()}
	for p.atWord(opWords[o]) {
		p.advance()
		parts = append(parts, part(p).condition())
	}
	return expr{off: first.off, node: join(o, parts)}
}

func (p *parser) unary() expr {
	if !p.atWord("not") {
		return p.comparison()
	}
	off := p.tok.off
	p.enter()
	e := p.unary()
	p.nesting--
	return expr{off: off, node: negate(e.condition())}
}

// enter consumes the current token and increments the nesting level.
func (p *parser) enter() {
	if p.nesting++; p.nesting > maxNesting {
		panic(&SyntaxError{p.tok.off, "too many levels of nesting"})
	}
	p.advance()
}

func (p *parser) comparison() expr {
	left := p.operand()
	o := slices.Index(opWords[:opAnd], p.tok.word)
	if p.tok.kind != tokWord || o < 0 {
		return left
	}
	at := p.tok.off
	p.advance()
	right := p.operand()
	switch {
	case left.kind == exprProperty && right.kind == exprConstant:
		return expr{off: left.off, node: compare(left.name, op(o), right.lit)}
	case left.kind == exprConstant && right.kind == exprProperty:
		return expr{off: left.off, node: compare(right.name, op(o).flip(), left.lit)}
	case left.kind == exprProperty && right.kind == exprProperty:
		panic(&SyntaxError{right.off, "a property can only be compared with a constant, not with another property"})
	case left.kind == exprConstant && right.kind == exprConstant:
		panic(&SyntaxError{left.off, "two constants cannot be compared; one side must be a property"})
	}
	panic(&SyntaxError{at, "a condition cannot be compared; one side must be a property, the other a constant"})
}

// operand parses a property, a constant, or any expression in parentheses.
func (p *parser) operand() expr {
	tok := p.tok
	switch tok.kind {
	case tokLiteral:
		p.advance()
		return expr{kind: exprConstant, off: tok.off, lit: tok.lit}
	case tokOpen:
		p.enter()
		e := p.or()
		if p.tok.kind != tokClose {
			panic(p.unexpected("expected a closing parenthesis"))
		}
		p.nesting--
		p.advance()
		return e
	case tokWord:
		if reservedWord(tok.word) {
			break
		}
		if reason := badName(tok.word); reason != "" {
			panic(&SyntaxError{tok.off, reason})
		}
		if p.advance(); p.tok.kind == tokOpen {
			panic(&SyntaxError{tok.off, "the service has no functions in a filter"})
		}
		return expr{kind: exprProperty, off: tok.off, name: tok.word}
	}
	panic(&SyntaxError{tok.off, "expected a property, a constant or a condition in parentheses"})
}

// unexpected returns the error for the current token, which is not allowed here.
func (p *parser) unexpected(expected string) *SyntaxError {
	if p.tok.kind == tokWord {
		switch p.tok.word {
		case "add", "sub", "mul", "div", "mod":
			return &SyntaxError{p.tok.off, "the service has no arithmetic in a filter"}
		case "AND", "OR", "NOT", "EQ", "NE", "LT", "LE", "GT", "GE":
			return &SyntaxError{p.tok.off, "operators are written in lower case"}
		}
	}
	return &SyntaxError{p.tok.off, expected}
}
