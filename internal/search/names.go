package search

import (
	"fmt"
	"slices"
	"strings"
)

// names are the names of what is random or depends on time: ids by the process that has sent them first, versions by the row and
// how many it had, times by how many pauses preceded them.
type names struct {
	of     map[string]string
	ids    map[string]int // how many ids a process has sent
	rows   map[string]int // how many versions a row had
	pauses []string       // when they ended
}

func newNames() *names {
	return &names{of: map[string]string{}, ids: map[string]int{}, rows: map[string]int{}}
}

// version names the version of a row.
func (n *names) version(row, etag string) {
	if _, ok := n.of[etag]; ok {
		return
	}
	n.rows[row]++
	n.of[etag] = fmt.Sprint(row, "#", n.rows[row])
}

// id returns the name of an id that the process has sent, or was sent. Without a process it does not name new ones.
func (n *names) id(process, id string) string {
	name, ok := n.of[id]
	if !ok && process != "" {
		n.ids[process]++
		name = fmt.Sprint(process, ".", n.ids[process])
		n.of[id] = name
	} else if !ok {
		return "?"
	}
	return name
}

const (
	versionPrefix = "datetime'"
	stampPrefix   = `"azp_stamp":"`
	idLength      = 26 // of crypto/rand.Text
)

// inOrder returns a request with the alternatives of its filter in the order of their names. That of the ids, which are random, differs
// when a run is repeated.
func inOrder(request string) string {
	before, rest, found := strings.Cut(request, "+and+%28")
	inner, after, closed := strings.Cut(rest, "%29")
	if !found || !closed {
		return request
	}
	some := strings.Split(inner, "+or+")
	slices.Sort(some)
	return before + "+and+%28" + strings.Join(some, "+or+") + "%29" + after
}

// in returns text with names. The ids that have none yet are those of the process.
func (n *names) in(process, text string) string {
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	replace := func(at, end int, name string) {
		b.WriteString(text[from:at])
		b.WriteString(name)
		from = end
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'd' && strings.HasPrefix(text[i:], versionPrefix):
			end := i + len(versionPrefix)
			end += max(strings.IndexByte(text[end:], '\''), 0)
			if name, ok := n.of[text[i+len(versionPrefix):end]]; ok {
				replace(i, end, name)
			}
			i = end
		case c == '"' && strings.HasPrefix(text[i:], stampPrefix):
			i += len(stampPrefix)
			end := i + max(strings.IndexByte(text[i:], '"'), 0)
			var all []string
			for stamp := range strings.SplitSeq(text[i:end], ".") {
				all = append(all, n.id(process, stamp))
			}
			replace(i, end, strings.Join(all, "."))
			i = end
		case c == '2' && isTime(text[i:]):
			end := i + strings.IndexByte(text[i:], 'Z')
			replace(i, end, n.time(text[i:end]))
			i = end
		case runOf(isHex, text[i:]) >= 32: // the id of a request
			end := i + runOf(isHex, text[i:])
			replace(i, end, "-")
			i = end - 1
		case isID(c):
			end := i + runOf(isID, text[i:])
			if end-i == idLength {
				replace(i, end, n.id(process, text[i:end]))
			}
			i = end - 1
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

func isID(c byte) bool { return 'A' <= c && c <= 'Z' || '2' <= c && c <= '7' }

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || c == '-' }

// runOf returns how many characters text begins with that are of a kind.
func runOf(is func(byte) bool, text string) int {
	n := 0
	for n < len(text) && is(text[n]) {
		n++
	}
	return n
}

const timeLayout = "2006-01-02T15:04:05.0000000Z"

// isTime reports whether text begins with a time of the service.
func isTime(text string) bool {
	return len(text) > 11 && text[4] == '-' && text[7] == '-' && text[10] == 'T' && strings.IndexByte(text[:min(len(text), 32)], 'Z') > 0
}

func (n *names) time(at string) string {
	past := 0
	for _, p := range n.pauses {
		if at >= p {
			past++
		}
	}
	return fmt.Sprint("t", past)
}
