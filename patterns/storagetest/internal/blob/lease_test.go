package blob

import (
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// The outcomes of lease operations by state, as in the table of
// https://learn.microsoft.com/rest/api/storageservices/lease-blob. A cell contains the new
// state and the holder, or the error code.
func TestLeaseOperationsHaveTheDocumentedOutcomes(t *testing.T) {
	const a, b, c = "a", "b", "c"
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	states := map[string]lease{
		available: {},
		leased:    {id: a, duration: 30 * time.Second, until: now.Add(20 * time.Second)},
		breaking:  {id: a, duration: 30 * time.Second, until: now.Add(20 * time.Second), stopped: true},
		broken:    {id: a, duration: 30 * time.Second, until: now, stopped: true},
		expired:   {id: a, duration: 30 * time.Second, until: now},
	}
	const (
		present  = "LeaseAlreadyPresent"
		absent   = "LeaseNotPresentWithLeaseOperation"
		mismatch = "LeaseIdMismatchWithLeaseOperation"
		renewed  = "LeaseIsBrokenAndCannotBeRenewed"
	)
	order := []string{available, leased, breaking, broken, expired}
	for _, op := range []struct {
		name string
		do   func(l *lease) error
		want []string // in that order
	}{
		{"acquire", func(l *lease) error { return asError(l.acquire(now, "", time.Minute)) },
			[]string{"leased x", present, present, "leased x", "leased x"}},
		{"acquire (A)", func(l *lease) error { return asError(l.acquire(now, a, time.Minute)) },
			[]string{"leased a", "leased a", "LeaseIsBreakingAndCannotBeAcquired", "leased a", "leased a"}},
		{"acquire (B)", func(l *lease) error { return asError(l.acquire(now, b, time.Minute)) },
			[]string{"leased b", present, present, "leased b", "leased b"}},
		{"break, period=0", func(l *lease) error { _, e := l.end(now, 0); return asError(e) },
			[]string{absent, "broken a", "broken a", "broken a", "broken a"}},
		{"break, period>0", func(l *lease) error { _, e := l.end(now, 10*time.Second); return asError(e) },
			[]string{absent, "breaking a", "breaking a", "broken a", "broken a"}},
		{"break", func(l *lease) error { _, e := l.end(now, -1); return asError(e) },
			[]string{absent, "breaking a", "breaking a", "broken a", "broken a"}},
		{"change (A) to (B)", func(l *lease) error { return asError(l.change(now, a, b)) },
			[]string{absent, "leased b", "LeaseIsBreakingAndCannotBeChanged", absent, absent}},
		{"change (B) to (A)", func(l *lease) error { return asError(l.change(now, b, a)) },
			[]string{absent, "leased a", "LeaseIsBreakingAndCannotBeChanged", absent, absent}},
		{"change (B) to (C)", func(l *lease) error { return asError(l.change(now, b, c)) },
			[]string{absent, mismatch, mismatch, absent, absent}},
		{"renew (A)", func(l *lease) error { return asError(l.renew(now, a)) },
			[]string{mismatch, "leased a", renewed, renewed, "leased a"}},
		{"renew (B)", func(l *lease) error { return asError(l.renew(now, b)) },
			[]string{mismatch, mismatch, mismatch, mismatch, mismatch}},
		{"release (A)", func(l *lease) error { return asError(l.release(now, a)) },
			[]string{mismatch, available, available, available, available}},
		{"release (B)", func(l *lease) error { return asError(l.release(now, b)) },
			[]string{mismatch, mismatch, mismatch, mismatch, mismatch}},
		{"write using (A)", func(l *lease) error { return asError(l.allows(now, a, "Blob", true)) },
			[]string{"LeaseNotPresentWithBlobOperation", "leased a", "breaking a", "LeaseLost", "LeaseLost"}},
		{"write using (B)", func(l *lease) error { return asError(l.allows(now, b, "Blob", true)) },
			[]string{"LeaseNotPresentWithBlobOperation", "LeaseIdMismatchWithBlobOperation", "LeaseIdMismatchWithBlobOperation", "LeaseIdMismatchWithBlobOperation", "LeaseIdMismatchWithBlobOperation"}},
		{"write", func(l *lease) error { return asError(l.allows(now, "", "Blob", true)) },
			[]string{available, "LeaseIdMissing", "LeaseIdMissing", "broken a", "expired a"}},
		{"read", func(l *lease) error { return asError(l.allows(now, "", "Blob", false)) },
			[]string{available, "leased a", "breaking a", "broken a", "expired a"}},
		{"read using (A)", func(l *lease) error { return asError(l.allows(now, a, "Blob", false)) },
			[]string{"LeaseNotPresentWithBlobOperation", "leased a", "breaking a", "LeaseLost", "LeaseLost"}},
	} {
		for i, from := range order {
			l := states[from]
			assert.Equal(assert.Now(t), l.state(now), from, "the", "lease is")
			err := op.do(&l)
			got := l.state(now)
			switch {
			case err != nil:
				assert.Equal(t, l, states[from], op.name, "on", from, "refused, but changed")
				got = err.Error()
			case l.id == a || l.id == b || l.id == c:
				got += " " + l.id
			case l.id != "":
				got += " x"
			}
			assert.Equal(t, got, op.want[i], op.name, "on", from)
		}
	}
}

func TestAWriteEndsAnExpiredLease(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		l    lease
		want string
	}{
		{lease{id: "a", duration: 30 * time.Second, until: now.Add(1)}, leased},
		{lease{id: "a", duration: forever}, leased},
		{lease{id: "a", until: now.Add(1), stopped: true}, breaking},
		{lease{id: "a", until: now, stopped: true}, available},
		{lease{id: "a", duration: 30 * time.Second, until: now}, available},
	} {
		c.l.modified(now)
		assert.Equal(t, c.l.state(now), c.want)
	}
}

type codeError string

func (e codeError) Error() string { return string(e) }

func asError(e *reply.Error) error {
	if e == nil {
		return nil
	}
	return codeError(e.Code)
}

func TestABreakReturnsTheRemainingTime(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why    string
		l      lease
		period time.Duration
		left   time.Duration
	}{
		{"fixed, its own end", lease{id: "a", duration: 30 * time.Second, until: now.Add(20 * time.Second)}, -1, 20 * time.Second},
		{"fixed, a shorter period", lease{id: "a", duration: 30 * time.Second, until: now.Add(20 * time.Second)}, 5 * time.Second, 5 * time.Second},
		{"fixed, a longer period", lease{id: "a", duration: 30 * time.Second, until: now.Add(20 * time.Second)}, 50 * time.Second, 20 * time.Second},
		{"infinite, immediately", lease{id: "a", duration: forever}, -1, 0},
		{"infinite, after a period", lease{id: "a", duration: forever}, 50 * time.Second, 50 * time.Second},
		{"breaking, a shorter period", lease{id: "a", stopped: true, until: now.Add(20 * time.Second)}, 5 * time.Second, 5 * time.Second},
		{"expired", lease{id: "a", duration: time.Second, until: now}, 5 * time.Second, 0},
	} {
		left, e := c.l.end(now, c.period)
		assert.Equal(assert.Now(t), e, nil)
		assert.Equal(t, left, c.left)
		if got := c.l.locked(now.Add(left - 1)); left > 0 && !got {
			t.Errorf("%s: not locked before the end", c.why)
		}
		if c.l.locked(now.Add(left)) {
			t.Errorf("%s: still locked at the end", c.why)
		}
	}
}
