package blob

import (
	"net/http"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// A snapshot is a blob without a lease and without uncommitted blocks. Only its tier can be
// changed.

// sinceSnapshotTier is the first version in which a snapshot has a tier of its own.
const sinceSnapshotTier = "2019-12-12"

// snapshotOf returns the snapshot with that id, the blob itself if id is "", or nil.
func (b *blob) snapshotOf(id string) *blob {
	if b == nil || id == "" {
		return b
	}
	for _, s := range b.snapshots {
		if s.snapshot == id {
			return s
		}
	}
	return nil
}

// https://learn.microsoft.com/rest/api/storageservices/snapshot-blob
func (c *call) takeSnapshot() *reply.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	return c.onOwnBlob("", false, func(_ *container, b *blob) *reply.Error {
		s := *b
		s.lease, s.staged, s.snapshots = lease{}, nil, nil
		s.snapshot = b.nextSnapshot(c.Now)
		if meta != nil {
			s.meta = meta
			c.stamp(&s)
		}
		b.snapshots = append(b.snapshots, &s)
		c.Count(0, 1)
		c.Stamp(s.etag, s.modified)
		c.Set("X-Ms-Snapshot", s.snapshot)
		return c.created()
	})
}

// nextSnapshot returns the id of a new snapshot: the time, or a later one if it is taken.
func (b *blob) nextSnapshot(now time.Time) string {
	id := xmlservice.ISOTime(now)
	for n := len(b.snapshots); n > 0 && id <= b.snapshots[n-1].snapshot; {
		now = now.Add(100 * time.Nanosecond)
		id = xmlservice.ISOTime(now)
	}
	return id
}

// https://learn.microsoft.com/rest/api/storageservices/delete-blob
func (c *call) deleteBlob() *reply.Error {
	with := c.Header("X-Ms-Delete-Snapshots")
	snapshot := c.Query.Get("snapshot")
	if with != "" && with != "include" && with != "only" || with != "" && snapshot != "" {
		return reply.InvalidHeader("x-ms-delete-snapshots", with, "include or only, and not for a snapshot")
	}
	tierCond, e := c.tierConditions()
	if e != nil {
		return e
	}
	return c.onOwnBlob("", true, func(ct *container, b *blob) *reply.Error {
		if tierCond.write("", b.tiered) != nil {
			return reply.New(http.StatusPreconditionFailed, "AccessTierChangeTimeConditionNotMet", "The condition specified using access tier change time conditional header(s) is not met.")
		}
		switch {
		case snapshot != "":
			base := ct.get(c.Name, c.Now)
			base.snapshots = slices.DeleteFunc(base.snapshots, func(s *blob) bool { return s == b })
		case with == "only":
			b.snapshots = nil
		case with == "" && len(b.snapshots) > 0:
			return conflict("SnapshotsPresent", "This operation is not permitted while the blob has snapshots.")
		default:
			ct.remove(b)
		}
		c.Count(0, 1)
		c.Set("X-Ms-Delete-Type-Permanent", "true")
		return c.Empty(http.StatusAccepted)
	})
}

// tierConditions reads the conditions on the time at which the tier of a blob was set.
func (c *call) tierConditions() (k conditions, e *reply.Error) {
	if k.modified, e = since(c.Call, "X-Ms-Access-Tier-If-Modified-Since"); e == nil {
		k.unmodified, e = since(c.Call, "X-Ms-Access-Tier-If-Unmodified-Since")
	}
	return k, e
}
