package conformance

import (
	"fmt"
	"github.com/azpatterns/azpatterns/internal/assert"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// load reads the conversations with a service from testdata, and how Azurite differs in them. A file has a paragraph for
// each conversation. The first character of a line is its kind:
//
//	#   a comment, such as the address of the documentation of the conversations that follow
//	=   the name of a conversation
//	>   the request of a step
//	|   its headers
//	.   a line of its body
//	<   what is expected
//	!   how Azurite differs in the step: its reply, a quotation of the documentation, and a link
//
// A text that begins with a quotation mark is a Go string. [[1-3:a#]] is a1a2a3.
func load(t *testing.T, s service) (cases []conversation, differs []difference) {
	t.Helper()
	name := filepath.Join("testdata", string(s)+".txt")
	content := assert.Must(os.ReadFile(name))(t)
	var of *conversation
	var last byte
	for i, line := range strings.Split(string(content), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		kind, text, err := line[0], strings.TrimPrefix(line[1:], " "), error(nil)
		if strings.HasPrefix(text, `"`) {
			text, err = strconv.Unquote(text)
		}
		var at *step
		if of != nil && len(of.steps) > 0 {
			at = &of.steps[len(of.steps)-1]
		}
		switch {
		case err != nil || at == nil && kind != '=' && (of == nil || kind != '>'):
			t.Fatalf("%s:%d: cannot be read: %s", name, i+1, line)
		case kind == '=':
			cases = append(cases, conversation{name: text})
			of = &cases[len(cases)-1]
		case kind == '>':
			of.steps = append(of.steps, step{request: text})
		case kind == '|':
			at.headers = text
		case kind == '.' && last == '.':
			at.body += "\n" + text
		case kind == '.':
			at.body = text
		case kind == '<':
			at.want = text
		case kind == '!' && last != '!':
			differs = append(differs, difference{name: of.name, step: len(of.steps) - 1, got: text})
		case kind == '!' && differs[len(differs)-1].doc == "":
			differs[len(differs)-1].doc = text
		case kind == '!':
			differs[len(differs)-1].link = text
		default:
			t.Fatalf("%s:%d: unknown kind of line: %s", name, i+1, line)
		}
		last = kind
	}
	for _, c := range cases {
		for i, s := range c.steps {
			c.steps[i] = step{repeat(s.request), repeat(s.body), repeat(s.headers), repeat(s.want)}
		}
	}
	return cases, differs
}

var repeated = regexp.MustCompile(`\[\[(\d+)-(\d+):([^\[\]]*)\]\]`)

// repeat writes out the repetitions in text, the innermost first.
func repeat(text string) string {
	for repeated.MatchString(text) {
		text = repeated.ReplaceAllStringFunc(text, func(found string) string {
			var all strings.Builder
			m := repeated.FindStringSubmatch(found)
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			for i := from; i <= to; i++ {
				all.WriteString(strings.ReplaceAll(m[3], "#", fmt.Sprint(i)))
			}
			return all.String()
		})
	}
	return text
}
