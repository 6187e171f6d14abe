package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// A recording is a conversation with the live service, which the authors of an SDK have published with its tests. The files in
// testdata/recorded contain what such recordings show, and nothing of their text: a fact for each request, with what decides
// the reply, and with the status, the error code, the names of the headers and the form of the body of the reply. All names
// and values are written anew, and are equal where they are equal in the recording.
//
// A file has a paragraph for each recording. The first character of a line is its kind:
//
//	g h f  a list of headers of requests, a list of names of headers of replies, and the form of a body, by number
//	=      the date of a recording, the version of the service, its repository and its name
//	&      what exists before its first request: a table, a queue, a container, or a blob with its type and size
//	>      a request: the seconds after the one before, its method, its address, and its headers
//	.      its body: the properties of an entity, the elements of a document, a size and the number of a content, or a batch
//	+      an operation of a batch, with its headers; a line "." with its body may follow
//	<      the reply: its status, its error code, its headers and the form of its body
//
// Texts in braces represent a value of the moment: {3.etag} for the header of the reply to request 3, or for the text of the
// element of that name and number in its body, {http-900} for a time of 900 s ago, {md5} for the checksum of the body.

// recording is a recording.
type recording struct {
	date, version, repository, name string

	exists []string
	facts  []*fact
}

// fact is a request of a recording and its reply.
type fact struct {
	of   *recording
	step int // from 0

	wait      int // seconds
	secondary bool
	method    string
	target    string // path and query
	headers   [][2]string
	body      string
	parts     []*fact // the operations of a batch

	status  int
	code    string
	names   string // of the headers of the reply
	form    string // of its body
	unclear bool   // the recording does not show the whole request
}

// String returns the name of the recording and the number of the request, as the list of disagreements has it.
func (f *fact) String() string { return fmt.Sprintf("%s %d", f.of.name, f.step) }

// repositories are the addresses of the repositories below github.com, by the words of the files.
var repositories = map[string]string{
	"table-python":   "Azure/azure-cosmos-table-python",
	"storage-python": "Azure/azure-storage-python",
}

func recordings(t *testing.T, s service) []*recording {
	t.Helper()
	name := filepath.Join("testdata", "recorded", string(s)+".txt")
	all, err := parseRecordings(string(assert.Must(os.ReadFile(name))(t)))
	assert.NoError(t, err, name)
	return all
}

var isDate = regexp.MustCompile(`^20\d\d-\d\d-\d\d$`)

// parseRecordings reads a file. A recording without its date, its version or its repository is an error, and so is a fact that
// belongs to no recording.
func parseRecordings(text string) (all []*recording, err error) {
	r := recordingReader{shared: map[string]string{}}
	for i, line := range strings.Split(text, "\n") {
		if line == "" {
			continue
		}
		kind, rest, _ := strings.Cut(line, " ")
		if err := r.line(kind, rest); err != nil {
			return nil, fmt.Errorf("line %d: %w: %.80s", i+1, err, line)
		}
	}
	return r.all, nil
}

type recordingReader struct {
	shared map[string]string
	all    []*recording
	last   *fact // or operation of a batch
}

var errLine = errors.New("the line cannot be read")

func (r *recordingReader) line(kind, rest string) error {
	if kind == "=" {
		words := strings.Split(rest, " ")
		if len(words) != 4 || !isDate.MatchString(words[0]) || !isDate.MatchString(words[1]) || repositories[words[2]] == "" || words[3] == "" {
			return errors.New("want a date, a version, a repository and a name")
		}
		r.all = append(r.all, &recording{date: words[0], version: words[1], repository: repositories[words[2]], name: words[3]})
		r.last = nil
		return nil
	}
	if len(kind) > 1 {
		r.shared[kind] = rest
		return nil
	}
	if len(r.all) == 0 {
		return errors.New("it belongs to no recording")
	}
	of := r.all[len(r.all)-1]
	switch {
	case kind == "&":
		of.exists = append(of.exists, rest)
		return nil
	case kind == ">":
		r.last = &fact{of: of, step: len(of.facts)}
		of.facts = append(of.facts, r.last)
		return r.last.request(rest, r.shared)
	case r.last == nil:
	case kind == ".":
		r.last.body = unescape(rest)
		return nil
	case kind == "+":
		r.last = &fact{of: of}
		whole := of.facts[len(of.facts)-1]
		whole.parts = append(whole.parts, r.last)
		return r.last.request("0 "+rest, r.shared)
	case kind == "<":
		words := strings.Split(rest, " ")
		if len(words) != 4 {
			return errLine
		}
		f := of.facts[len(of.facts)-1]
		var err error
		f.status, err = strconv.Atoi(words[0])
		f.code, f.names, f.form = strings.TrimPrefix(words[1], "-"), r.shared[words[2]], strings.TrimPrefix(r.shared[words[3]], "-")
		if f.names == "" || r.shared[words[3]] == "" {
			return errors.New("it names no list of headers, or no form")
		}
		return err
	}
	return errLine
}

func (f *fact) request(text string, shared map[string]string) error {
	line, own, _ := strings.Cut(text, " | ")
	wait, rest, _ := strings.Cut(line, " ")
	var err error
	if f.wait, err = strconv.Atoi(wait); err != nil {
		return err
	}
	rest, f.secondary = strings.CutPrefix(rest, "secondary ")
	f.method, rest, _ = strings.Cut(rest, " ")
	if f.target, f.unclear = strings.CutPrefix(rest, "?"); f.unclear {
		return nil
	}
	if at := strings.LastIndex(f.target, " g"); at >= 0 && shared[f.target[at+1:]] != "" {
		own = strings.TrimSuffix(shared[f.target[at+1:]]+" | "+own, " | ")
		f.target = f.target[:at]
	}
	f.target = unescape(f.target)
	if own == "" {
		return nil
	}
	for _, h := range strings.Split(own, " | ") {
		name, value, ok := strings.Cut(h, ": ")
		if !ok && !strings.HasSuffix(h, ":") {
			return errLine
		}
		f.headers = append(f.headers, [2]string{strings.TrimSuffix(name, ":"), unescape(value)})
	}
	return nil
}

func unescape(s string) string { return strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(s) }

func TestAFactWithoutItsSourceIsRefused(t *testing.T) {
	const shared = "h0 date\nf0 -\n"
	const rest = "> 0 GET /nam1\n< 200 - h0 f0\n"
	for text, fails := range map[string]bool{
		shared + "= 2019-05-09 2018-11-09 storage-python test_a.test_b\n" + rest: false,
		shared + "= 2018-11-09 storage-python test_a.test_b\n" + rest:            true,
		shared + "= 2019-05-09 storage-python test_a.test_b\n" + rest:            true,
		shared + "= 2019-05-09 2018-11-09 elsewhere test_a.test_b\n" + rest:      true,
		shared + "= 2019-05-09 2018-11-09 storage-python \n" + rest:              true,
		shared + rest: true,
		shared + "= 2019-05-09 2018-11-09 storage-python test_a.test_b\n> 0 GET /nam1\n< 200 - h1 f0\n": true,
		shared + "= 2019-05-09 2018-11-09 storage-python test_a.test_b\n< 200 - h0 f0\n":                true,
	} {
		if _, err := parseRecordings(text); (err != nil) != fails {
			t.Errorf("%v for\n%s", err, text)
		}
	}
}
