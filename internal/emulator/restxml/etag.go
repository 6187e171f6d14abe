package restxml

import (
	"strconv"
	"strings"
	"time"
)

// Ticks hands out strictly growing .NET ticks: the time, or one tick after the
// last. ETags and pop receipts are made of it, so that none is given twice. Not
// safe for concurrent use.
type Ticks struct{ last int64 }

// Next is the next value for the instant now.
func (t *Ticks) Next(now time.Time) int64 {
	const unixEpoch = 621355968000000000
	t.last = max(t.last+1, now.Unix()*1e7+int64(now.Nanosecond()/100)+unixEpoch)
	return t.last
}

// ETag is the next strong entity tag, quoted: "0x8DE0123456789AB".
func (t *Ticks) ETag(now time.Time) string {
	return `"0x` + strings.ToUpper(strconv.FormatInt(t.Next(now), 16)) + `"`
}
