package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/internal/txn"
)

// Listing is the value of [PropViews]: the views that a program had when it wrote a primary
// or an outbox row, sorted and separated by commas. Each is a name, a colon and the
// fingerprint of the view's definition. Early versions of the library stored names only.
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

// Check fails with a [*MismatchError] if l lists a view that s does not have, or has with
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
	if s.Retired(name) {
		return nil
	}
	v, err := s.View(name)
	if err != nil {
		return &MismatchError{View: name, Missing: true}
	}
	if fingerprint != "" && fingerprint != v.fingerprint() {
		return &MismatchError{View: name}
	}
	return nil
}

// Retired reports whether the program no longer has the view. Its rows are left alone.
func (s *Set) Retired(view string) bool { return slices.Contains(s.retired, view) }

// Listing returns the Listing of all views of s.
func (s *Set) Listing() Listing { return s.listing }

// fingerprint identifies the definition of v, as far as it is known.
func (v *View) fingerprint() string {
	kind := strconv.Itoa(int(v.Shape.Kind))
	if v.Shape.Plain {
		kind += " plain"
	}
	return hash(kind, v.TargetID(), v.Shape.Version)[:8]
}
