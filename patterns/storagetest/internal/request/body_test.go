package request

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

func TestABodyIsReadUpToItsLimitAndItsDeclaredLength(t *testing.T) {
	read := func(r *http.Request, limit int64) ([]byte, *reply.Error) {
		b, n := bodyOf(r)
		return (&Request{body: b, ContentLength: n}).Body(limit)
	}
	big := strings.Repeat("0123456789", 3<<18) // more than is allocated at first
	for _, tt := range []struct {
		body   string
		length int64
		code   string
	}{
		{"12345678", 8, ""},
		{"12345678", -1, ""},
		{"", 0, ""},
		{"123456789", 9, "RequestBodyTooLarge"},
		{"123456789", -1, "RequestBodyTooLarge"},
		{"1234", 8, "InvalidInput"},
		{"1234", 3, "InvalidInput"},
		{"", 1, "InvalidInput"},
		{big, int64(len(big)), ""},
		{big, int64(len(big)) + 1, "InvalidInput"},
		{big, int64(len(big)) - 1, "InvalidInput"},
		{big + "xx", -1, "RequestBodyTooLarge"},
	} {
		r := &http.Request{Body: io.NopCloser(iotest.HalfReader(strings.NewReader(tt.body))), ContentLength: tt.length}
		limit := int64(8)
		if len(tt.body) > 1000 {
			limit = int64(len(big) + 1)
		}
		b, err := read(r, limit)
		switch {
		case tt.code == "" && (err != nil || string(b) != tt.body):
			t.Errorf("%.20q declared as %d: %.20q %v", tt.body, tt.length, b, err)
		case tt.code != "" && (err == nil || err.Code != tt.code):
			t.Errorf("%.20q declared as %d: %v, want %s", tt.body, tt.length, err, tt.code)
		}
	}
	if b, err := read(&http.Request{ContentLength: -1}, 8); len(b) > 0 || err != nil {
		t.Errorf("no body: %q %v", b, err)
	}
	if _, err := read(&http.Request{ContentLength: 1}, 8); err == nil {
		t.Error("a missing body has its declared length")
	}
}

func TestABodyThatWasReadIsSentCompletely(t *testing.T) {
	const entity = `{"PartitionKey":"p","RowKey":"r"}`
	for _, sent := range []struct {
		body   io.Reader
		length int64
		err    error
	}{
		{strings.NewReader(entity), int64(len(entity)), nil},
		{strings.NewReader(entity), -1, nil},
		{strings.NewReader(entity + "more"), int64(len(entity)), nil},
		{strings.NewReader(entity), 100, nil},
		{strings.NewReader(entity), MaxTableBody + 1, nil},
		{iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(entity))), -1, iotest.ErrTimeout},
	} {
		req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, "https://acct.table.core.windows.net/People", sent.body))(t)
		req.ContentLength = sent.length
		_, out := new(Parser).Parse(req)
		if b, err := io.ReadAll(out.Body); err != sent.err || err == nil && !strings.HasPrefix(string(b), entity) {
			t.Errorf("%d declared: %q, %v", sent.length, b, err)
		}
	}
}
