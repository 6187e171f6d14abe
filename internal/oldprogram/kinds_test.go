package oldprogram

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// The types of this file are those that reflect.StructOf cannot make: field types with methods, as programs write them.

type (
	Truth  bool
	Count  int
	Amount float64
	Name   string
	Blob   []byte
)

// Level is a number that is stored as text.
type Level int

var levels = []string{"", "low", "medium", "high"}

func (l Level) MarshalText() ([]byte, error) { return []byte(levels[l]), nil }

func (l *Level) UnmarshalText(text []byte) error {
	for i, name := range levels {
		if strings.EqualFold(name, string(text)) {
			*l = Level(i)
			return nil
		}
	}
	return errors.New("no level")
}

func (l *Level) fill(r *rand.Rand) { *l = Level(r.IntN(len(levels))) }

// Money is cents, stored as a number with the decimal places that it needs.
type Money int64

func (m Money) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/100, 'f', -1, 64), nil
}

func (m *Money) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(string(text), 64)
	*m = Money(x*100 + 0.5)
	return err
}

func (m *Money) fill(r *rand.Rand) { *m = Money(r.IntN(1_000_000)) }

// Cents is the same, stored as text with two decimal places and a currency.
type Cents int64

func (c Cents) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `"%d.%02d EUR"`, c/100, c%100), nil
}

func (c *Cents) UnmarshalJSON(text []byte) error {
	var whole, part int64
	s, err := strconv.Unquote(string(text))
	if err != nil {
		return err
	}
	_, err = fmt.Sscanf(s, "%d.%d EUR", &whole, &part)
	*c = Cents(whole*100 + part)
	return err
}

func (c *Cents) fill(r *rand.Rand) { *c = Cents(r.IntN(1_000_000)) }

// Flag is stored as "Y" or "N".
type Flag bool

func (f Flag) MarshalJSON() ([]byte, error) {
	if f {
		return []byte(`"Y"`), nil
	}
	return []byte(`"N"`), nil
}

func (f *Flag) UnmarshalJSON(text []byte) error {
	*f = string(text) == `"Y"` || string(text) == `"y"`
	return nil
}

// Day is a date without a time.
type Day struct{ t time.Time }

func (d Day) MarshalText() ([]byte, error) { return d.t.AppendFormat(nil, time.DateOnly), nil }

func (d *Day) UnmarshalText(text []byte) (err error) {
	d.t, err = time.Parse(time.DateOnly, string(text))
	return err
}

func (d *Day) fill(r *rand.Rand) { d.t = time.Unix(r.Int64N(4e9), 0).UTC().Truncate(24 * time.Hour) }

// Unix is a time that is stored as a number.
type Unix struct{ t time.Time }

func (u Unix) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, u.t.Unix(), 10), nil }

func (u *Unix) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	u.t = time.Unix(n, 0).UTC()
	return err
}

func (u *Unix) fill(r *rand.Rand) { u.t = time.Unix(r.Int64N(1<<31), 0).UTC() }

// Stamp has the methods of the time that is embedded in it.
type Stamp struct{ time.Time }

func (s *Stamp) fill(r *rand.Rand) { s.Time = randomTime(r) }

// Point has methods for a nested value.
type Point struct{ x, y int }

func (p Point) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", p.x, p.y), nil }

func (p *Point) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]*int{&p.x, &p.y})
}

func (p *Point) fill(r *rand.Rand) { p.x, p.y = r.IntN(100), r.IntN(100) }
