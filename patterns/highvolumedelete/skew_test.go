package highvolumedelete_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The clock of the writer is two days behind that of the service, or two days ahead.
func TestKeepIsMeasuredByTheClockOfTheService(t *testing.T) {
	for _, skew := range []time.Duration{-48 * time.Hour, 48 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
			opts := loginOptions()
			opts.Keep = 24 * time.Hour
			s := assert.Must(highvolumedelete.New(acct.Tables(), "Logins", highvolumedelete.Day, opts))(t)
			service := time.Now().Add(skew)
			assert.Equal(t, assert.ErrorOf(s.Insert(t.Context(), &login{User: "a", At: service})), nil, "skew", skew, "an event of now")
			if _, err := s.Insert(t.Context(), &login{User: "a", At: service.Add(-48 * time.Hour)}); !errors.Is(err, highvolumedelete.ErrDropped) {
				t.Errorf("skew %v: an event of a period that ended longer than Keep ago: %v", skew, err)
			}
			if limit, want := s.Limit(), highvolumedelete.Day.Start(service.Add(-opts.Keep)); !limit.Equal(want) {
				t.Errorf("skew %v: limit %v, want %v", skew, limit, want)
			}
		})
	}
}
