package heat

import (
	"maps"
	"slices"
	"strings"
)

// The documented targets, for entities of 1 KiB.
//
// https://learn.microsoft.com/azure/storage/tables/scalability-targets
const (
	PartitionTarget = 2000  // entities per second of a partition
	AccountTarget   = 20000 // transactions per second of an account
)

// Kind is what a [Finding] is about. The texts are stable.
type Kind string

const (
	AppendOnly     Kind = "append-only keys"
	PrependOnly    Kind = "prepend-only keys"
	HotPartition   Kind = "one hot partition"
	HotRow         Kind = "one hot row"
	TableScans     Kind = "table scans"
	PartitionScans Kind = "partition scans that return little"
	Batchable      Kind = "requests that could be batched"
	LargeRetries   Kind = "retries of large writes"
	EmptyPolls     Kind = "polling of an empty queue"
	Churn          Kind = "connection churn"
)

// Finding is a use of the service that costs more than it must. It contains labels, no
// keys. A Finding may be read concurrently.
type Finding struct {
	Kind     Kind
	Resource string // the name of the table, "queue …" or "container …"; "" for the account
	Key      string // the label of the partition or the row, if the finding is about one
	Figures  []Figure
	Observed string // what happened, with the figures
	Reason   string // why it costs
	Remedy   string // the package or the call that fixes it
}

// Figure is a number of a [Finding].
type Figure struct {
	Name  string
	Value float64
}

// String returns the finding in words.
func (f Finding) String() string {
	about := string(f.Kind)
	if f.Resource != "" {
		about = f.Resource + ": " + about
	}
	return about + ": " + f.Observed + " " + f.Reason + " " + f.Remedy
}

// Findings returns what costs more than it must, from the last 12 to 24 hours, and for hot
// keys from the last few hours. It makes no request.
func (m *Meter) Findings() []Finding { return m.Snapshot().Findings() }

// Findings is [Meter.Findings] of a snapshot.
//
// A finding needs both a rate that matters and a share of the requests that is not an
// exception: a time-ordered log at one entity per second, or an export every night, is fine.
func (s *Snapshot) Findings() []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(s.Resources)) {
		t := tally{s.Resources[name], s, name}
		spread := false
		for _, r := range rules {
			if !strings.HasPrefix(name, r.service) || r.service == "" && name != "" || r.spread && spread {
				continue
			}
			if f := r.find(&t); f.Observed != "" {
				f.Kind, f.Reason, f.Remedy = r.kind, r.reason, r.remedy
				if f.Resource == "" && name != "" {
					f.Resource = resourceName(name)
				}
				found = append(found, f)
				spread = spread || r.spread
			}
		}
	}
	return found
}
