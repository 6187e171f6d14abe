package xmlservice

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// XML builds a document. The zero value is an empty document. The XML declaration is added
// before the first element.
type XML struct{ buf []byte }

func (x *XML) declare() {
	if len(x.buf) == 0 {
		x.buf = append(x.buf, reply.XMLHeader...)
	}
}

// Bytes returns the document.
func (x *XML) Bytes() []byte { return x.buf }

// Begin opens an element with attributes given as name, value pairs.
func (x *XML) Begin(name string, attr ...string) {
	x.declare()
	x.buf = append(append(x.buf, '<'), name...)
	for i := 0; i+1 < len(attr); i += 2 {
		x.buf = append(append(append(x.buf, ' '), attr[i]...), '=', '"')
		x.buf = reply.AppendXML(x.buf, attr[i+1], true)
		x.buf = append(x.buf, '"')
	}
	x.buf = append(x.buf, '>')
}

// End closes the element that Begin opened.
func (x *XML) End(name string) {
	x.buf = append(append(append(x.buf, '<', '/'), name...), '>')
}

// Text writes an element with text; empty text makes an empty element.
func (x *XML) Text(name, value string, attr ...string) {
	x.Begin(name, attr...)
	x.buf = reply.AppendXML(x.buf, value, false)
	x.End(name)
}

// Maybe writes what Text writes, or nothing if value is empty.
func (x *XML) Maybe(name, value string) {
	if value != "" {
		x.Text(name, value)
	}
}

// Node is an element of the document of a request.
type Node struct {
	Name     string
	Text     string // all characters within, in order, without the markup
	Children []*Node

	from, to int
}

// maxDepth limits the nesting of the document of a request. No documented document has
// more than 5 levels.
const maxDepth = 16

// ParseXML parses the document of a request, whose top element must be root. If body is not
// well-formed XML in UTF-8, the error is InvalidXmlDocument.
func ParseXML(body []byte, root string) (*Node, *reply.Error) {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\uFEFF"))))
	var stack []*Node
	var top *Node
	var text []byte // of the whole document; the text of a node is a part of it
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, reply.InvalidXML("It is not well-formed XML in UTF-8.")
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(stack) == maxDepth || len(stack) == 0 && top != nil {
				return nil, reply.InvalidXML("It has two top elements, or too many levels.")
			}
			n := &Node{Name: t.Name.Local, from: len(text)}
			if len(stack) == 0 {
				top = n
			} else {
				parent := stack[len(stack)-1]
				parent.Children = append(parent.Children, n)
			}
			stack = append(stack, n)
		case xml.EndElement:
			last := len(stack) - 1
			stack[last].to = len(text)
			stack = stack[:last]
		case xml.CharData:
			if len(stack) > 0 {
				text = append(text, t...)
			} else if len(bytes.TrimSpace(t)) > 0 {
				return nil, reply.InvalidXML("There is text outside of the top element.")
			}
		case xml.Directive:
			return nil, reply.InvalidXML("It has a DOCTYPE.")
		}
	}
	if top == nil || top.Name != root {
		return nil, reply.InvalidXML("The top element is not " + root + ".")
	}
	top.cut(string(text))
	return top, nil
}

func (n *Node) cut(text string) {
	n.Text = text[n.from:n.to]
	for _, k := range n.Children {
		k.cut(text)
	}
}

// Child returns the first child with that name, or nil.
func (n *Node) Child(name string) *Node {
	if n == nil {
		return nil
	}
	for _, k := range n.Children {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Value returns the trimmed text of the first child with that name, "" if there is none.
func (n *Node) Value(name string) string {
	if k := n.Child(name); k != nil {
		return strings.TrimSpace(k.Text)
	}
	return ""
}
