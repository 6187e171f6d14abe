package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

const replyType = "multipart/mixed; boundary=batchresponse_1"

// reply is an answer to a transaction with the given parts.
func reply(parts ...string) string {
	var b strings.Builder
	b.WriteString("--batchresponse_1\r\nContent-Type: multipart/mixed; boundary=changesetresponse_2\r\n\r\n")
	for _, p := range parts {
		b.WriteString("--changesetresponse_2\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + p + "\r\n")
	}
	b.WriteString("--changesetresponse_2--\r\n--batchresponse_1--\r\n")
	return b.String()
}

// inserts returns a transaction of n operations.
func inserts(n int) []*Write {
	writes := make([]*Write, n)
	for i := range writes {
		writes[i] = new(Write)
	}
	return writes
}

func okPart(etag string) string {
	return "HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\neTag: " + etag + "\r\n\r\n"
}

func failPart(status, code, message string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n\r\n" +
		`{"odata.error":{"code":"` + code + `","message":{"lang":"en-US","value":"` + message + `"}}}` + "\r\n"
}

func TestBatchReplyHasEveryETag(t *testing.T) {
	for _, body := range []string{
		reply(okPart(`W/"a"`), okPart(`W/"b"`)),
		strings.ReplaceAll(reply(okPart(`W/"a"`), okPart(`W/"b"`)), "\r\n", "\n"),
		strings.TrimSuffix(reply(okPart(`W/"a"`), okPart(`W/"b"`)), "--batchresponse_1--\r\n"), // Cosmos DB leaves it out
	} {
		r, err := parseBatchReply(replyType, []byte(body), inserts(2))
		if err != nil || r.failure != nil || len(r.etags) != 2 || r.etags[0] != `W/"a"` || r.etags[1] != `W/"b"` {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

// The lines that two parts begin with are compared as a whole in the parts after them.
func TestEachPartOfABatchReplyIsReadByItsOwnLines(t *testing.T) {
	same := okPart(`W/"same"`)
	for _, c := range []struct{ name, part, etag string }{
		{"the same", same, `W/"same"`},
		{"another ETag", okPart(`W/"other"`), `W/"other"`},
		{"two ETags, of which the last counts", strings.Replace(okPart(`W/"2"`), "X-Content", "ETag: W/\"1\"\r\nX-Content", 1), `W/"2"`},
		{"more headers", strings.Replace(same, "eTag", "Location: x\r\neTag", 1), `W/"same"`},
		{"fewer headers", "HTTP/1.1 204 No Content\r\nETag: W/\"few\"\r\n\r\n", `W/"few"`},
		{"another status", strings.Replace(same, "204 No Content", "201 Created", 1), `W/"same"`},
		{"a body", same + "text\r\n", `W/"same"`},
	} {
		r, err := parseBatchReply(replyType, []byte(reply(same, same, c.part, same, okPart(`W/"last"`))), inserts(5))
		if want := `W/"same" W/"same" ` + c.etag + ` W/"same" W/"last"`; err != nil || strings.Join(r.etags, " ") != want {
			t.Errorf("%s: got %q, %v; want %s", c.name, r.etags, err, want)
		}
	}
	failed := reply(same, same, failPart("409 Conflict", "EntityAlreadyExists", "2:x"))
	if r, err := parseBatchReply(replyType, []byte(failed), inserts(5)); err != nil || r.failure == nil || r.failure.index != 2 || r.failure.status != 409 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A failed transaction answers 202 outside; aztables reports that status and no code.
func TestBatchReplyNamesTheFailedOperation(t *testing.T) {
	for _, c := range []struct {
		part  string
		index int
	}{
		{failPart("409 Conflict", "EntityAlreadyExists", `7:The specified entity already exists.\nRequestId:x\nTime:y`), 7},
		{failPart("409 Conflict", "EntityAlreadyExists", `The specified entity already exists.`), -1},
		{failPart("409 Conflict", "EntityAlreadyExists", `99:x`), 99},
	} {
		r, err := parseBatchReply(replyType, []byte(reply(c.part)), inserts(100))
		if err != nil || r.failure == nil || r.failure.index != c.index || r.failure.status != 409 || r.failure.code != "EntityAlreadyExists" {
			t.Errorf("index %d: got %+v, %v", c.index, r.failure, err)
		}
	}
}

// aztables takes an answer that is cut in the header of the failing part for
// success, and panics on an empty one.
func TestATruncatedBatchReplyIsNeverSuccess(t *testing.T) {
	whole := reply(okPart(`W/"a"`), okPart(`W/"b"`), okPart(`W/"c"`), okPart(`W/"d"`))
	last := strings.Index(whole, "--changesetresponse_2--") + len("--changesetresponse_2--")
	for i := range last {
		if r, err := parseBatchReply(replyType, []byte(whole[:i]), inserts(4)); !errors.Is(err, azerr.ErrBadReply) {
			t.Fatalf("cut at %d of %d: got %+v, %v; want azerr.ErrBadReply", i, len(whole), r, err)
		}
	}
	failed := reply(failPart("412 Precondition Failed", "UpdateConditionNotSatisfied", "0:x"))
	end := strings.LastIndexByte(failed, '}') + 1
	for i := range end {
		if r, err := parseBatchReply(replyType, []byte(failed[:i]), inserts(2)); !errors.Is(err, azerr.ErrBadReply) {
			t.Fatalf("failure cut at %d of %d: got %+v, %v; want azerr.ErrBadReply", i, end, r, err)
		}
	}
	for name, body := range map[string]string{
		"part missing":    reply(okPart(`W/"x"`)),
		"part too many":   reply(okPart(`W/"x"`), okPart(`W/"y"`), okPart(`W/"z"`)),
		"no status":       reply(okPart(`W/"x"`), "HTTP/1.1\r\n\r\n"),
		"redirection":     reply(okPart(`W/"x"`), strings.Replace(okPart(`W/"y"`), "204 No Content", "302 Found", 1)),
		"interim status":  reply(okPart(`W/"x"`), strings.Replace(okPart(`W/"y"`), "204 No Content", "100 Continue", 1)),
		"words as status": reply(okPart(`W/"x"`), "HTTP/1.1 abc no\r\n\r\n"),
		"no code":         reply(failPart("400 Bad Request", "", "0:x")),
		"no ETag":         reply(okPart(`W/"x"`), strings.Replace(okPart(`W/"y"`), "eTag", "xTag", 1)),
		"bad ETag":        reply(okPart(`W/"a"`), okPart("b")),
		"blank ETag":      reply(okPart(`W/"a"`), okPart(" ")),
		"html":            "<html></html>",
	} {
		if r, err := parseBatchReply(replyType, []byte(body), inserts(2)); !errors.Is(err, azerr.ErrBadReply) {
			t.Errorf("%s: got %+v, %v; want azerr.ErrBadReply", name, r, err)
		}
	}
	assert.WantError(t, assert.ErrorOf(parseBatchReply("text/plain", []byte(whole), inserts(4))), azerr.ErrBadReply, "no boundary")
}

func FuzzBatchReply(f *testing.F) {
	f.Add(replyType, []byte(reply(okPart(`W/"a"`), okPart(`W/"b"`))), 2)
	f.Add(replyType, []byte(reply(okPart(`W/"a"`), okPart(`W/"b"`), okPart(`W/"c"`), okPart(`W/"d"`))), 4)
	f.Add(replyType, []byte(reply(failPart("409 Conflict", "EntityAlreadyExists", "1:x"))), 2)
	f.Add(replyType, []byte(`{"odata.error":{"code":"InvalidInput","message":{"value":"x"}}}`), 1)
	f.Add("multipart/mixed; boundary=", []byte("--\r\n\r\n"), 0)
	f.Fuzz(func(t *testing.T, contentType string, body []byte, n int) {
		r, err := parseBatchReply(contentType, body, inserts(max(n, 0)%200))
		if err == nil && r.failure == nil && len(r.etags) != max(n, 0)%200 {
			t.Fatalf("%d ETags for %d operations", len(r.etags), n)
		}
		if err != nil && !errors.Is(err, azerr.ErrBadReply) {
			t.Fatalf("error without a kind: %v", err)
		}
		if r.failure != nil && (r.failure.status < 400 || r.failure.code == "") {
			t.Fatalf("failure without status or code: %+v", r.failure)
		}
	})
}
