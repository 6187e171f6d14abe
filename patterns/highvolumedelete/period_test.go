package highvolumedelete_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestNamesContainThePeriodInUTC(t *testing.T) {
	service := storagetest.New(t).Tables()
	for _, c := range []struct {
		period highvolumedelete.Period
		at     string
		want   string
	}{
		{highvolumedelete.Hour, "2014-07-31T18:59:59.999999999Z", "Logins2014073118"},
		{highvolumedelete.Day, "2014-07-31T18:15:00Z", "Logins20140731"},
		{highvolumedelete.Day, "2014-07-31T18:15:00-08:00", "Logins20140801"},
		{highvolumedelete.Week, "2014-07-31T18:15:00Z", "Logins2014W31"},
		{highvolumedelete.Month, "2014-07-31T18:15:00Z", "Logins201407"},
		// Weeks of ISO 8601 belong to the year of their Thursday.
		{highvolumedelete.Week, "2008-12-29T00:00:00Z", "Logins2009W01"},
		{highvolumedelete.Week, "2010-01-03T23:59:59Z", "Logins2009W53"},
		{highvolumedelete.Week, "2010-01-04T00:00:00Z", "Logins2010W01"},
		{highvolumedelete.Week, "9999-12-31T23:59:59Z", "Logins9999W52"},
		{highvolumedelete.Month, "9999-12-31T23:59:59Z", "Logins999912"},
	} {
		s := assert.Must(highvolumedelete.New(service, "Logins", c.period, loginOptions()))(t)
		at := assert.Must(time.Parse(time.RFC3339, c.at))(t)
		if got, err := s.Name(at); got != c.want || err != nil {
			t.Errorf("%v of %s: %s, %v, want %s", c.period, c.at, got, err, c.want)
		}
	}
}

// The year of the event counts, even if its week belongs to another year.
func TestTablesExistForTheYears2To9999(t *testing.T) {
	service := storagetest.New(t).TablesWith(harness.Accelerated())
	first, last := time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	for _, c := range []struct {
		period      highvolumedelete.Period
		first, last string
	}{
		{highvolumedelete.Hour, "0002010100", "9999123123"},
		{highvolumedelete.Day, "00020101", "99991231"},
		{highvolumedelete.Week, "0002W01", "9999W52"},
		{highvolumedelete.Month, "000201", "999912"},
	} {
		s := assert.Must(highvolumedelete.New(service, "Logins", c.period, loginOptions()))(t)
		for _, edge := range []struct {
			at   time.Time
			want string
		}{{first, c.first}, {last, c.last}} {
			assert.Equal(t, assert.ErrorOf(s.Open(t.Context(), edge.at)), nil, c.period)
			tables, err := s.List(t.Context(), edge.at, edge.at.Add(1))
			if err != nil || len(tables) != 1 || tables[0].Name != "Logins"+edge.want {
				t.Errorf("%v: %v, %v, want %s", c.period, tables, err, edge.want)
			}
		}
		for _, at := range []time.Time{{}, first.Add(-1), last.Add(1), last.In(time.FixedZone("", 3600)).Add(1)} {
			if name, err := s.Name(at); !errors.Is(err, patterns.ErrBadKey) {
				t.Errorf("%v of %v: %s, %v", c.period, at, name, err)
			}
			assert.WantError(t, assert.ErrorOf(s.DropBefore(t.Context(), at, nil)), patterns.ErrBadKey, c.period, "drop before", at)
		}
	}
	s, err := highvolumedelete.New(service, "Logins", highvolumedelete.Day, loginOptions())
	assert.NoError(t, err)
	assert.Equal(t, s.Service(), service)
}

// Periods neither overlap nor leave gaps, and their names sort by time.
func TestPeriodsDivideTime(t *testing.T) {
	service := storagetest.New(t).Tables()
	rapid.Check(t, func(t *rapid.T) {
		p := highvolumedelete.Period(rapid.IntRange(1, 4).Draw(t, "period"))
		first := time.Date(2, 1, 8, 0, 0, 0, 0, time.UTC).Unix()
		last := time.Date(9999, 9, 1, 0, 0, 0, 0, time.UTC).Unix()
		zone := time.FixedZone("", rapid.IntRange(-14*3600, 14*3600).Draw(t, "zone"))
		draw := func(name string) time.Time { return time.Unix(rapid.Int64Range(first, last).Draw(t, name), 0).In(zone) }
		a := draw("a")
		b := a.Add(time.Duration(rapid.Int64Range(0, int64(90*24*time.Hour)).Draw(t, "further")))
		start, end := p.Start(a), p.End(a)
		if a.Before(start) || !a.Before(end) {
			t.Fatalf("%v is not in %v to %v", a, start, end)
		}
		if !p.Start(start).Equal(start) || !p.Start(end).Equal(end) || !p.Start(end.Add(-1)).Equal(start) {
			t.Fatalf("%v to %v is not a period", start, end)
		}
		s := assert.Must(highvolumedelete.New(service, "Logins", p, loginOptions()))(t)
		na, erra := s.Name(a)
		nb, errb := s.Name(b)
		if erra != nil || errb != nil || len(na) != len(nb) {
			t.Fatalf("%s, %v and %s, %v", na, erra, nb, errb)
		}
		assert.Equal(assert.Now(t), strings.Compare(na, nb), p.Start(a).Compare(p.Start(b)), na, "and", nb, a, "and", b)
	})
}

func TestNewRefusesInvalidArguments(t *testing.T) {
	service := storagetest.New(t).Tables()
	type clocked struct{ A, B time.Time }
	long := strings.Repeat("a", 55)
	refused := func(what string, err, want error) {
		t.Helper()
		assert.WantError(t, err, want, what)
	}
	for _, prefix := range []string{"", "1a", "a-b", "a_", "aé", "Logins1", "$Metrics", long + "a", "a b"} {
		_, err := highvolumedelete.New(service, prefix, highvolumedelete.Day, loginOptions())
		refused(prefix, err, highvolumedelete.ErrBadName)
	}
	for _, prefix := range []string{"a", "A1b", long} {
		assert.Equal(t, assert.ErrorOf(highvolumedelete.New(service, prefix, highvolumedelete.Day, loginOptions())), nil, prefix)
	}
	for _, p := range []highvolumedelete.Period{0, -1, 5} {
		_, err := highvolumedelete.New(service, "Logins", p, loginOptions())
		refused(p.String(), err, highvolumedelete.ErrBadName)
	}
	_, err := highvolumedelete.New(nil, "Logins", highvolumedelete.Day, loginOptions())
	refused("no service", err, patterns.ErrNil)
	_, err = highvolumedelete.New[login](service, "Logins", highvolumedelete.Day, nil)
	refused("no key", err, patterns.ErrBadKey)
	_, err = highvolumedelete.New[clocked](service, "Logins", highvolumedelete.Day, nil)
	refused("two times", err, patterns.ErrBadOption)
	_, err = highvolumedelete.New(service, "Logins", highvolumedelete.Day, &highvolumedelete.Options[login]{Keep: -1, Table: loginOptions().Table})
	refused("a negative Keep", err, patterns.ErrBadOption)
	_, err = highvolumedelete.New(service, "Logins", highvolumedelete.Day, &highvolumedelete.Options[login]{Table: patterns.TableOptions[login]{Keyless: true}})
	refused("keyless", err, patterns.ErrBadOption)
	type keyed struct {
		PartitionKey, RowKey string
		At                   time.Time
	}
	assert.Equal(t, assert.ErrorOf(highvolumedelete.New[keyed](service, "Logins", highvolumedelete.Day, nil)), nil, "a type that needs no options")
}
