package rest

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestABodyIsReadUpToItsLimitAndItsDeclaredLength(t *testing.T) {
	big := strings.Repeat("0123456789", 3<<18) // more than is trusted at first
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
		b, err := ReadBody(r, limit)
		switch {
		case tt.code == "" && (err != nil || string(b) != tt.body):
			t.Errorf("%.20q declared as %d: %.20q %v", tt.body, tt.length, b, err)
		case tt.code != "" && (err == nil || err.Code != tt.code):
			t.Errorf("%.20q declared as %d: %v, want %s", tt.body, tt.length, err, tt.code)
		}
	}
	if b, err := ReadBody(&http.Request{ContentLength: -1}, 8); b != nil || err != nil {
		t.Errorf("no body: %q %v", b, err)
	}
	if _, err := ReadBody(&http.Request{ContentLength: 1}, 8); err == nil {
		t.Error("a body that is not there has its length")
	}
}

func TestErrorBodiesAreWellFormedWhateverTheySay(t *testing.T) {
	const message = "a < b & \"c\"\x00 é"
	now := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	var odata struct {
		Error struct {
			Code    string
			Message struct{ Value string }
		} `json:"odata.error"`
	}
	if err := json.Unmarshal(ODataError("A", message, "id", now), &odata); err != nil {
		t.Fatal(err)
	}
	if want := message + "\nRequestId:id\nTime:2026-01-02T03:04:05.0000006Z"; odata.Error.Code != "A" || odata.Error.Message.Value != want {
		t.Errorf("%+v", odata)
	}
	for _, b := range [][]byte{
		ODataXMLError("A", message, "id", now), StorageXMLError("A", message, "id", now), StorageXMLError("A", message, "id", now, "Reason", message),
	} {
		var doc struct {
			Inner string `xml:",innerxml"`
		}
		if err := xml.Unmarshal(b, &doc); err != nil || !regexp.MustCompile(`<[cC]ode>A</[cC]ode>`).MatchString(doc.Inner) {
			t.Errorf("%v in %s", err, b)
		}
	}
}

func TestRequestIDsAreUniqueGUIDs(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := RequestID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("%s", id)
		}
		seen[id] = true
	}
}

func TestANilCallTakesEverything(t *testing.T) {
	c := CallFrom(context.Background())
	c.Touch("p", "r")
	c.Count(1, 2, 3)
	c.Fail(404, "X")
	c.Report(&Call{})
	if c != nil || c.Shape() != (Page{}) || !c.Guards().All() || c.Guards().Allow(CreateTable, "") != nil {
		t.Error("a request without a call is not treated as unrestricted")
	}
}
