package conformance

import (
	"maps"
	"testing"
)

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
