package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Listing is the value of [PropViews]: the views whose rows a program kept up to date when it
// wrote a primary, or that it had when it wrote an outbox row, sorted and separated by
// commas. Each is a name, a colon and the fingerprint of the view's definition. Early
// versions of the library stored names only.
//
// A primary has no rows of views that it does not list, or they are obsolete: the program
// that wrote it did not maintain them.
type Listing string

// ListingOf returns the Listing of the primary with the given origin.
func ListingOf(origin *txn.Origin) Listing {
	if origin == nil {
		return ""
	}
	text, _ := origin.Unknown.Text(PropViews)
	return Listing(text)
}

// Has reports whether the view is listed.
func (l Listing) Has(view string) bool {
	for entry := range strings.SplitSeq(string(l), ",") {
		if name, _, _ := strings.Cut(entry, ":"); name == view {
			return true
		}
	}
	return false
}

// Certain reports whether the definitions of all listed views are known.
func (l Listing) Certain() bool {
	for entry := range strings.SplitSeq(string(l), ",") {
		if entry != "" && !strings.Contains(entry, ":") {
			return false
		}
	}
	return true
}

// Check fails with a [*types.ViewMismatchError] if l lists a view that s does not have, or has with
// another definition.
func (s *Set) Check(l Listing) error {
	if l == s.listing {
		return nil
	}
	for entry := range strings.SplitSeq(string(l), ",") {
		name, fingerprint, _ := strings.Cut(entry, ":")
		if name == "" {
			continue
		}
		if err := s.checkEntry(name, fingerprint); err != nil {
			return err
		}
	}
	return nil
}

// CheckView is Check for one view. It also fails if s does not have the view and l does not
// list it.
func (s *Set) CheckView(l Listing, view string) error {
	for entry := range strings.SplitSeq(string(l), ",") {
		if name, fingerprint, _ := strings.Cut(entry, ":"); name == view {
			return s.checkEntry(name, fingerprint)
		}
	}
	return s.checkEntry(view, "")
}

func (s *Set) checkEntry(name, fingerprint string) error {
	if s.Gone(name) {
		return nil
	}
	v, err := s.View(name)
	if err != nil {
		return &types.ViewMismatchError{View: name, Missing: true}
	}
	if fingerprint != "" && fingerprint != v.fingerprint() {
		return &types.ViewMismatchError{View: name}
	}
	return nil
}

// IsRetired reports whether the view is retired.
func (s *Set) IsRetired(view string) bool { return slices.Contains(s.retired, view) }

// Gone reports whether the view is retired and s does not have it. Its rows are left alone.
func (s *Set) Gone(view string) bool {
	_, err := s.View(view)
	return err != nil && s.IsRetired(view)
}

// Names returns the names of the views of s, then of those that are gone.
func (s *Set) Names() []string {
	var names []string
	for _, v := range s.Views {
		names = append(names, v.Name)
	}
	for _, name := range s.retired {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Entry returns the Listing of one view, with no fingerprint if s does not have it.
func (s *Set) Entry(view string) Listing {
	v, err := s.View(view)
	if err != nil {
		return Listing(view)
	}
	return listingOf([]*View{v})
}

// Listing returns the Listing of all views of s.
func (s *Set) Listing() Listing { return s.listing }

// Before returns the views that may have rows of a primary with the Listing l. Building and
// retired views have rows only of primaries that list them.
func (s *Set) Before(l Listing) *Set {
	return s.only(func(view string) bool { return s.isFull(view) || l.Has(view) })
}

// After returns the views that have rows of a primary which had the Listing l once s has
// changed it. Its Listing is that of the changed primary. A change keeps the rows of a
// building view up to date if there are any, but does not add them; it removes the rows of a
// retired view. So a program that adds a view and a program without it never change the same
// primary, if a third one, for which the view is building, runs between the two.
func (s *Set) After(l Listing) *Set {
	return s.only(func(view string) bool {
		return s.isFull(view) || l.Has(view) && !s.IsRetired(view)
	})
}

// Adds reports whether a change of a primary with the Listing l adds the view's rows.
func (s *Set) Adds(view string, l Listing) bool { return s.isFull(view) && !l.Has(view) }

// Without returns s without the views of the given names.
func (s *Set) Without(views []string) *Set {
	if len(views) == 0 {
		return s
	}
	some := *s
	some.Views = slices.DeleteFunc(slices.Clone(s.Views), func(v *View) bool { return slices.Contains(views, v.Name) })
	some.listing = listingOf(some.Views)
	return &some
}

// isFull reports whether every primary that s changes gets the rows of the view.
func (s *Set) isFull(view string) bool {
	return !slices.Contains(s.building, view) && !s.IsRetired(view)
}

// only returns s with those of its views that keep accepts.
func (s *Set) only(keep func(view string) bool) *Set {
	if len(s.building) == 0 && len(s.retired) == 0 {
		return s
	}
	some := *s
	some.Views = slices.DeleteFunc(slices.Clone(s.Views), func(v *View) bool { return !keep(v.Name) })
	some.listing = listingOf(some.Views)
	return &some
}

func listingOf(views []*View) Listing {
	entries := make([]string, len(views))
	for i, v := range views {
		entries[i] = v.Name + ":" + v.fingerprint()
	}
	slices.Sort(entries)
	return Listing(strings.Join(entries, ","))
}

// fingerprint identifies the definition of v, as far as it is known.
func (v *View) fingerprint() string {
	kind := strconv.Itoa(int(v.Shape.Kind))
	if v.Shape.Plain {
		kind += " plain"
	}
	return Hash(kind, v.TargetID(), v.Shape.Version)[:8]
}
