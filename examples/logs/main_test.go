package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func output(t *testing.T, from, to, level string) string {
	t.Helper()
	var out bytes.Buffer
	assert.NoError(t, run(t.Context(), &out, storagetest.Start(nil), from, to, level))
	return out.String()
}

func TestTheErrorsOfTwoMinutesTakeThreeRequests(t *testing.T) {
	got := output(t, "15:04", "15:06", "ERROR")
	for _, want := range []string{
		"the service logged 34560 records: ",
		" in 48 blobs\n",
		`15:04:10 ERROR payment refused {"host":"web-1","order":{"id":110850,"items":1},"reason":"card \"expired\"; asked again"}` + "\n" +
			`15:04:10 ERROR payment refused {"host":"web-2",`,
		"found 4: 3 requests, ",
		" of 2 of the 48 blobs\n",
	} {
		assert.Contains(t, got, want)
	}
}

func TestTheLastMinuteOfTheDayIsIncluded(t *testing.T) {
	got := output(t, "23:59", "24:00", "info")
	if !strings.Contains(got, "23:59:55 INFO served ") || !strings.Contains(got, "found ") {
		t.Errorf("got\n%s", got)
	}
}

func TestInvalidArgumentsAreErrors(t *testing.T) {
	for _, bad := range []string{"", "25:00", "noon"} {
		if err := run(t.Context(), &bytes.Buffer{}, storagetest.Start(nil), bad, "15:06", "ERROR"); err == nil {
			t.Errorf("%q: no error", bad)
		}
		if err := run(t.Context(), &bytes.Buffer{}, storagetest.Start(nil), "15:04", bad, "ERROR"); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	for _, c := range [][3]string{{"15:06", "15:04", "ERROR"}, {"15:04", "15:04", "ERROR"}, {"15:04", "15:06", "bad"}, {"15:04", "15:06", ""}} {
		if err := run(t.Context(), &bytes.Buffer{}, storagetest.Start(nil), c[0], c[1], c[2]); err == nil {
			t.Errorf("%q: no error", c)
		}
	}
}
