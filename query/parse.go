package query

import (
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
func Parse(text string) (Filter, error) {
	root, err := parse(text)
	if err != nil {
		return Filter{err: err}, err
	}
	return Filter{root: root}, nil
}

func parse(text string) (*node, *SyntaxError) {
	if at := firstInvalid(text); at >= 0 {
		return nil, &SyntaxError{at, "the text is not valid UTF-8"}
	}
	p := &parser{lex: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokEnd {
		return nil, nil
	}
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	root, err := e.condition()
	if err != nil {
		return nil, err
	}
	switch p.tok.kind {
	case tokEnd:
	case tokClose:
		return nil, &SyntaxError{p.tok.off, "closing parenthesis without an opening one"}
	default:
		return nil, p.unexpected("expected and, or, or the end")
	}
	if root.depth > maxDepth {
		return nil, &SyntaxError{0, "nested more than 100 levels deep"}
	}
	return root, nil
}

func firstInvalid(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
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

func (e expr) condition() (*node, *SyntaxError) {
	switch e.kind {
	case exprProperty:
		return compare(e.name, opEq, boolLiteral(true)), nil
	case exprConstant:
		return nil, &SyntaxError{e.off, "a constant is not a condition"}
	}
	return e.node, nil
}

type parser struct {
	lex     lexer
	tok     token
	nesting int
}

func (p *parser) advance() *SyntaxError {
	tok, err := p.lex.next()
	p.tok = tok
	return err
}

func (p *parser) atWord(word string) bool { return p.tok.kind == tokWord && p.tok.word == word }

func (p *parser) or() (expr, *SyntaxError)  { return p.chain(opOr, (*parser).and) }
func (p *parser) and() (expr, *SyntaxError) { return p.chain(opAnd, (*parser).unary) }

// chain parses parts joined by one operator.
func (p *parser) chain(o op, part func(*parser) (expr, *SyntaxError)) (expr, *SyntaxError) {
	first, err := part(p)
	if err != nil || !p.atWord(opWords[o]) {
		return first, err
	}
	e := first
	var parts []*node
	for {
		n, err := e.condition()
		if err != nil {
			return expr{}, err
		}
		parts = append(parts, n)
		if !p.atWord(opWords[o]) {
			return expr{off: first.off, node: join(o, parts)}, nil
		}
		if err := p.advance(); err != nil {
			return expr{}, err
		}
		if e, err = part(p); err != nil {
			return expr{}, err
		}
	}
}

func (p *parser) unary() (expr, *SyntaxError) {
	if !p.atWord("not") {
		return p.comparison()
	}
	off := p.tok.off
	if err := p.enter(); err != nil {
		return expr{}, err
	}
	e, err := p.unary()
	if err != nil {
		return expr{}, err
	}
	p.nesting--
	n, err := e.condition()
	if err != nil {
		return expr{}, err
	}
	return expr{off: off, node: negate(n)}, nil
}

// enter consumes the current token and increments the nesting level.
func (p *parser) enter() *SyntaxError {
	if p.nesting++; p.nesting > maxNesting {
		return &SyntaxError{p.tok.off, "too many levels of nesting"}
	}
	return p.advance()
}

func (p *parser) comparison() (expr, *SyntaxError) {
	left, err := p.operand()
	if err != nil {
		return expr{}, err
	}
	o, ok := p.comparisonOperator()
	if !ok {
		return left, nil
	}
	at := p.tok.off
	if err := p.advance(); err != nil {
		return expr{}, err
	}
	right, err := p.operand()
	if err != nil {
		return expr{}, err
	}
	switch {
	case left.kind == exprProperty && right.kind == exprConstant:
		return expr{off: left.off, node: compare(left.name, o, right.lit)}, nil
	case left.kind == exprConstant && right.kind == exprProperty:
		return expr{off: left.off, node: compare(right.name, o.flip(), left.lit)}, nil
	case left.kind == exprProperty && right.kind == exprProperty:
		return expr{}, &SyntaxError{right.off, "a property can only be compared with a constant, not with another property"}
	case left.kind == exprConstant && right.kind == exprConstant:
		return expr{}, &SyntaxError{left.off, "two constants cannot be compared; one side must be a property"}
	}
	return expr{}, &SyntaxError{at, "a condition cannot be compared; one side must be a property, the other a constant"}
}

func (p *parser) comparisonOperator() (op, bool) {
	if p.tok.kind != tokWord {
		return 0, false
	}
	for o := opEq; o.comparison(); o++ {
		if p.tok.word == opWords[o] {
			return o, true
		}
	}
	return 0, false
}

// operand parses a property, a constant, or any expression in parentheses.
func (p *parser) operand() (expr, *SyntaxError) {
	tok := p.tok
	switch tok.kind {
	case tokLiteral:
		return expr{kind: exprConstant, off: tok.off, lit: tok.lit}, p.advance()
	case tokOpen:
		if err := p.enter(); err != nil {
			return expr{}, err
		}
		e, err := p.or()
		if err != nil {
			return expr{}, err
		}
		if p.tok.kind != tokClose {
			return expr{}, p.unexpected("expected a closing parenthesis")
		}
		p.nesting--
		return e, p.advance()
	case tokWord:
		if reservedWord(tok.word) {
			return expr{}, &SyntaxError{tok.off, "expected a property, a constant or a condition in parentheses"}
		}
		if reason := badName(tok.word); reason != "" {
			return expr{}, &SyntaxError{tok.off, reason}
		}
		if err := p.advance(); err != nil {
			return expr{}, err
		}
		if p.tok.kind == tokOpen {
			return expr{}, &SyntaxError{tok.off, "the service has no functions in a filter"}
		}
		return expr{kind: exprProperty, off: tok.off, name: tok.word}, nil
	}
	return expr{}, &SyntaxError{tok.off, "expected a property, a constant or a condition in parentheses"}
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
