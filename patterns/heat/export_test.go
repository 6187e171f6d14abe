package heat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/azpatterns/azpatterns/internal/target"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// FillMonth simulates 28 days that end at a time, in steps of an hour, and of one minute in the last six hours.
func FillMonth(m *Meter, end time.Time) {
	random := rand.New(rand.NewPCG(1, 2))
	start := end.Add(-28 * 24 * time.Hour)
	m.began = start
	key := func(pk, rk string) keys.Key { return keys.Key{Partition: pk, Row: rk} }
	scan := touch("Orders", target.Query, keys.Key{})
	scan.Class, scan.Partition = query.TableScan, target.TextSpan{}
	step := 60.0
	for at := start; at.Before(end); at = at.Add(time.Duration(step) * time.Minute) {
		if end.Sub(at) <= 6*time.Hour {
			step = 1
		}
		hour := float64(at.Hour()) + float64(at.Minute())/60
		office := 0.1 + math.Exp(-(hour-14)*(hour-14)/16)
		if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
			office /= 4
		}
		for range 30 {
			c := fmt.Sprintf("customer_%05d", int(50_000*math.Pow(random.Float64(), 1.5)))
			m.simulate(touch("Orders", target.Batch, key(c, at.Format("20060102150405"))), at, step*8*office)
			m.simulate(touch("Orders", target.Read, key(c, "profile")), at, step*18*office)
		}
		if at.Hour() == 2 && at.Minute() == 0 {
			for range 8 {
				m.simulate(scan, at, step*1500)
			}
		}
		for range 4 {
			m.simulate(touch("Events", target.Batch, key(at.Format("2006010215"), fmt.Sprint(random.Uint32()))), at, step*200*office)
		}
		if day := at.Sub(start) / (24 * time.Hour); day > 9 && day < 15 || end.Sub(at) < 90*time.Minute {
			for range 20 {
				m.simulate(touch("Orders", target.Batch, key("customer_31415", fmt.Sprint(random.IntN(1000)))), at, step*12000*(0.5+office/2))
			}
		}
		for range 12 {
			m.simulate(touch("Catalog", target.Read, key(string("ABCDEFGH"[random.IntN(8)]), fmt.Sprint(random.IntN(1000)))), at, step*60*office)
		}
	}
}

// Record records the write of a row.
func Record(m *Meter, table, partition, row string, at time.Time) {
	m.simulate(touch(table, target.Batch, keys.Key{Partition: partition, Row: row}), at, 1)
}

// SnapshotAt is Snapshot at a time.
func SnapshotAt(m *Meter, at time.Time) *Snapshot { return m.snapshot(at) }

// FilledWidth returns the share of the columns of the first page that have load.
func FilledWidth(s *Snapshot) float64 {
	v, filled := newView(s, nil), 0.0
	for _, total := range v.totals[1] {
		if total > 0 {
			filled++
		}
	}
	return filled / float64(len(v.totals[1]))
}

// Brightness returns that of the brightest field of each column of the first page.
func Brightness(s *Snapshot) []float64 {
	v := newView(s, nil)
	columns := make([]float64, len(v.totals[1]))
	for _, row := range v.values {
		for i, value := range row {
			columns[i] = max(columns[i], v.shade(value))
		}
	}
	return columns
}
