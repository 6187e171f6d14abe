package journal

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Content is what a change contains of the entity.
type Content = types.Content

// What a change contains, besides the key of the entity, its version, what happened, and when.
const (
	After          = types.After          // the entity after the change, or, if it was deleted, before
	BeforeAndAfter = types.BeforeAndAfter // the entity before and after the change
	Changed        = types.Changed        // the properties that changed, after the change; if it was deleted, the entity before
	KeyOnly        = types.KeyOnly        // nothing else
)

// Event is what happened to an entity.
type Event = types.Event

// The events. An entity that has expired and is replaced before it was deleted has been [Inserted].
const (
	Inserted = types.Inserted
	Updated  = types.Updated
	Deleted  = types.Deleted
	Expired  = types.Expired // it was deleted because it had expired: see package expiry
	Present  = types.Present // not a change: the entity was there when a feed began with [Snapshot]
)

// Journal is the [patterns.View] of a Store that records changes. It is immutable and safe for concurrent use. It can be a variable of
// a package. A Store has at most one.
type Journal[T any] struct {
	name string
	opts Options[T]
	err  error

	feeds []view.Feed
}

// Options are the options of [Of]. nil and the zero value mean the defaults.
type Options[T any] struct {
	// Content is what a change contains. The zero value is [After]. It may be changed at any time. For a type with encrypted
	// properties it must be [KeyOnly], because a change of their key does not reach the rows of the journal.
	Content Content

	// Only selects the entities whose changes are recorded: a change is if Only returns true for the entity before or after
	// it. It must be a pure function. nil means all.
	Only func(*T) bool

	// Keep is how long changes are kept at least: the default of OlderThan for [Changes.Sweep]. Zero means that each
	// sweep needs an OlderThan; with Feeds a sweep without one keeps the history.
	Keep time.Duration

	// Feeds are the consumers of the changes. nil means none. Each program that writes must declare all of them: what another one
	// writes is not delivered. See [Changes.Start] for how a feed is added.
	Feeds []*Feed

	// FeedKeep is how long a feed may be absent. [Changes.Sweep] deletes changes that were recorded for feeds between FeedKeep and twice FeedKeep after
	// they were made, whether they were delivered or not; a feed that has not read them gets [ErrSwept]. It is required with Feeds.
	FeedKeep time.Duration
}

// Of returns the view of a Store that records each change of an entity in a row of the entity's partition, in the same
// transaction. name is stored with the rows; it has 1 to 64 letters, digits, '-' and '.'.
//
// Of makes no request. If an argument or an option is invalid, [patterns.NewStore] returns an error that names it.
func Of[T any](name string, opts *Options[T]) *Journal[T] {
	j := &Journal[T]{name: name}
	if opts != nil {
		j.opts = *opts
	}
	j.err = cmp.Or(naming.CheckName(name), azerr.Default(&j.opts.Keep, 0, "Keep"), azerr.Default(&j.opts.FeedKeep, 0, "FeedKeep"))
	if j.err == nil {
		j.feeds, j.err = feedsOf(j.opts.Feeds)
	}
	if j.err == nil && (j.opts.FeedKeep == 0) != (len(j.feeds) == 0) {
		j.err = azerr.Errorf("%w: FeedKeep: it is required with Feeds, and without them it has no effect", patterns.ErrBadOption)
	}
	if j.err == nil && (j.opts.Content < After || j.opts.Content > KeyOnly) {
		j.err = azerr.Errorf("%w: Content: not one of the constants", patterns.ErrBadOption)
	}
	if j.err == nil && j.opts.Content != KeyOnly {
		if _, j.err = view.EntityTypeOf(reflect.TypeFor[T]()); errors.Is(j.err, patterns.ErrNoKey) {
			j.err = azerr.Errorf("%w: Content: only KeyOnly can record a type with encrypted properties: %w", patterns.ErrBadOption, j.err)
		}
	}
	return j
}

// Name returns the name of the view.
func (j *Journal[T]) Name() string { return j.name }

// Engine is for the Store; see [patterns.View].
func (j *Journal[T]) Engine() (*view.View, error) {
	v := &view.View{Name: j.name, Shape: patterns.Shape{Kind: types.Journals}, Journal: &view.Journal{Content: j.opts.Content, Feeds: j.feeds}}
	v.Rows = func(any) ([]patterns.DerivedRow, error) { return nil, nil }
	if only := j.opts.Only; only != nil {
		v.Journal.Only = func(e any) bool { return only(e.(*T)) }
	}
	return v, j.err
}

// Changes are the recorded changes of the entities of a Store. It is safe for concurrent use.
type Changes[T any] struct {
	journal *Journal[T]
	store   *patterns.Store[T]
}

// On returns the changes that j has recorded of the entities of store. It makes no request. If j is not one of the store's views, or is
// invalid, each call fails with [patterns.ErrBadView] before any request.
func (j *Journal[T]) On(store *patterns.Store[T]) *Changes[T] {
	if j == nil {
		j = &Journal[T]{err: fmt.Errorf("journal: %w", patterns.ErrNil)}
	}
	return &Changes[T]{journal: j, store: store}
}

// check fails if the journal is not a valid view of the Store, or the key not one that an entity can have.
func (c *Changes[T]) check(key keys.Key) error {
	if _, err := naming.Client(c.store, c.journal, nil); err != nil {
		return fmt.Errorf("%q: %w", c.journal.name, err)
	}
	return key.Validate()
}
