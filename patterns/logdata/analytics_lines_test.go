package logdata_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// The sample lines in the documentation of the service do not follow its rule that a
// quote, a semicolon or a newline is encoded in a quoted field.
func TestLinesAreParsedInEveryFormThatTheServiceDocuments(t *testing.T) {
	const agent = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) Edge/18`
	type want struct{ url, object, etag, agent, id, user, authorization string }
	for name, c := range map[string]struct {
		line string
		want want
	}{
		"an ETag in two pairs of quotes": {
			`1.0;2014-06-19T22:59:23.1967767Z;GetBlob;AnonymousSuccess;200;17;16;anonymous;;acct;blob;"https://acct.blob.core.windows.net/c/1.txt";` +
				`"/acct/c/1.txt";r1;0;203.0.113.9:4362;2014-02-14;283;0;354;23;0;;;""0x8D15A29"";Thursday, 19-Jun-14 22:58:10 GMT;;"` + agent + `";;"id1"`,
			want{"https://acct.blob.core.windows.net/c/1.txt", "/acct/c/1.txt", `"0x8D15A29"`, agent, "id1", "", ""},
		},
		"an ETag in one pair": {
			`1.0;2011-08-09T18:02:40.6526789Z;CopyBlob;Success;201;28;28;authenticated;other;acct;blob;"https://acct.blob.core.windows.net/c/a?timeout=3";` +
				`"/acct/c/a";r1;0;203.0.113.9:4362;2009-09-19;505;0;188;0;0;;;"0x8CE1B67";Friday, 09-Aug-11 18:02:40 GMT;;;;"8/9/2011 6:02:40 PM 68"`,
			want{"https://acct.blob.core.windows.net/c/a?timeout=3", "/acct/c/a", "0x8CE1B67", "", "8/9/2011 6:02:40 PM 68", "", ""},
		},
		"a URL as the object": {
			`1.0;2014-06-19T23:31:36.5780954Z;CopyBlobSource;Success;202;13;13;authenticated;acct;acct;blob;"https://acct.blob.core.windows.net/c/to";` +
				`"https://acct.blob.core.windows.net/c/from";r1;1;203.0.113.9:4362;2014-02-14;538;0;261;0;0;;;;;;"` + agent + `";;"id1"`,
			want{"https://acct.blob.core.windows.net/c/to", "https://acct.blob.core.windows.net/c/from", "", agent, "id1", "", ""},
		},
		"an encoded URL without quotes": {
			`2.0;2022-01-03T20:34:54.4617505Z;PutBlob;SASSuccess;201;7;7;sas;;acct;blob;https://acct.blob.core.windows.net/c/1?se=2022&amp;sig=X&amp;timeout=9;` +
				`"/acct/c/1";r1;0;203.0.113.9:53371;2019-12-12;654;13;337;0;13;"aa==";"bb==";"&quot;0x8D9&quot;";Monday, 03-Jan-22 20:34:54 GMT;;"` + agent + `";;"id1";;;;;;;;`,
			want{"https://acct.blob.core.windows.net/c/1?se=2022&sig=X&timeout=9", "/acct/c/1", `"0x8D9"`, agent, "id1", "", ""},
		},
		"a URL that ends in an encoded character": {
			`1.0;2022-01-03T20:34:54Z;GetBlob;Success;200;7;7;sas;;acct;blob;https://acct.blob.core.windows.net/c?a=1&amp;;` +
				`"/acct/c";r1;0;203.0.113.9:1;2019-12-12;6;1;3;0;1;;;;;;;;"id1"`,
			want{"https://acct.blob.core.windows.net/c?a=1&", "/acct/c", "", "", "id1", "", ""},
		},
		"a URL that is not encoded": {
			`1.0;2022-01-03T20:34:54Z;GetBlob;Success;200;7;7;sas;;acct;blob;https://acct.blob.core.windows.net/c?a=1&copy=2&not;` +
				`"/acct/c?a&copy=2";r1;0;203.0.113.9:1;2019-12-12;6;1;3;0;1;;;;;;;;"id1"`,
			want{"https://acct.blob.core.windows.net/c?a=1&copy=2&not", "/acct/c?a&copy=2", "", "", "id1", "", ""},
		},
		"JSON that is not encoded": {
			`2.0;2019-02-25T20:06:55.9794046Z;ListBlobs;OAuthSuccess;200;250;46;bearer;acct;acct;blob;"https://acct.blob.core.windows.net/c?comp=list&amp;prefix=&amp;_=15";` +
				`"/acct/c";r1;0;203.0.113.9:52659;2018-03-28;2682;0;295;5184;0;;;;;;"` + agent + `";"blob:https://portal/cf57";;"u1";"t1";"a1";"https://storage.azure.com/";` +
				`"https://sts.windows.net/t1/";;;"[{"action":"blobs/read", "principalId":"u1", "principalType":"User"}]"`,
			want{"https://acct.blob.core.windows.net/c?comp=list&prefix=&_=15", "/acct/c", "", agent, "", "u1",
				`[{"action":"blobs/read", "principalId":"u1", "principalType":"User"}]`},
		},
	} {
		e, err := logdata.ParseAnalytics([]byte(c.line))
		got := want{e.URL, e.Object, e.ETag, e.UserAgent, e.ClientRequestID, e.UserObjectID, e.Authorization}
		if err != nil || got != c.want || e.RequestID != "r1" {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, c.want)
		}
	}
}

// Storage Analytics files entries by the end of the request, so the first blob is read
// for two hours.
func TestALineThatIsNotParsedIsReportedOnceAndTheReadGoesOn(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		const name = "blob/2014/07/31/1600/000000.log"
		putAnalytics(t, c, name, "2014-07-31T15:59:00Z", "2014-07-31T16:10:00Z",
			entryLine("2014-07-31T15:59:00Z", "a", 0), "3.0;"+strings.Repeat(";", 29), "", entryLine("2014-07-31T16:05:00Z", "b", 0), "rubbish")
		r, err := logdata.NewAnalyticsReader(c, "blob", nil)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2014, 7, 31, 15, 0, 0, 0, time.UTC)
		var stats logdata.Stats
		var got []string
		var lines []int64
		for e, err := range r.Read(t.Context(), from, from.Add(2*time.Hour), &logdata.AnalyticsReadOptions{Stats: &stats}) {
			var bad *logdata.LineError
			switch {
			case err == nil:
				got = append(got, e.RequestID)
			case !errors.As(err, &bad) || bad.Blob != name:
				t.Fatal(err)
			default:
				lines = append(lines, bad.Line)
			}
		}
		wantTexts(t, got, "a", "b")
		if len(lines) != 2 || lines[0] != 2 || lines[1] != 5 || stats.BadLines != 2 || stats.Matched != 2 {
			t.Errorf("lines %v, stats %+v", lines, stats)
		}
	})
}
