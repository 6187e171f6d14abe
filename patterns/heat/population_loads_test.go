package heat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

// The main population: 1 to 4 tables or queues, each with one kind of work. All parameters are random, and none determines whether the load
// is sick: judge finds that out from what happened.

func logRate(rng *rand.Rand, low, high float64) float64 {
	return low * math.Exp(rng.Float64()*math.Log(high/low))
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// mainLoad starts the work of a load.
func mainLoad(w *world, rng *rand.Rand) {
	kinds := []func(*world, *rand.Rand, string){
		writes, writes, writes, writes, reads, reads, search, search, tail, counter, messages, cleanup, documents,
	}
	for i := range 1 + rng.IntN(4) {
		table := "table" + strconv.Itoa(i)
		if rng.IntN(60) == 0 {
			setting(w, rng, table)
			continue
		}
		pick(rng, kinds...)(w, rng, table)
	}
}

func writers(rng *rand.Rand) int { return int(logRate(rng, 1, 64.99)) }

func hash(rng *rand.Rand) string { return fmt.Sprintf("%016x", rng.Uint64()) }

// growing returns a key that grows with time, or one that becomes smaller.
func growing(form int, worker int) string {
	now := time.Now()
	switch form {
	case 0:
		return now.UTC().Format("2006-01-02T15:04:05.000000") + fmt.Sprint("-", worker)
	case 1:
		return fmt.Sprintf("%019d-%d", now.UnixNano(), worker)
	default:
		return fmt.Sprintf("%019d-%d", math.MaxInt64-now.UnixNano(), worker)
	}
}

// partitions returns a function for the partition of the next entities. Those that are shared can be written in one transaction.
func partitions(rng *rand.Rand) (key func(rng *rand.Rand, worker int) string, shared bool) {
	n, form, skew := int(logRate(rng, 2, 500)), rng.IntN(3), pick(rng, 1.0, 1.0, 3.0)
	switch rng.IntN(9) {
	case 0:
		return func(*rand.Rand, int) string { return "all" }, true
	case 1, 2:
		return func(rng *rand.Rand, _ int) string {
			return fmt.Sprintf("tenant%03d", int(float64(n)*math.Pow(rng.Float64(), skew)))
		}, true
	case 3:
		return func(_ *rand.Rand, worker int) string { return fmt.Sprintf("writer%02d", worker) }, true
	case 4:
		return func(*rand.Rand, int) string { return time.Now().UTC().Format("2006-01-02") }, true
	case 5, 8:
		seconds, down := pick(rng, 1, 10, 60), rng.IntN(2) == 0
		return func(*rand.Rand, int) string {
			n := time.Now().Unix() / int64(seconds)
			if down {
				n = 9_999_999_999 - n
			}
			return fmt.Sprintf("%010d", n)
		}, true
	case 6:
		return func(_ *rand.Rand, worker int) string { return growing(form, worker) }, false
	default:
		return func(rng *rand.Rand, _ int) string { return hash(rng) }, false
	}
}

// writes inserts groups of entities, with a request or a transaction for each.
func writes(w *world, rng *rand.Rand, table string) {
	key, shared := partitions(rng)
	group := pick(rng, 1, 1, 2, 5, 20, 100, 100)
	batched := shared && group > 1 && rng.IntN(4) > 0
	form := rng.IntN(4)
	n := writers(rng)
	rate := logRate(rng, 1, 60)
	switch {
	case batched && group == 100:
		rate = logRate(rng, 4, 60)
	case batched:
		rate = logRate(rng, 1, 150)
	case rng.IntN(24) == 0:
		rate = logRate(rng, 500, 3000)
	}
	if !batched {
		rate = max(rate/float64(group), 0.3)
	}
	w.loop(n, rate, func(p *process, rng *rand.Rand, worker, i int) {
		pk := key(rng, worker)
		rks := make([]string, group)
		for j := range rks {
			rks[j] = fmt.Sprintf("%s-%d-%03d", growing(form%3, worker), i, j)
			if form == 3 {
				rks[j] = hash(rng)
			}
		}
		w.need(table, (group+99)/100)
		if batched {
			p.batch(table, pk, rks, false)
			return
		}
		for _, rk := range rks {
			if !shared {
				pk = key(rng, worker)
			}
			p.insert(table, pk, rk)
		}
	})
}

// reads reads entities that are stored one after the other: one by one, or with one query.
func reads(w *world, rng *rand.Rand, table string) {
	parts, rows := int(logRate(rng, 1, 50)), int(logRate(rng, 5, 250))
	group := min(rows, pick(rng, 1, 1, 2, 5, 20, 250))
	single := group < 250 && rng.IntN(2) == 0
	skew := pick(rng, 1.0, 1.0, 4.0)
	rate := logRate(rng, 0.5, 40)
	if single {
		rate = max(0.3, rate*2/float64(group))
	}
	w.loop(writers(rng), rate, func(p *process, rng *rand.Rand, _, _ int) {
		pk := fmt.Sprintf("part%04d", int(float64(parts)*math.Pow(rng.Float64(), skew)))
		first := rng.IntN(rows - group + 1)
		w.need(table, 1)
		if single {
			for j := range group {
				p.get(table, pk, fmt.Sprintf("row%05d", first+j))
			}
			return
		}
		p.query(table, pk, fmt.Sprintf("RowKey ge 'row%05d' and RowKey lt 'row%05d'", first, first+group), group, group)
	})
}

// search finds entities by a property that is not a key, in a partition or in the table. In the best layout an index finds them.
func search(w *world, rng *rand.Rand, table string) {
	parts, rows := int(logRate(rng, 1, 30)), int(logRate(rng, 5, 3000))
	whole := rng.IntN(2) == 0
	pages := float64(rows) / pageRows
	if whole {
		pages *= float64(parts)
	}
	other := rng.Float64() < 0.5 // most reads are by key
	w.loop(writers(rng), logRate(rng, 0.3, 8)/max(1, math.Sqrt(pages)), func(p *process, rng *rand.Rand, _, _ int) {
		w.need(table, 1)
		pk := fmt.Sprintf("part%04d", rng.IntN(parts))
		filter := fmt.Sprintf("Value eq '%d'", rng.IntN(60))
		switch {
		case other && rng.IntN(4) > 0:
			p.get(table, pk, fmt.Sprintf("row%05d", rng.IntN(rows)))
		case whole:
			p.query(table, "", filter, parts*rows, rng.IntN(parts*rows/25+2))
		default:
			p.query(table, pk, filter, rows, rng.IntN(rows/25+2))
		}
	})
}

// tail appends to a list, which readers read from the start or from where they were.
func tail(w *world, rng *rand.Rand, table string) {
	group := pick(rng, 1, 5, 20)
	lists := int(logRate(rng, 1, 8))
	again := rng.IntN(2) == 0
	form := rng.IntN(2)
	length := make([]atomic.Int64, lists)
	w.loop(lists, logRate(rng, 0.5, 5), func(p *process, _ *rand.Rand, worker, i int) {
		rks := make([]string, group)
		for j := range rks {
			rks[j] = fmt.Sprintf("%s-%03d", growing(form, i), j)
		}
		w.need(table, 1)
		p.batch(table, fmt.Sprintf("list%d", worker), rks, false)
		length[worker].Add(int64(group))
	})
	last, read := make([]string, lists), make([]int, lists)
	for i := range last {
		last[i] = growing(form, i)
	}
	w.loop(lists, logRate(rng, 0.3, 5), func(p *process, _ *rand.Rand, worker, _ int) {
		n := int(length[worker].Load())
		filter, rows := "", n
		if !again {
			filter, rows = "RowKey gt '"+last[worker]+"'", n-read[worker]
		}
		w.need(table, (n-read[worker])/pageRows+1)
		last[worker], read[worker] = growing(form, 0), n
		p.query(table, fmt.Sprintf("list%d", worker), filter, rows, rows)
	})
}

// counter increments numbers: in one row with its ETag, or in a row of each worker.
func counter(w *world, rng *rand.Rand, table string) {
	rows := pick(rng, 1, 1, 10)
	own := rng.IntN(2) == 0
	w.loop(writers(rng), logRate(rng, 1, 60), func(p *process, rng *rand.Rand, worker, _ int) {
		w.need(table, 1)
		if own {
			p.merge(table, "part0000", fmt.Sprintf("row%05d", worker), "")
			return
		}
		rk := fmt.Sprintf("row%05d", rng.IntN(rows))
		for range 20 {
			if p.merge(table, "part0000", rk, p.get(table, "part0000", rk)) {
				return
			}
		}
	})
}

// messages sends messages through a queue. The best consumers receive 32 messages and poll an empty queue once a second, all together.
func messages(w *world, rng *rand.Rand, table string) {
	name := "queue" + table
	n := pick(rng, 1, 1, 32)
	interval := logTime(rng, 50*time.Millisecond, 10*time.Second)
	w.loop(1+rng.IntN(8), logRate(rng, 0.2, 30), func(p *process, _ *rand.Rand, _, _ int) {
		w.need(name, 1)
		p.put(name)
	})
	start := time.Now()
	consumers := 1 + rng.IntN(8)
	w.loop(consumers, float64(consumers)/interval.Seconds(), func(p *process, _ *rand.Rand, _, _ int) {
		for time.Now().Before(w.end) {
			got := p.receive(name, n)
			if got == 0 {
				return
			}
			for range got {
				w.need(name, 1)
				p.done(name)
			}
		}
	})
	w.need(name, int(w.end.Sub(start).Seconds()))
}

// cleanup inserts the rows of a job as a transaction and deletes them: one by one, or as a transaction.
func cleanup(w *world, rng *rand.Rand, table string) {
	group := pick(rng, 1, 2, 5, 30, 100)
	single := group == 1 || rng.IntN(2) == 0
	w.loop(writers(rng), max(0.2, logRate(rng, 0.2, 40)/float64(group)), func(p *process, rng *rand.Rand, _, _ int) {
		pk := "job" + hash(rng)
		rks := make([]string, group)
		for j := range rks {
			rks[j] = fmt.Sprintf("%03d", j)
		}
		w.need(table, 2)
		p.batch(table, pk, rks, false)
		if !single {
			p.batch(table, pk, rks, true)
			return
		}
		for _, rk := range rks {
			p.remove(table, pk, rk)
		}
	})
}

// documents inserts entities of 300 KiB over a line on which some time out.
func documents(w *world, rng *rand.Rand, table string) {
	w.timeouts = pick(rng, 0, 0, 0.02, 0.1, 0.3, 0.7, 0.8)
	w.loop(writers(rng), logRate(rng, 0.2, 2), func(p *process, rng *rand.Rand, _, _ int) {
		w.need(table, 1)
		p.insertLarge(table, hash(rng), "document")
	})
}

// setting is one row that everything reads, or counts in, for a minute and a half.
func setting(w *world, rng *rand.Rand, table string) {
	end := time.Now().Add(90 * time.Second)
	write := rng.IntN(2) == 0
	w.loop(64, logRate(rng, 500, 4000), func(p *process, _ *rand.Rand, _, _ int) {
		switch {
		case time.Now().After(end):
			return
		case write:
			p.merge(table, "settings", "setting", "")
		default:
			p.get(table, "settings", "setting")
		}
		w.need(table, 1)
	})
}
