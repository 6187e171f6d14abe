package widerow

import (
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// Record is an entity together with its metadata.
type Record struct {
	Value     any      // a pointer to the entity
	Key       keys.Key // its Row is the entity's id
	ETag      string   // [head.tag], "" if the head was not read
	Timestamp time.Time
	Origin    *Origin // nil for an entity that was neither read nor written
}

// Origin is what a record remembers of the rows that it was read from. It is immutable.
type Origin struct {
	Selected []string // the properties that were requested, nil for all

	head    *head // nil if it was not read
	unknown edm.Unknown
}

// at returns r with the metadata of the head h.
func (r Record) at(h *head) Record {
	o := Origin{head: h}
	if r.Origin != nil {
		o.Selected, o.unknown = r.Origin.Selected, r.Origin.unknown
	}
	r.ETag, r.Timestamp, r.Origin = h.tag(), h.timestamp, &o
	return r
}

// written returns r with the metadata of the head h of the version that stores content. With merged
// the version has more than content.
func (r Record) written(h *head, content *edm.SplitEntity, merged bool) Record {
	r = r.at(h)
	r.Origin.unknown = content.AfterSplit(&r.Origin.unknown, merged)
	return r
}

// unknown returns the properties that the type has no fields for, nil for none.
func (r *Record) unknown() *edm.Unknown {
	if r.Origin == nil {
		return nil
	}
	return &r.Origin.unknown
}

// version returns the head of the version that r was read from, which is to be changed.
func (r *Record) version() (*head, error) {
	if r.Origin == nil || r.Origin.head == nil || r.ETag == "" || r.Origin.head.tag() != r.ETag {
		return nil, fmt.Errorf("%w: the item was not read together with its head", azerr.ErrBadETag)
	}
	return r.Origin.head, nil
}

// has reports whether the properties were read.
func (r *Record) has(names []string) bool {
	selected := r.Origin.Selected
	return selected == nil || !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(selected, name) })
}
