package calls

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Clock is the clock of one service, as far as its replies show it in the header Date. The
// clock of this machine may differ from it by any amount. The zero Clock is ready to use, and knows no time yet. A Clock may be used concurrently.
//
// Between two replies a Clock adds the time that has passed on this machine. Because a
// reply takes time to arrive and Date has full seconds only, a Clock may be slow, by up to
// a second more than the delay of the reply, but it is never fast. So an [Clock.Age] is
// never too large.
type Clock struct{ last atomic.Pointer[clockReading] }

type clockReading struct {
	header string    // Date as it was received
	date   time.Time // by the service
	asked  time.Time // when the request was sent, by this machine
	at     time.Time // when the reply was received, by this machine
}

// Observe reads the header Date of a reply to a request that was sent at the time asked by
// this machine. It ignores one that is missing or malformed.
func (c *Clock) Observe(h http.Header, asked time.Time) {
	dates := h["Date"]
	if len(dates) == 0 {
		return
	}
	if last := c.last.Load(); last != nil && last.header == dates[0] {
		return
	}
	if date, err := http.ParseTime(dates[0]); err == nil {
		c.last.Store(&clockReading{dates[0], date, asked, time.Now()})
	}
}

// ObserveDate is Observe for the Date of a response of an SDK, nil if it had none, and for
// a request that took no time.
func (c *Clock) ObserveDate(date *time.Time) {
	if date != nil {
		now := time.Now()
		c.last.Store(&clockReading{date: *date, asked: now, at: now})
	}
}

// Now returns the time of the service. ok is false if no reply had a Date.
func (c *Clock) Now() (now time.Time, ok bool) {
	last := c.last.Load()
	if last == nil {
		return time.Time{}, false
	}
	return last.date.Add(time.Since(last.at)), true
}

// Latest returns the latest time that the service may have now, which is not before Now
// even if a reply was delayed or this machine was suspended. If the clock of this machine
// was set, it may be any amount too late. ok is false if no reply had a Date.
func (c *Clock) Latest() (latest time.Time, ok bool) {
	last := c.last.Load()
	if last == nil {
		return time.Time{}, false
	}
	return last.date.Add(time.Second + Elapsed(last.asked)), true
}

// Age returns how long ago t was by the clock of the service, not less than zero. It is
// zero if the time of the service is unknown, so that nothing is removed for its age.
func (c *Clock) Age(t time.Time) time.Duration {
	now, ok := c.Now()
	if !ok {
		return 0
	}
	return max(now.Sub(t), 0)
}

// Elapsed returns how much time has passed on this machine since at, which is a result of
// time.Now. Unlike time.Since it counts the time during which the machine was suspended.
// If the clock of the machine was set meanwhile, the result may be too large.
func Elapsed(at time.Time) time.Duration {
	return max(time.Since(at), time.Now().Round(0).Sub(at.Round(0)))
}
