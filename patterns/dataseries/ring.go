package dataseries

import (
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Ring divides time into slots that repeat. One round of all slots is a turn. The zero
// Ring is not valid.
type Ring struct {
	slots int
	// locate returns the turn and the slot of a time, start the beginning of a slot.
	locate func(time.Time) (turn int64, slot int)
	start  func(turn int64, slot int) time.Time
}

// HoursOfDay has 24 slots. A turn is a day, in UTC.
func HoursOfDay() Ring { return steps(24, time.Hour) }

// MinutesOfHour has 60 slots. A turn is an hour.
func MinutesOfHour() Ring { return steps(60, time.Minute) }

// DaysOfYear has 366 slots. A turn is a year, in UTC. Slot 0 is the first of January. The
// last slot is used in leap years only.
func DaysOfYear() Ring {
	return Ring{366,
		func(t time.Time) (int64, int) {
			t = t.UTC()
			return int64(t.Year()), t.YearDay() - 1
		},
		func(turn int64, slot int) time.Time {
			return time.Date(int(turn), time.January, 1+slot, 0, 0, 0, 0, time.UTC)
		},
	}
}

// ErrBadRing means that a Ring is the zero Ring, or that the arguments of [Steps] are
// invalid: fewer than 1 slot, more than 10,000, a step that is not a whole number of
// milliseconds, or a turn of more than 146 years.
var ErrBadRing = azerr.Sentinel("invalid ring")

const (
	maxSlots = 10_000
	minStep  = time.Millisecond
	maxTurn  = time.Duration(1 << 62)
)

// Steps returns a Ring with slots of equal length, counted from 1970-01-01T00:00:00Z. For
// example, the slots of Steps(96, 15*time.Minute) are the quarters of an hour of a day.
func Steps(slots int, step time.Duration) (Ring, error) {
	if slots < 1 || slots > maxSlots || step < minStep || step%minStep != 0 || step > maxTurn/time.Duration(slots) {
		return Ring{}, fmt.Errorf("%d slots of %v: %w", slots, step, ErrBadRing)
	}
	return steps(slots, step), nil
}

func steps(slots int, step time.Duration) Ring {
	ms := step.Milliseconds()
	return Ring{slots,
		func(t time.Time) (int64, int) {
			n := floorDiv(t.UnixMilli(), ms)
			turn := floorDiv(n, int64(slots))
			return turn, int(n - turn*int64(slots))
		},
		func(turn int64, slot int) time.Time {
			return time.UnixMilli((turn*int64(slots) + int64(slot)) * ms).UTC()
		},
	}
}

// floorDiv divides and rounds down, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
