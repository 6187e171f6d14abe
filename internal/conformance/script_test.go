package conformance

import (
	"crypto/rand"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// conversation is one case: a sequence of requests to one service. Each conversation uses its own names, so that it does
// not depend on others. The texts of a step may contain placeholders for them:
//
//	{T} {t}   a table, and its name in lower case
//	{Q}       a queue
//	{C}       a container
//	{BASE}    the address of the account
//	{READ} {WRITE} {DELETE} {EXPIRED} {WRONG}
//	          a SAS of the container that permits reading, writing, writing and deleting, that has expired, that has a
//	          wrong signature
//
// The script of a service determines which of these exist when a conversation begins.
type conversation struct {
	name  string
	steps []step
}

// step is one request and the expected reply.
type step struct {
	request string // "GET /{T}()?$top=1"; spaces and quotes are encoded before sending
	body    string
	headers string // "Name: value", several separated by "|"; "Name: " without a value removes a default header
	want    string // see expectation
}

// expectation is the parsed form of step.want: a status and error code such as "201" or "404 QueueNotFound", then any
// number of " ~ " followed by a text that the reply must contain, or " !~ " followed by one that it must not contain. The
// text of a reply is its body and a line "Name: value" for each header. {*} matches anything up to a "<" or the end of
// the line. {=name} matches the same and captures it; later steps may use it as {name}.
type expectation struct {
	summary         string
	present, absent []string
}

func expected(want string) expectation {
	var e expectation
	parts := regexp.MustCompile(` !?~ `).FindAllStringIndex(want, -1)
	end := len(want)
	for _, p := range slices.Backward(parts) {
		text := want[p[1]:end]
		if want[p[0]+1] == '!' {
			e.absent = append(e.absent, text)
		} else {
			e.present = append(e.present, text)
		}
		end = p[0]
	}
	e.summary = want[:end]
	slices.Reverse(e.present)
	return e
}

var placeholder = regexp.MustCompile(`\{=?[*a-z]+\}`)

// met reports whether a reply is as expected, and adds the captured texts to names.
func (e expectation) met(got reply, names map[string]string) bool {
	if got.summary != e.summary {
		return false
	}
	for _, text := range e.absent {
		if strings.Contains(got.text, text) {
			return false
		}
	}
	for _, text := range e.present {
		var captured []string
		pattern, end := "", 0
		for _, at := range placeholder.FindAllStringIndex(text, -1) {
			name := text[at[0]+1 : at[1]-1]
			pattern += regexp.QuoteMeta(text[end:at[0]])
			end = at[1]
			switch {
			case name == "*":
				pattern += `[^<\r\n]*`
			case name[0] == '=':
				captured = append(captured, name[1:])
				pattern += `([^<\r\n]*)`
			default:
				pattern += regexp.QuoteMeta(text[at[0]:at[1]])
			}
		}
		found := regexp.MustCompile(pattern + regexp.QuoteMeta(text[end:])).FindStringSubmatch(got.text)
		if found == nil {
			return false
		}
		for i, name := range captured {
			names["{"+name+"}"] = found[i+1]
		}
	}
	return true
}

var explanation = regexp.MustCompile(`storagetest: |<HeaderName>|<QueryParameterName>|<XmlNodeName>|<Reason>|<AuthenticationErrorDetail>`)

// explained reports whether a reply of 400 names the property or parameter and the rule that it broke.
func (r reply) explained(request string) bool {
	refused := strings.HasPrefix(r.summary, "400") || strings.HasPrefix(r.summary, "202 400")
	return !refused || strings.HasPrefix(request, "HEAD") || explanation.MatchString(r.text)
}

// script is how to have all conversations with one service.
type script struct {
	service service
	open    step // runs before every conversation
	close   step // runs after every conversation
	live    *harness.Live
	report  *report // of a live account
}

// needsKey finds what a token cannot do, and the settings of the account, which a live one keeps: conversations with them run only on
// accounts of the tests.
var needsKey = regexp.MustCompile(`(?i)\{(READ|WRITE|DELETE|EXPIRED|WRONG)\}|\bSas: |Authorization: |X-Ms-Date: |copy-source|-secondary|comp=acl|restype=service|restype=account|comp=batch|comp=tags|x-ms-tags|^GET /\?comp=list|^GET /Tables|public-access`)

// onLive reports whether a conversation can be had with an account that is reached with a token.
func (c conversation) onLive() bool {
	for _, s := range c.steps {
		if needsKey.MatchString(s.request) || needsKey.MatchString(s.headers) || needsKey.MatchString(s.body) {
			return false
		}
	}
	return true
}

// run has the conversations with the service at base.
func (s script) run(t *testing.T, base string, cases []conversation, differs []difference) {
	listed := map[string]difference{}
	for _, d := range differs {
		listed[d.name] = d
	}
	group := rand.Text()[:8]
	for i, c := range cases {
		if s.live != nil && !c.onLive() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			unique := fmt.Sprintf("C%s%d", group, i)
			names := map[string]string{
				"{T}": unique, "{t}": strings.ToLower(unique), "{Q}": strings.ToLower(unique), "{C}": strings.ToLower(unique), "{BASE}": base,
			}
			for name, parameters := range map[string]string{"{READ}": "sp=r", "{WRITE}": "sp=w", "{DELETE}": "sp=wd", "{EXPIRED}": "sp=r&se=2020-01-01T00:00:00Z"} {
				names[name] = containerSAS(t, "c="+names["{C}"]+"&"+parameters)
			}
			names["{WRONG}"] = names["{READ}"] + "A"
			talk := talk{t, s.service, base, names, s.live}
			if got := talk.send(s.open); !strings.HasPrefix(got.summary, "201") {
				t.Fatalf("%s: %s\n%s", s.open.request, got.summary, got.text)
			}
			defer talk.send(s.close)
			d, ok := listed[c.name]
			for j, st := range c.steps {
				want := expected(talk.fill(st.want))
				got := talk.send(st)
				if differs == nil && s.live == nil && !got.explained(st.request) { // Azurite and a live account explain nothing
					t.Errorf("step %d, %s: %s without the property or parameter that broke a rule\n%s", j, st.request, got.summary, got.text)
				}
				same := want.met(got, names)
				switch {
				case ok && j == d.step && same:
					t.Fatalf("step %d, %s: listed as different, but it is not", j, st.request)
				case ok && j == d.step && !d.is(got):
					t.Fatalf("step %d, %s: %s, listed as %s\n%s", j, st.request, got.summary, d.got, got.text)
				case ok && j == d.step:
					return // the next steps depend on the reply of this one
				case !same:
					s.report.add(c, j, want, got)
					t.Fatalf("step %d, %s: %s, want %s\n%s", j, st.request, got.summary, talk.fill(st.want), got.text)
				}
			}
		})
	}
}

// onLive has the conversations that need no key with a live account.
func (s script) onLive(t *testing.T, l *harness.Live) {
	cases, _ := load(t, s.service)
	s.live, s.report = l, &report{service: s.service, account: l.Tables}
	defer s.report.print()
	for _, c := range cases {
		if c.onLive() {
			s.report.cases++
		}
	}
	s.run(t, map[service]string{tables: l.Tables, queues: l.Queues, blobs: l.Blobs}[s.service], cases, nil)
}

func (s script) onBoth(t *testing.T) {
	if l := harness.LiveAccount(t); l != nil {
		t.Run("live", func(t *testing.T) { s.onLive(t, l) })
		return
	}
	cases, differs := load(t, s.service)
	t.Run("storagetest", func(t *testing.T) {
		account := storagetest.New(t)
		account.Replicate(0)
		server := assert.Must(account.Serve())(t)
		s.run(t, map[service]string{tables: server.TablesURL, queues: server.QueuesURL, blobs: server.BlobsURL}[s.service], cases, nil)
	})
	t.Run("azurite", func(t *testing.T) {
		a := azurite.Shared(t)
		s.run(t, map[service]string{tables: a.TableURL(), queues: a.QueueURL(), blobs: a.BlobURL()}[s.service], cases, differs)
	})
	t.Run("the list of differences", func(t *testing.T) {
		names := map[string]int{}
		for _, c := range cases {
			if names[c.name] > 0 {
				t.Errorf("two cases have the name %q", c.name)
			}
			names[c.name] = len(c.steps)
		}
		checkDifferences(t, differs, names)
	})
}

// These tests show that a wrong reply fails a conversation.
func TestAnExpectationIsMetOnlyByTheExpectedReply(t *testing.T) {
	got := reply{"200", "<Name>a</Name><Id>7</Id>\nEtag: \"0x1\"\n"}
	for want, c := range map[string]struct {
		met   bool
		names map[string]string
	}{
		"200":                       {met: true},
		"201":                       {},
		"200 BlobNotFound":          {},
		"200 ~ <Name>a</Name>":      {met: true},
		"200 ~ <Name>b</Name>":      {},
		"200 ~ <Name>a ~ <Name>b":   {},
		"200 !~ <Name>b":            {met: true},
		"200 !~ <Name>a":            {},
		"200 ~ <Id>7 !~ <Name>a":    {},
		"200 !~ <Name>b ~ <Id>8":    {},
		"200 !~ <Name>b ~ <Id>7":    {met: true},
		"200 ~ <Name>{*}</Name><Id": {met: true},
		"200 ~ <Name>{*}</Id>":      {},
		"200 ~ <Id>{=id}</Id>":      {met: true, names: map[string]string{"{id}": "7"}},
		"200 ~ Etag: {=e}":          {met: true, names: map[string]string{"{e}": `"0x1"`}},
	} {
		names := map[string]string{}
		if met := expected(want).met(got, names); met != c.met {
			t.Errorf("%s: %v", want, met)
		}
		if c.names != nil && !maps.Equal(names, c.names) {
			t.Errorf("%s: %v", want, names)
		}
	}
}

func TestADifferenceMatchesOnlyTheListedReply(t *testing.T) {
	d := difference{got: "~ 200"}
	if !d.is(reply{summary: "200"}) || d.is(reply{summary: "404 BlobNotFound"}) {
		t.Error(`"~ 200" does not match exactly the status`)
	}
	d = difference{got: "400 InvalidInput"}
	if !d.is(reply{summary: "400 InvalidInput"}) || d.is(reply{summary: "400"}) {
		t.Error("another code matches")
	}
}
