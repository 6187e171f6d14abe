package servicetime

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnAgeIsMeasuredByTheClockOfTheService(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, 0, 2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			service := func() time.Time { return time.Now().Add(skew) }
			date := func() http.Header { return http.Header{"Date": {service().UTC().Format(http.TimeFormat)}} }
			var c Clock
			if _, ok := c.Now(); ok || c.Age(service().Add(-time.Hour)) != 0 {
				t.Error("a clock without a reading knows the time")
			}
			written := service()
			c.Observe(date())
			time.Sleep(90 * time.Second)
			if age := c.Age(written); age < 89*time.Second || age > 90*time.Second {
				t.Errorf("skew %v: age %v after 90 s", skew, age)
			}
			c.Observe(http.Header{"Date": {"yesterday"}})
			c.Observe(nil)
			c.ObserveDate(nil)
			if age := c.Age(written); age < 89*time.Second {
				t.Errorf("age %v after replies without a date", age)
			}
			now := service()
			c.ObserveDate(&now)
			if age := c.Age(written); age != 90*time.Second {
				t.Errorf("age %v", age)
			}
			if age := c.Age(now.Add(time.Hour)); age != 0 {
				t.Errorf("the age of a later time is %v", age)
			}
		})
	}
}

func TestTheSameDateIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		h := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
		c.Observe(h)
		first, _ := c.Now()
		time.Sleep(900 * time.Millisecond)
		c.Observe(h) // a later reply of the same second must not set the clock back
		if now, _ := c.Now(); now.Sub(first) != 900*time.Millisecond {
			t.Errorf("the clock moved by %v in 900 ms", now.Sub(first))
		}
	})
}
