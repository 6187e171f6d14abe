package xmlservice

import (
	"strconv"
	"strings"
	"time"
)

// Ticks generates strictly increasing .NET ticks: the time, or one tick after the previous
// value. ETags and pop receipts are made from them, so that they are unique. It is not safe
// for concurrent use.
type Ticks struct{ last int64 }

// Next returns the next value for the instant now.
func (t *Ticks) Next(now time.Time) int64 {
	const unixEpoch = 621355968000000000
	t.last = max(t.last+1, now.Unix()*1e7+int64(now.Nanosecond()/100)+unixEpoch)
	return t.last
}

// ETag returns the next strong entity tag, quoted: "0x8DE0123456789AB".
func (t *Ticks) ETag(now time.Time) string {
	return `"0x` + strings.ToUpper(strconv.FormatInt(t.Next(now), 16)) + `"`
}
