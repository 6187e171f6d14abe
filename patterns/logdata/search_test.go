package logdata

import (
	"testing"
	"time"
)

func FuzzPositionsSurviveEncoding(f *testing.F) {
	f.Add(int64(0), int64(5), int64(7), "web/2014/07/31/1200/w-000000.log", []byte("short"))
	f.Fuzz(func(t *testing.T, sec, ns, offset int64, blob string, any []byte) {
		p := position{time.Unix(sec, ns%1e9).UTC(), blob, offset}
		if got, ok := parsePosition(p.bytes()); !ok || got.compare(p) != 0 {
			t.Errorf("got %v, want %v", got, p)
		}
		parsePosition(any)
	})
}
