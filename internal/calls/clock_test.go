package calls

import (
	"github.com/azpatterns/azpatterns/internal/assert"
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
			c.Observe(date(), time.Now())
			time.Sleep(90 * time.Second)
			if age := c.Age(written); age < 89*time.Second || age > 90*time.Second {
				t.Errorf("skew %v: age %v after 90 s", skew, age)
			}
			c.Observe(http.Header{"Date": {"yesterday"}}, time.Now())
			c.Observe(nil, time.Now())
			c.ObserveDate(nil)
			if age := c.Age(written); age < 89*time.Second {
				t.Errorf("age %v after replies without a date", age)
			}
			now := service()
			c.ObserveDate(&now)
			assert.Equal(t, c.Age(written), 90*time.Second, "age")
			assert.Equal(t, c.Age(now.Add(time.Hour)), 0, "the age of a later time is")
		})
	}
}

func TestTheSameDateIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		h := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
		c.Observe(h, time.Now())
		first, _ := c.Now()
		time.Sleep(900 * time.Millisecond)
		c.Observe(h, time.Now()) // a later reply of the same second must not set the clock back
		if now, _ := c.Now(); now.Sub(first) != 900*time.Millisecond {
			t.Errorf("the clock moved by %v in 900 ms", now.Sub(first))
		}
	})
}

func TestTheTimeOfTheServiceIsNotAfterTheLatestIfAReplyWasDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		if _, ok := c.Latest(); ok {
			t.Error("a clock without a reading knows the time")
		}
		asked := time.Now()
		h := http.Header{"Date": {asked.UTC().Format(http.TimeFormat)}}
		time.Sleep(3 * time.Hour)
		c.Observe(h, asked)
		time.Sleep(1900 * time.Millisecond)
		if latest, _ := c.Latest(); latest.Before(time.Now()) || time.Until(latest) > time.Second {
			t.Errorf("the service is at most at %v, want %v", latest, time.Now())
		}
	})
}
