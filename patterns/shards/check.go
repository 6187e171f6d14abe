package shards

import "time"

// maxLease is the longest time that a directory can contain. A longer lease would keep a process
// from ever reading the directory again.
const maxLease = 7 * 24 * time.Hour

// valid reports whether a process can use the directory. Anyone who can write the row can have
// written it. The accounts that it names are only looked up among those that the process was
// given.
func (d *layout) valid() bool {
	lease := func(t time.Duration) bool { return t > 0 && t <= maxLease }
	lasts := func(t time.Duration) bool { return t >= 0 && t <= maxLease }
	if !lease(d.Lease) || !lease(d.Idle) || !lasts(d.Wait) || !lasts(d.Closed) || d.Version < 0 || d.Epoch < 0 || !d.Config.valid() {
		return false
	}
	m := d.Move
	if m == nil {
		return true
	}
	first, last := m.Clean, m.Frozen
	if m.Back {
		first, last = last, first
	}
	return m.To.valid() && first.compare(m.Open) <= 0 && m.Open.compare(last) <= 0
}

// valid reports whether every partition has an owner.
func (c *config) valid() bool {
	for i, m := range c.Accounts {
		if m.Name == "" || !(m.Weight > 0 && m.Weight <= maxWeight) || i > 0 && c.Accounts[i-1].Name >= m.Name {
			return false
		}
	}
	for _, account := range c.Pins {
		if !c.has(account) {
			return false
		}
	}
	return len(c.Accounts) > 0
}
