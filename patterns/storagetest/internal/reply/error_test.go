package reply

import (
	"encoding/json"
	"encoding/xml"
	"github.com/azpatterns/azpatterns/internal/assert"
	"regexp"
	"testing"
	"time"
)

func TestErrorBodiesAreWellFormed(t *testing.T) {
	const message = "a < b & \"c\"\x00 é"
	now := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	var odata struct {
		Error struct {
			Code    string
			Message struct{ Value string }
		} `json:"odata.error"`
	}
	assert.NoError(t, json.Unmarshal(ODataError("A", message, "id", now), &odata))
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
