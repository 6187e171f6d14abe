package logdata_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/logdata"
)

const (
	lineV1 = `1.0;2014-06-19T01:33:54.0926521Z;PutBlob;Success;201;249;235;authenticated;acct;acct;blob;` +
		`"https://acct.blob.core.windows.net/thumbs/lake.jpg?timeout=30000&amp;a=1;2";"/acct/thumbs/lake.jpg";` +
		`5c54a3c3-0001-0003-3d47-6a1a9e000000;0;203.0.113.9:33132;2014-02-14;471;100;306;7;8;"5Uz4==";"b2w==";` +
		`"&quot;0x8D1599F9A1E4F2C&quot;";Thursday, 19-Jun-14 01:33:53 GMT;"If-None-Match=*";"WA-Storage/4.0.1 (.NET 4.0; Win32NT)";;"cdfe9a9e-d5a1"`
	lineV2 = `2.0;2022-01-03T20:34:54.4617505Z;PutBlob;SASSuccess;201;7;7;sas;;logsamples;blob;` +
		`https://logsamples.blob.core.windows.net/;"/logsamples/c";c1f3d2b0-501e-0001;1;203.0.113.9:2;2020-02-10;654;13;337;0;13;;;;;;;;;` +
		`oid;tid;aid;https://storage.azure.com;https://sts.windows.net/x/;user@example.com;;"[{&quot;action&quot;:&quot;write&quot;}]"`
)

func TestBothAnalyticsVersionsAreParsed(t *testing.T) {
	e, err := logdata.ParseAnalytics([]byte(lineV1))
	if err != nil {
		t.Fatal(err)
	}
	want := logdata.AnalyticsEntry{
		Version: "1.0", Start: time.Date(2014, 6, 19, 1, 33, 54, 92652100, time.UTC), Operation: "PutBlob", Status: "Success", HTTPStatus: "201",
		EndToEnd: 249 * time.Millisecond, Server: 235 * time.Millisecond, Authentication: "authenticated", Requester: "acct", Owner: "acct",
		Service: "blob", URL: "https://acct.blob.core.windows.net/thumbs/lake.jpg?timeout=30000&a=1;2", Object: "/acct/thumbs/lake.jpg",
		RequestID: "5c54a3c3-0001-0003-3d47-6a1a9e000000", IP: "203.0.113.9:33132", APIVersion: "2014-02-14",
		RequestHeader: 471, RequestPacket: 100, ResponseHeader: 306, ResponsePacket: 7, ContentLength: 8,
		RequestMD5: "5Uz4==", ServerMD5: "b2w==", ETag: `"0x8D1599F9A1E4F2C"`, LastModified: time.Date(2014, 6, 19, 1, 33, 53, 0, time.UTC),
		Conditions: "If-None-Match=*", UserAgent: "WA-Storage/4.0.1 (.NET 4.0; Win32NT)", ClientRequestID: "cdfe9a9e-d5a1",
	}
	if e != want {
		t.Errorf("got\n%+v, want\n%+v", e, want)
	}
	e, err = logdata.ParseAnalytics([]byte(lineV2))
	if err != nil {
		t.Fatal(err)
	}
	want = logdata.AnalyticsEntry{
		Version: "2.0", Start: time.Date(2022, 1, 3, 20, 34, 54, 461750500, time.UTC), Operation: "PutBlob", Status: "SASSuccess", HTTPStatus: "201",
		EndToEnd: 7 * time.Millisecond, Server: 7 * time.Millisecond, Authentication: "sas", Owner: "logsamples", Service: "blob",
		URL: "https://logsamples.blob.core.windows.net/", Object: "/logsamples/c", RequestID: "c1f3d2b0-501e-0001", OperationNumber: 1,
		IP: "203.0.113.9:2", APIVersion: "2020-02-10", RequestHeader: 654, RequestPacket: 13, ResponseHeader: 337, ContentLength: 13,
		UserObjectID: "oid", TenantID: "tid", ApplicationID: "aid", Audience: "https://storage.azure.com", Issuer: "https://sts.windows.net/x/",
		UserPrincipal: "user@example.com", Authorization: `[{"action":"write"}]`,
	}
	if e != want {
		t.Errorf("got\n%+v, want\n%+v", e, want)
	}
}

func TestTheErrorNamesTheInvalidAnalyticsField(t *testing.T) {
	for field, line := range map[string]string{
		"version-number":           "3.0" + lineV1[3:],
		"request-start-time":       strings.Replace(lineV1, "2014-06-19T", "19 June ", 1),
		"end-to-end-latency-in-ms": strings.Replace(lineV1, ";249;", ";-249;", 1),
		"operation-count":          strings.Replace(lineV1, ";0;203", ";x;203", 1),
		"request-header-size":      strings.Replace(lineV1, ";471;", ";99999999999999;", 1),
		"last-modified-time":       strings.Replace(lineV1, "Thursday, 19", "Thursday, 32", 1),
		"":                         lineV1 + ";",
	} {
		var bad *logdata.LineError
		if _, err := logdata.ParseAnalytics([]byte(line)); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func putAnalytics(t *testing.T, c *container.Client, name, start, end string, lines ...string) {
	t.Helper()
	logType, version := "read,write", "1.0"
	if _, err := c.NewBlockBlobClient(name).Upload(t.Context(), body(strings.Join(lines, "\n")+"\n"), &blockblob.UploadOptions{
		Metadata: map[string]*string{"StartTime": &start, "EndTime": &end, "LogType": &logType, "LogVersion": &version},
	}); err != nil {
		t.Fatal(err)
	}
}

func entryLine(start, id string, n int) string {
	return fmt.Sprintf("1.0;%s;GetBlob;Success;200;1;1;;;acct;blob;;;%s;%d;;;;;;;;;;;;;;;", start, id, n)
}

func TestAnalyticsEntriesAreReadByTheStartOfTheRequest(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		// An entry is delivered twice, and one request started in the hour before the one
		// in which it is filed.
		putAnalytics(t, c, "blob/2014/07/31/1500/000000.log", "2014-07-31T15:03:00Z", "2014-07-31T15:05:00Z",
			entryLine("2014-07-31T15:05:00.0000001Z", "c", 0), entryLine("2014-07-31T15:03:00.0000000Z", "a", 0), entryLine("2014-07-31T15:04:00Z", "b", 0))
		putAnalytics(t, c, "blob/2014/07/31/1500/000001.log", "2014-07-31T15:04:00Z", "2014-07-31T15:04:00Z",
			entryLine("2014-07-31T15:04:00Z", "b", 0), entryLine("2014-07-31T15:04:00Z", "b", 1))
		putAnalytics(t, c, "blob/2014/07/31/1500/000002.log", "2014-07-31T15:30:00Z", "2014-07-31T15:40:00Z", "not read")
		putAnalytics(t, c, "blob/2014/07/31/1600/000000.log", "2014-07-31T15:05:30Z", "2014-07-31T16:10:00Z",
			entryLine("2014-07-31T15:05:30Z", "slow", 0), entryLine("2014-07-31T16:10:00Z", "later", 0))
		r, err := logdata.NewAnalyticsReader(c, "blob", nil)
		if err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		var stats logdata.Stats
		from := time.Date(2014, 7, 31, 15, 4, 0, 0, time.UTC)
		var got []string
		for _, e := range harness.All(t, r.Read(t.Context(), from, from.Add(2*time.Minute), &logdata.AnalyticsReadOptions{Stats: &stats})) {
			got = append(got, fmt.Sprint(e.RequestID, e.OperationNumber))
		}
		wantTexts(t, got, "b0", "b1", "c0", "slow0")
		if n := len(b.Requests()); n != 5 || stats.Skipped != 1 || stats.Read != 3 {
			t.Errorf("%d requests, stats %+v", n, stats)
		}
		match := func(e *logdata.AnalyticsEntry) bool { return e.RequestID == "c" }
		if es := harness.All(t, r.Read(t.Context(), from, from.Add(2*time.Minute), &logdata.AnalyticsReadOptions{Match: match})); len(es) != 1 {
			t.Errorf("%d entries match", len(es))
		}
	})
}

func FuzzAnalyticsFieldsAreDecoded(f *testing.F) {
	f.Add([]byte(lineV1), "")
	f.Add([]byte(lineV2), "x")
	for _, text := range awkward {
		f.Add([]byte("1.0;"), text)
	}
	f.Fuzz(func(t *testing.T, line []byte, text string) {
		e, err := logdata.ParseAnalytics(line)
		var bad *logdata.LineError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("got %v", err)
		}
		if err == nil && (e.Start.IsZero() || e.Version != "1.0" && e.Version != "2.0") {
			t.Errorf("got %+v", e)
		}
		// Text in one field does not spill into another.
		fields := slices.Repeat([]string{""}, 38)
		fields[0], fields[1] = "2.0", "2014-07-31T18:04:05.1234567Z"
		fields[11], fields[37] = quoted(text), quoted(text)
		e, err = logdata.ParseAnalytics([]byte(strings.Join(fields, ";")))
		if err != nil || e.URL != text || e.Authorization != text || e.Object != "" || e.Reserved != "" {
			t.Errorf("%q: got %+v, %v", text, e, err)
		}
	})
}

// quoted encodes a field as the reference requires for quotes, semicolons and line breaks.
func quoted(text string) string {
	return `"` + strings.NewReplacer("&", "&amp;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;").Replace(text) + `"`
}
