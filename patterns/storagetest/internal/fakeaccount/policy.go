package fakeaccount

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// activation delays the effect of changes of stored access policies. During the delay a policy that is new or was changed
// permits nothing, and one that was removed is still valid. The zero value delays nothing. It is safe for concurrent use.
// https://learn.microsoft.com/rest/api/storageservices/define-stored-access-policy
type activation struct {
	mu      sync.Mutex
	delay   time.Duration
	changes map[holder]policyChange
}

// holder is a table, queue or container.
type holder struct {
	service op.Service
	name    string // in lower case
}

// policyChange is the last change of the policies of a holder.
type policyChange struct {
	at    time.Time
	valid []xmlservice.Policy // before the change
}

// active returns the policies that are valid at now, where stored are those that the service returns.
func (a *activation) active(h holder, stored []xmlservice.Policy, now time.Time) []xmlservice.Policy {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.changes[h]
	if !ok {
		return stored
	}
	if now.Sub(c.at) >= a.delay {
		delete(a.changes, h)
		return stored
	}
	var valid []xmlservice.Policy
	for _, p := range c.valid {
		changed := slices.ContainsFunc(stored, func(q xmlservice.Policy) bool { return q.ID == p.ID && q != p })
		if !changed {
			valid = append(valid, p)
		}
	}
	return valid
}

// change records that the policies of h were changed at now.
func (a *activation) change(h holder, before []xmlservice.Policy, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.delay > 0 {
		a.changes[h] = policyChange{now, before}
	}
}

// DelayPolicies sets how long a change of stored access policies takes.
func (a *Account) DelayPolicies(d time.Duration) {
	for _, g := range []*region{a.primary, a.secondary} {
		g.activation.mu.Lock()
		g.activation.delay, g.activation.changes = d, map[holder]policyChange{}
		g.activation.mu.Unlock()
	}
}

// DelayDeletion sets how long the name of a deleted table stays blocked.
func (a *Account) DelayDeletion(d time.Duration) {
	a.primary.tables.DelayDeletion(d)
	a.secondary.tables.DelayDeletion(d)
}

// policies returns the policies of a table, queue or container that are valid at now.
func (g *region) policies(s op.Service, resource string, now time.Time) []xmlservice.Policy {
	var stored []xmlservice.Policy
	switch s {
	case op.Table:
		stored = g.tables.Policies(resource)
	case op.Queue:
		stored = g.queues.Policies(resource)
	case op.Blob:
		stored = g.blobs.Policies(resource)
	}
	return g.activation.active(holder{s, strings.ToLower(resource)}, stored, now)
}

// delayed calls serve, and notes whether it has changed stored access policies.
func (g *region) delayed(r *request.Request, serve func()) {
	if r.Op != op.TableSetACL && r.Op != op.QueueSetACL && r.Op != op.BlobSetACL {
		serve()
		return
	}
	now := r.LocalTime()
	before := g.policies(r.Service, r.Resource, now)
	if serve(); r.Result.Code == "" {
		g.activation.change(holder{r.Service, strings.ToLower(r.Resource)}, before, now)
	}
}
