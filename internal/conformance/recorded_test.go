package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// wantFacts is the smallest number of requests that the files must contain, and wantShare the smallest share of the applicable
// facts that must agree.
const (
	wantFacts = 2500
	wantShare = 0.99
)

// TestRecordings sends the requests of the recordings to an account in memory, and compares the replies. A fact that disagrees
// must be in the file listed.txt with the reason, and one that agrees must not.
func TestRecordings(t *testing.T) {
	t.Setenv(storagetest.ProductionVariable, "") // recordings contain no refusal by a target, and no delay of a policy
	listed := listedFacts(t)
	total := tally{}
	for _, s := range []service{tables, queues, blobs} {
		t.Run(string(s), func(t *testing.T) {
			n := tally{}
			for _, rec := range recordings(t, s) {
				rec.replay(t, s, listed, n)
			}
			t.Log(n)
			for what, count := range n {
				total[what] += count
			}
		})
	}
	for f := range listed {
		t.Errorf("%s: listed, but it is not a fact, or cannot be reached", f)
	}
	t.Log("all: " + total.String())
	if total.sum() < wantFacts {
		t.Errorf("%d facts, want %d", total.sum(), wantFacts)
	}
	if total.share() < wantShare {
		t.Errorf("%.4f of the applicable facts agree, want %.4f", total.share(), wantShare)
	}
}

const (
	agree    = "agree"
	disagree = "disagree"

	// The applicable facts are those above. The others are not counted as agreement or disagreement.
	notOffered    = "not offered, or after such a request"
	notRecorded   = "with a request that the recording does not show"
	notReplayable = "cannot be replayed"
)

// tally counts facts by what became of them.
type tally map[string]int

func (n tally) sum() (sum int) {
	for _, count := range n {
		sum += count
	}
	return sum
}

func (n tally) share() float64 { return float64(n[agree]) / float64(n[agree]+n[disagree]) }

func (n tally) String() string {
	text := fmt.Sprintf("%d facts, %.2f %% of the applicable ones agree", n.sum(), 100*n.share())
	for _, what := range slices.Sorted(maps.Keys(n)) {
		text += fmt.Sprintf("; %d %s", n[what], what)
	}
	return text
}

// replay compares the facts of a recording with the replies of a new account, and removes those that disagree from listed.
func (rec *recording) replay(t *testing.T, s service, listed map[string]string, n tally) {
	synctest.Test(t, func(t *testing.T) {
		account := storagetest.Start(nil)
		account.Replicate(time.Minute)
		r := &replay{t: t, service: s, account: account, version: rec.version}
		if !r.prepare(rec.exists) {
			n[notOffered] += len(rec.facts)
			return
		}
		for i, f := range rec.facts {
			time.Sleep(time.Duration(f.wait) * time.Second)
			if f.unclear {
				r.replies = append(r.replies, nil)
				n[notRecorded]++
				continue
			}
			a := r.send(f)
			if !a.offered() {
				n[notOffered] += len(rec.facts) - i
				return
			}
			r.replies = append(r.replies, a)
			reason, isListed := listed[f.String()]
			delete(listed, f.String())
			differs := a.outcome(s).differs(f.outcome())
			switch {
			case differs == "" && isListed:
				t.Errorf("%v: listed, but it agrees", f)
			case differs == "":
				n[agree]++
			case !isListed:
				t.Errorf("%v: %s %s: %s", f, f.method, f.target, differs)
				n[disagree]++
			case strings.HasPrefix(reason, notReplayable):
				n[notReplayable]++
			case strings.HasPrefix(reason, "not offered"):
				n[notOffered]++
			default:
				n[disagree]++
			}
		}
	})
}

// offered reports whether the account carries out the request, and each operation of a batch.
func (a *recordedReply) offered() bool {
	return a.StatusCode != http.StatusNotImplemented && !strings.Contains(string(a.body), "HTTP/1.1 501 ")
}

var listedLine = regexp.MustCompile(`^(\S+)((?: \d+)+)$`)

// listedFacts returns the facts that disagree, and the reason of each. In the file a reason follows an exclamation mark. The
// facts below it are recordings with the numbers of their requests.
func listedFacts(t *testing.T) map[string]string {
	t.Helper()
	listed, reason := map[string]string{}, ""
	for _, line := range strings.Split(strings.TrimSpace(string(assert.Must(os.ReadFile(filepath.Join("testdata", "recorded", "listed.txt")))(t))), "\n") {
		text, isReason := strings.CutPrefix(line, "! ")
		if isReason {
			if reason = text; !regexp.MustCompile(`^(cannot be replayed|not offered|documentation of later versions|another recording contradicts): .{20}`).MatchString(reason) {
				t.Errorf("not a reason: %s", line)
			}
			continue
		}
		found := listedLine.FindStringSubmatch(line)
		if found == nil || reason == "" {
			t.Fatalf("a line that cannot be read: %s", line)
		}
		for _, step := range strings.Fields(found[2]) {
			n := assert.Must(strconv.Atoi(step))(t)
			listed[fmt.Sprintf("%s %d", found[1], n)] = reason
		}
	}
	return listed
}

// This shows that a wrong reply is noticed.
func TestAFactDisagreesWithEveryOtherReply(t *testing.T) {
	f := &fact{status: 404, code: "BlobNotFound", names: "content-type date x-ms-tag-count x-ms-version", form: "xml:Error(Code,Message)"}
	header := http.Header{"Content-Type": {"application/xml"}, "Date": {"now"}, "X-Ms-Version": {"2019-02-02"}, "Connection": {"close"}}
	body := "\uFEFF<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>BlobNotFound</Code><Message>no</Message></Error>"
	reply := func(status int, h http.Header, body string) *recordedReply {
		return &recordedReply{&http.Response{StatusCode: status, Header: h}, []byte(body)}
	}
	more, less := header.Clone(), header.Clone()
	more.Set("Etag", "x")
	less.Del("Date")
	for want, a := range map[string]*recordedReply{
		"":                                     reply(404, header, body),
		"status 409, recorded 404":             reply(409, header, body),
		"code BlobGone, recorded BlobNotFound": reply(404, header, strings.Replace(body, "BlobNotFound", "BlobGone", 1)),
		"headers +etag":                        reply(404, more, body),
		"headers -date":                        reply(404, less, body),
		"body xml:Error(Code), recorded xml:Error(Code,Message)": reply(404, header, strings.Replace(body, "<Message>no</Message>", "", 1)),
	} {
		assert.Equal(t, a.outcome(blobs).differs(f.outcome()), want)
	}
}
