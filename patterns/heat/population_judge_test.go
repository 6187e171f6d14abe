package heat_test

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/patterns/heat"
)

// verdict is what the account and the best layout say about the load of a table or a queue, or, with the name "", about the connections.
type verdict struct {
	sick  bool
	rules []heat.Kind // those that are about this sickness; none if no rule is
}

// seen is what the log contains about one table or queue.
type seen struct {
	requests, refused int
	hot               int            // refused because of the target of a partition, not of the account
	classes           map[string]int // requests by what they do
	second            int64
	first, last       string
	up, down, changed int // partition keys that became the last, or the first; and changes of the partition
	written           int
	singles           map[string]int   // single writes by partition
	rows              map[string]int   // requests for one row
	total             map[string]int   // entities by partition
	before, now       [2]string        // the first and the last partition about two seconds ago, and one
	ends              [2]map[int64]int // entities before and after these, by second
}

// judge returns the verdict on every table and queue. A load is sick if
//   - the account refused one of its requests at the documented targets,
//   - or it made more than twice the requests of the best layout; opening a connection counts as three,
//   - or the entities that became the last, or the first, of their table were more than the target of a partition in one second. The
//     account has a target for each partition; in the service the partitions at the end of a table are on one server.
func (w *world) judge() map[string]verdict {
	verdicts := map[string]verdict{}
	for name, s := range w.seen {
		verdicts[name] = s.verdict(w.best[name])
	}
	v := verdict{sick: 3*w.dials > w.sent}
	if v.sick {
		v.rules = []heat.Kind{heat.Churn}
	}
	verdicts[""] = v
	return verdicts
}

func newSeen() *seen {
	return &seen{classes: map[string]int{}, singles: map[string]int{}, rows: map[string]int{}, total: map[string]int{}, ends: [2]map[int64]int{{}, {}}}
}

func (s *seen) add(c *call, status int) {
	s.requests++
	if status == http.StatusServiceUnavailable {
		s.refused++
		if c.full != "" {
			s.hot++
		}
		return
	}
	class := c.class
	if class == "poll" && c.returned == 0 {
		class = "empty poll"
	}
	s.classes[class]++
	if class == "write" && status < 300 {
		s.singles[c.pk]++
	}
	if c.pk == "" {
		return
	}
	s.total[c.pk] += max(c.units(), c.returned)
	if c.rk != "" {
		s.rows[c.pk+"\x00"+c.rk]++
	}
	if c.inserted == 0 || status >= 300 {
		return
	}
	s.written += c.inserted
	if s.first == "" {
		s.first, s.last = c.pk, c.pk
	}
	at := time.Now().Unix()
	if c.pk >= s.before[1] {
		s.up += c.inserted
		s.ends[1][at] += c.inserted
	}
	if c.pk <= s.before[0] || s.before[0] == "" {
		s.down += c.inserted
		s.ends[0][at] += c.inserted
	}
	if c.pk > s.last || c.pk < s.first {
		s.changed++
	}
	s.first, s.last = min(s.first, c.pk), max(s.last, c.pk)
	if at > s.second {
		s.second = at
		s.before, s.now = s.now, [2]string{s.first, s.last}
	}
}

func (s *seen) verdict(best int) verdict {
	moves := s.changed >= 3
	most := func(of map[int64]int) int { return slices.Max(append(slices.Collect(maps.Values(of)), 0)) }
	up := moves && float64(s.up) >= 0.8*float64(s.written)
	down := moves && float64(s.down) >= 0.8*float64(s.written)
	end := up && most(s.ends[1]) > heat.PartitionTarget || down && most(s.ends[0]) > heat.PartitionTarget
	v := verdict{sick: s.refused > 0 || end || s.requests > 2*best}
	switch {
	case !v.sick:
	case s.hot > 0 || end:
		pk := largest(s.total)
		row := largest(s.rows)
		switch {
		case up:
			v.rules = []heat.Kind{heat.AppendOnly}
		case down:
			v.rules = []heat.Kind{heat.PrependOnly}
		case 2*s.rows[row] > s.total[pk]:
			v.rules = []heat.Kind{heat.HotRow}
		default:
			v.rules = []heat.Kind{heat.HotPartition}
		}
	case s.requests > 2*best:
		switch largest(s.classes) {
		case "scan":
			v.rules = []heat.Kind{heat.TableScans}
		case "partition":
			v.rules = []heat.Kind{heat.PartitionScans}
		case "write":
			if n := s.classes["write"]; 2*len(s.singles) <= n {
				v.rules = []heat.Kind{heat.Batchable}
			}
		case "empty poll":
			v.rules = []heat.Kind{heat.EmptyPolls}
		case "large":
			v.rules = []heat.Kind{heat.LargeRetries}
		}
	}
	return v
}

// largest returns the key of the largest number.
func largest(of map[string]int) (key string) {
	for k, n := range of {
		if n > of[key] || n == of[key] && k < key {
			key = k
		}
	}
	return key
}
