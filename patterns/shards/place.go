package shards

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// maxWeight keeps scores finite.
const maxWeight = 1e9

// member is an account in the directory.
type member struct {
	Name   string
	Weight float64
	As     string `json:",omitempty"` // the account whose place it has taken, in the hash
}

// config decides which account owns each partition.
type config struct {
	Accounts []member          // sorted by name
	Pins     map[string]string `json:",omitempty"` // partition key to account
}

// owner returns the account of the partition: that of its pin, or else the one with the
// largest score. A further account therefore takes partitions from all others and moves none
// between them.
func (c *config) owner(partition string) string {
	if name, ok := c.Pins[partition]; ok {
		return name
	}
	var owner string
	best := math.Inf(-1)
	for _, m := range c.Accounts {
		if s := score(m, partition); s > best {
			owner, best = m.Name, s
		}
	}
	return owner
}

// score is the weighted rendezvous hash of a partition in an account. It must never change:
// it determines where rows are stored.
//
// https://en.wikipedia.org/wiki/Rendezvous_hashing#Weighted_rendezvous_hash
func score(m member, partition string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(cmp.Or(m.As, m.Name) + "\x00" + partition))
	// The high bits of FNV depend little on the last bytes. This is the finalizer of SplitMix64.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	u := (float64(x>>11) + 0.5) / (1 << 53) // between 0 and 1, exclusive
	return m.Weight / -math.Log(u)
}

// set adds an account, or changes its weight.
func (c *config) set(a Account) error {
	m := member{Name: a.Name, Weight: a.Weight}
	var others []member
	for _, was := range c.Accounts {
		switch {
		case was.Name == a.Name:
			m.As = was.As
		case was.As == a.Name:
			return azerr.Errorf("%w: another account has taken the place of this one: use a new Name", azerr.ErrBadOption)
		default:
			others = append(others, was)
		}
	}
	c.Accounts = append(others, m)
	c.sort()
	return nil
}

// replace lets an account take the place of another: the same partitions.
func (c *config) replace(from string, to Account) error {
	i := slices.IndexFunc(c.Accounts, func(m member) bool { return m.Name == from })
	switch replaced := c.has(to.Name); {
	case i < 0 && replaced:
		return nil
	case i < 0:
		return ErrUnknownAccount
	case replaced:
		return azerr.Errorf("%w: the account has partitions of its own", azerr.ErrBadOption)
	}
	c.Accounts = slices.Clone(c.Accounts)
	m := &c.Accounts[i]
	if m.Name, m.As = to.Name, cmp.Or(m.As, m.Name); m.As == m.Name {
		m.As = ""
	}
	c.sort()
	for partition, name := range c.Pins {
		if name == from {
			c.pin(partition, to.Name)
		}
	}
	return nil
}

func (c *config) sort() {
	slices.SortFunc(c.Accounts, func(a, b member) int { return cmp.Compare(a.Name, b.Name) })
}

// pin assigns a partition to an account, or with "" to that of its hash.
func (c *config) pin(partition, account string) {
	pins := map[string]string{}
	maps.Copy(pins, c.Pins)
	pins[partition] = account
	maps.DeleteFunc(pins, func(_, name string) bool { return name == "" })
	c.Pins = pins
}

func (c *config) equal(d *config) bool {
	return slices.Equal(c.Accounts, d.Accounts) && maps.Equal(c.Pins, d.Pins)
}
