package wideentity

import (
	"crypto/rand"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/patterns"
)

// head is the row that makes rows an entity: it tells which rows there are, and of
// which write each one is. Every write changes it under its ETag.
type head struct {
	etag      string
	timestamp time.Time

	history []string       // the versions of the last writes, the newest first
	layout  string         // the rule of placement
	parts   map[int]part   // by number from 0
	splits  map[string]int // properties in several pieces, and how many
}

// part is one row of an entity.
type part struct {
	version string // the write that it is of
	staged  string // the write that put it in a row of its own, "" for in place
}

// headRow is how a head is stored.
type headRow struct {
	Layout  string `table:"azp_layout,reserved"`
	Parts   string `table:"azp_parts,reserved"`
	Splits  string `table:"azp_splits,reserved,omitempty"`
	Version string `table:"azp_version,reserved"`
}

// partNote is the property that each part has: its version, the rule of placement,
// and which of the properties whose first piece is there have further ones.
const partNote = "azp_part"

const maxHistory = 8

// A version is 65 random bits: two of the same entity are never equal.
const (
	versionLength = 13
	versionDigits = "0123456789abcdefghijklmnopqrstuv"
)

func newVersion() string {
	var b [versionLength]byte
	rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = versionDigits[b[i]%32]
	}
	return string(b[:])
}

func isVersion(s string) bool {
	return len(s) == versionLength && strings.Trim(s, versionDigits) == ""
}

// next is the head that a write makes of h, which is nil where there is none.
func (h *head) next(version, layout string) *head {
	n := &head{history: []string{version}, layout: layout, parts: map[int]part{}}
	if h != nil {
		n.history = append(n.history, h.history[:min(len(h.history), maxHistory-1)]...)
		maps.Copy(n.parts, h.parts)
		n.splits = maps.Clone(h.splits)
	}
	return n
}

func (h *head) version() string { return h.history[0] }

// has reports whether the write was one of the last.
func (h *head) has(version string) bool { return slices.Contains(h.history, version) }

var headCodec, headCodecErr = edm.CodecFor(reflect.TypeFor[headRow]())

// body is the row of h.
func (h *head) body(rows entityRows) ([]byte, error) {
	if headCodecErr != nil {
		return nil, headCodecErr
	}
	var parts []string
	for _, i := range slices.Sorted(maps.Keys(h.parts)) {
		p := h.parts[i]
		text := rows.part(i, "")[len(rows.base):] + ":" + p.version
		if p.staged != "" {
			text += ":" + p.staged
		}
		parts = append(parts, text)
	}
	return headCodec.Append(nil, &headRow{
		Layout:  h.layout,
		Parts:   strings.Join(parts, ";"),
		Splits:  formatSplits(h.splits, nil),
		Version: strings.Join(h.history, "."),
	}, edm.Envelope{PartitionKey: rows.partition, RowKey: rows.head()})
}

// parseHead reads a head as it is stored.
func parseHead(r *edm.StoredRow) (*head, error) {
	h := &head{etag: r.ETag, timestamp: r.Timestamp, layout: r.Text("azp_layout"), parts: map[int]part{}}
	h.history = strings.Split(r.Text("azp_version"), ".")
	ok := !slices.ContainsFunc(h.history, func(v string) bool { return !isVersion(v) }) && h.layout != ""
	for entry := range strings.SplitSeq(r.Text("azp_parts"), ";") {
		if entry == "" {
			continue
		}
		number, rest, _ := strings.Cut(entry, ":")
		version, staged, isStaged := strings.Cut(rest, ":")
		k, isPart := kindOf(number)
		ok = ok && isPart && k == (rowKind{part: k.part}) && isVersion(version) && (!isStaged || isVersion(staged))
		h.parts[k.part] = part{version, staged}
	}
	var err error
	if h.splits, err = parseSplits(r.Text("azp_splits")); err != nil {
		ok = false
	}
	if !ok {
		return nil, fmt.Errorf("head of the entity: %w", patterns.ErrBadReply)
	}
	return h, nil
}

// formatSplits lists the splits that only picks, or all of them.
func formatSplits(splits map[string]int, only func(name string) bool) string {
	var texts []string
	for name, n := range splits {
		if only == nil || only(name) {
			texts = append(texts, name+":"+strconv.Itoa(n))
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, ";")
}

func parseSplits(text string) (map[string]int, error) {
	if text == "" {
		return nil, nil
	}
	splits := map[string]int{}
	for entry := range strings.SplitSeq(text, ";") {
		name, digits, _ := strings.Cut(entry, ":")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 2 || name == "" {
			return nil, patterns.ErrBadReply
		}
		splits[name] = n
	}
	return splits, nil
}

// note is what part i of h says of itself.
func (h *head) note(l layout, i int) string {
	text := h.parts[i].version + " " + h.layout
	if s := formatSplits(h.splits, func(name string) bool { return l.place(name) == i }); s != "" {
		text += " " + s
	}
	return text
}

// parseNote reads what a part says of itself.
func parseNote(text string) (version, layout string, splits map[string]int, err error) {
	version, rest, _ := strings.Cut(text, " ")
	layout, list, _ := strings.Cut(rest, " ")
	if splits, err = parseSplits(list); err == nil && !isVersion(version) {
		err = patterns.ErrBadReply
	}
	return version, layout, splits, err
}
