package logdata

import (
	"strings"
	"testing"
)

func FuzzOnlyNamesOfAnHourAreAccepted(f *testing.F) {
	for _, name := range []string{"web/2014/07/31/1200/w-000000.log", "web/2014/07/31/1230/0.log", "web/2014/02/30/1200/0.log", "web/0000/01/01/0000/0.log",
		"web/2014/07/31/1200/.log", "web/2014/07/31/1200/a/b.log", "web/", "", "other/2014/07/31/1200/0.log"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		h, ok := hourOfName("web", name)
		if ok && (!strings.HasPrefix(name, hourPrefix("web", h)) || h != hourOf(h)) {
			t.Errorf("%q: %v", name, h)
		}
		if n, ok := numberOf(name, "web/2014/07/31/1200/w-"); ok && strings.HasPrefix(name, "web/2014/07/31/1200/w-") {
			if blobName("web", testHour, "w", n) != name && len(name) <= len("web/2014/07/31/1200/w-000000.log") {
				t.Errorf("%q: %d", name, n)
			}
		}
	})
}
