package heat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

// Two families of loads that were written before their author had read the rules of package heat. No rule is changed because of them:
// they are for the figures only.

// telemetry is devices that send readings through gateways, and dashboards that read them.
func telemetry(w *world, rng *rand.Rand) {
	const readings, devices = "readings", "devices"
	fleet := int(logRate(rng, 20, 2000))
	site := func(device int) string { return fmt.Sprintf("site%02d", device/50) }
	layout := rng.IntN(5) // of the partition key
	newest := rng.IntN(2) == 0
	partition := func(device int) string {
		switch layout {
		case 0:
			return fmt.Sprintf("d%05d", device)
		case 1:
			return site(device)
		case 2:
			return time.Now().UTC().Format("20060102")
		case 3:
			return time.Now().UTC().Format("200601021504")
		default:
			return strconv.FormatInt(time.Now().UnixMilli()*1000+int64(device), 10)
		}
	}
	stamp := func() string {
		ticks := time.Now().UnixNano() / 100
		if newest {
			return fmt.Sprintf("%019d", math.MaxInt64/100-ticks)
		}
		return fmt.Sprintf("%019d", ticks)
	}
	// A gateway has the readings of one device for some time, or one reading of each of some devices.
	buffer := pick(rng, 1, 1, 4, 25, 100)
	together := layout < 4 && rng.IntN(3) > 0
	gateways := 1 + rng.IntN(64)
	each := logRate(rng, 0.5, 30)
	if together {
		each = logRate(rng, 0.5, 60)
	} else {
		each = max(0.3, each/math.Sqrt(float64(buffer)))
	}
	w.loop(gateways, each, func(p *process, rng *rand.Rand, worker, i int) {
		device := rng.IntN(fleet)
		rks := make([]string, buffer)
		for j := range rks {
			rks[j] = fmt.Sprintf("%s.%02d.%d.%03d", stamp(), worker, i, j)
		}
		w.need(readings, 1)
		if together {
			p.batch(readings, partition(device), rks, false)
			return
		}
		for _, rk := range rks {
			p.insert(readings, partition(device), rk)
		}
	})
	// Dashboards show the devices of a site, or a device.
	one := rng.IntN(2) == 0
	w.loop(1+rng.IntN(20), logRate(rng, 0.5, 60), func(p *process, rng *rand.Rand, _, _ int) {
		device := rng.IntN(fleet)
		w.need(devices, 1)
		if one {
			p.get(devices, site(device), fmt.Sprintf("d%05d", device))
			return
		}
		p.query(devices, site(device), "", min(50, fleet), min(50, fleet))
	})
	// An alarm job looks for devices with an alarm.
	if alarms := rng.IntN(3); alarms > 0 {
		w.loop(1, logRate(rng, 0.1, 2), func(p *process, rng *rand.Rand, _, _ int) {
			if alarms == 1 {
				w.need(devices, 1)
				p.query(devices, "", "Value eq 'alarm'", fleet, fleet/7)
				return
			}
			w.need(devices, 1)
			p.query(devices, site(rng.IntN(fleet)), "Value eq 'alarm'", min(50, fleet), min(50, fleet)/7)
		})
	}
}

// shop is a web shop: orders with lines, sessions, stock, mails and a report.
func shop(w *world, rng *rand.Rand) {
	customers := int(logRate(rng, 10, 5000))
	items := pick(rng, 1, 3, 12, 60)
	transaction := rng.IntN(2) == 0
	detail := rng.IntN(3)
	var sold atomic.Int64
	byDay := rng.IntN(3) == 0
	partition := func(c int) string {
		if byDay {
			return time.Now().UTC().Format("2006-01-02")
		}
		return fmt.Sprintf("customer-%d", c)
	}
	w.loop(1+rng.IntN(40), logRate(rng, 0.3, 60)/math.Sqrt(float64(items)), func(p *process, rng *rand.Rand, worker, i int) {
		pk := partition(rng.IntN(customers))
		id := fmt.Sprintf("%012d-%02d-%06d", time.Now().Unix(), worker, i)
		rks := make([]string, items)
		for j := range rks {
			rks[j] = fmt.Sprintf("%s-%03d", id, j)
		}
		w.need("orders", 1)
		if transaction {
			p.batch("orders", pk, rks, false)
		} else {
			for _, rk := range rks {
				p.insert("orders", pk, rk)
			}
		}
		sold.Add(int64(items))
		switch detail { // the page that shows the order
		case 0:
			w.need("orders", 1)
			p.query("orders", pk, "RowKey ge '"+id+"' and RowKey lt '"+id+".'", items, items)
		case 1:
			w.need("orders", 1)
			for _, rk := range rks {
				p.get("orders", pk, rk)
			}
		}
	})
	// Every page of the shop reads and prolongs a session.
	w.loop(1+rng.IntN(40), logRate(rng, 1, 60), func(p *process, rng *rand.Rand, _, _ int) {
		id := strconv.FormatUint(uint64(rng.IntN(customers))*2654435761%(1<<32), 36)
		w.need("sessions", 2)
		p.get("sessions", id, "s")
		p.merge("sessions", id, "s", "")
	})
	// Stock decreases with each sale.
	popular := pick(rng, 1, 5, 100)
	w.loop(1+rng.IntN(40), logRate(rng, 0.5, 40), func(p *process, rng *rand.Rand, _, _ int) {
		rk := lines(popular)[rng.IntN(popular)]
		w.need("stock", 2)
		for range 30 {
			if p.merge("stock", "stock", rk, p.get("stock", "stock", rk)) {
				return
			}
		}
	})
	if rng.IntN(2) == 0 { // a report reads all orders
		w.loop(1, logRate(rng, 0.1, 1), func(p *process, _ *rand.Rand, _, _ int) {
			rows := int(sold.Load())
			w.need("orders", rows/pageRows+1)
			p.query("orders", "", "", rows, rows)
		})
	}
	if rng.IntN(2) == 0 {
		mails(w, rng)
	}
}

func lines(n int) []string {
	rks := make([]string, n)
	for i := range rks {
		rks[i] = fmt.Sprintf("%03d", i)
	}
	return rks
}

// mails is a queue with one message for each mail, and workers that ask for them.
func mails(w *world, rng *rand.Rand) {
	start := time.Now()
	w.loop(4, logRate(rng, 0.05, 20), func(p *process, _ *rand.Rand, _, _ int) {
		w.need("mails", 1)
		p.put("mails")
	})
	workers := 1 + rng.IntN(16)
	w.loop(workers, float64(workers)/logRate(rng, 0.1, 20), func(p *process, _ *rand.Rand, _, _ int) {
		if p.receive("mails", 1) > 0 {
			w.need("mails", 1)
			p.done("mails")
		}
	})
	w.need("mails", int(w.end.Sub(start).Seconds()))
}
