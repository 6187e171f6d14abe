package types

// Content is what a row of a journal contains of the entity.
type Content int

// What a row of a journal contains, besides the key of the entity, what happened, and when.
const (
	After          Content = iota // the entity after the change, or the one that was deleted
	BeforeAndAfter                // the entity before and after the change
	Changed                       // the properties that changed, after the change
	KeyOnly                       // nothing else
)

// Event is what a change was.
type Event int

// What happened to an entity.
const (
	Inserted Event = iota + 1
	Updated
	Deleted
	Expired // it was deleted because it had expired
	Present // it was there when a feed began
)

var eventNames = [...]string{Inserted: "inserted", Updated: "updated", Deleted: "deleted", Expired: "expired", Present: "present"}

// String returns the name of the event.
func (e Event) String() string {
	if e < Inserted || e > Present {
		return "unknown event"
	}
	return eventNames[e]
}
