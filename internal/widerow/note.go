package widerow

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
)

// noteProperty is the property of each part that contains its note.
const noteProperty = "azp_part"

// note is what a part contains about itself.
type note struct {
	version string         // the write that the part is the result of
	layout  string         // the rule that assigns properties to parts
	splits  map[string]int // of the properties whose first piece is in the part
}

// note returns the stored note of part i of h.
func (h *head) note(l distribution, i int) string {
	text := h.parts[i].version + " " + h.layout
	if s := formatSplits(h.splits, func(name string) bool { return l.partOf(name) == i }); s != "" {
		text += " " + s
	}
	return text
}

func parseNote(r *edm.StoredRow) (n note, err error) {
	var rest, splits string
	n.version, rest, _ = strings.Cut(r.Text(noteProperty), " ")
	n.layout, splits, _ = strings.Cut(rest, " ")
	if n.splits, err = parseSplits(splits); err == nil && !isVersion(n.version) {
		err = azerr.ErrBadReply
	}
	return n, err
}

// matches reports whether the row has the version that the head names for the part.
func (p entityPart) matches(r *edm.StoredRow) bool {
	if p.etag != "" {
		return r.ETag == p.etag
	}
	n, err := parseNote(r)
	return err == nil && n.version == p.version
}
