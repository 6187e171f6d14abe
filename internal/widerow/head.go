package widerow

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
)

// head is the row that makes rows an entity: it names the parts, and the write that each
// one is the result of. Every write changes it under its ETag.
type head struct {
	etag      string
	timestamp time.Time

	versions string             // of the last writes, as the stamps of package txn
	layout   string             // the rule that assigns properties to parts
	parts    map[int]entityPart // by number from 0
	splits   map[string]int     // the number of pieces of each property that has several
}

// entityPart is one row of an entity.
type entityPart struct {
	version string // the write that it is the result of
	staged  string // the write that staged it, "" for a row in place
	etag    string // of the row, if the entity is plain
}

// condition is the ETag under which a write changes the part's row.
func (p entityPart) condition() string {
	if p.etag == "" {
		return "*"
	}
	return p.etag
}

// headRow is the stored form of a head.
type headRow struct {
	Layout  string `table:"azp_layout,reserved"`
	Parts   string `table:"azp_parts,reserved"`
	Splits  string `table:"azp_splits,reserved,omitempty"`
	Version string `table:"azp_version,reserved"`
}

// A version has 65 random bits: two of the same entity are never equal.
const (
	versionLength = 13
	versionDigits = "0123456789abcdefghijklmnopqrstuv"
)

func newVersion() string {
	var b [versionLength]byte
	rand.Read(b[:]) // never fails
	return asVersion(b[:])
}

// asVersion returns the version that the first bytes of b are made into.
func asVersion(b []byte) string {
	var v [versionLength]byte
	for i := range v {
		v[i] = versionDigits[b[i]%32]
	}
	return string(v[:])
}

func isVersion(s string) bool {
	return len(s) == versionLength && strings.Trim(s, versionDigits) == ""
}

// next returns the head that a write makes of h; a nil h means that the write inserts the
// entity.
func (h *head) next(version, layout string) *head {
	if h == nil {
		return &head{versions: version, layout: layout, parts: map[int]entityPart{}}
	}
	return &head{
		versions: txn.AddStamp(version, h.base()),
		layout:   layout,
		parts:    maps.Clone(h.parts),
		splits:   maps.Clone(h.splits),
	}
}

// base returns the versions that a write under the head's ETag is based on. An attempt of
// an insert may arrive late and make the head once more what it was, so the version of an
// insert does not identify the head. One that is made of the ETag takes its place.
func (h *head) base() string {
	if h.etag == "" {
		return "" // the head does not exist
	}
	if h.version() != h.versions {
		return h.versions
	}
	sum := sha256.Sum256([]byte(h.etag))
	return txn.AddStamp(asVersion(sum[:]), h.versions)
}

// version is that of the newest write.
func (h *head) version() string { return txn.NewestStamp(h.versions) }

// part returns what the head contains about part i. A nil head has no parts.
func (h *head) part(i int) (p entityPart, ok bool) {
	if h != nil {
		p, ok = h.parts[i]
	}
	return p, ok
}

var headCodec, headCodecErr = edm.CodecFor(reflect.TypeFor[headRow]())

// body is the row of h.
func (h *head) body(rows entityRows) ([]byte, error) {
	if headCodecErr != nil {
		return nil, headCodecErr
	}
	var parts []byte
	if !h.plain() {
		parts = make([]byte, 0, len(h.parts)*(len("00:;")+versionLength))
		for i := range MaxParts {
			p, ok := h.parts[i]
			if !ok {
				continue
			}
			if len(parts) > 0 {
				parts = append(parts, ';')
			}
			parts = append(append(append(parts, partNumber(i)...), ':'), p.version...)
			if p.staged != "" {
				parts = append(append(parts, ':'), p.staged...)
			}
		}
	}
	key := rows.head()
	return headCodec.Append(nil, &headRow{
		Layout:  h.layout,
		Parts:   string(parts),
		Splits:  formatSplits(h.splits, nil),
		Version: h.versions,
	}, edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row})
}

// parseHead returns the head in a stored row, or [ErrForeignRow] if another program wrote the
// row.
func parseHead(r *edm.StoredRow) (*head, error) {
	h := &head{
		etag: r.ETag, timestamp: r.Timestamp,
		versions: r.Text("azp_version"), layout: r.Text("azp_layout"),
	}
	if h.layout == "" && h.versions == "" {
		return nil, fmt.Errorf("head of the entity: %w", ErrForeignRow)
	}
	ok := h.layout != ""
	for v := range txn.SplitStamps(h.versions) {
		ok = ok && isVersion(v)
	}
	parts := r.Text("azp_parts")
	h.parts = make(map[int]entityPart, strings.Count(parts, ";")+1)
	for entry := range strings.SplitSeq(parts, ";") {
		if entry == "" {
			continue
		}
		number, rest, _ := strings.Cut(entry, ":")
		version, staged, isStaged := strings.Cut(rest, ":")
		k, isPart := kindOf(number)
		ok = ok && isPart && k == (rowKind{part: k.part}) && isVersion(version) && (!isStaged || isVersion(staged))
		h.parts[k.part] = entityPart{version: version, staged: staged}
	}
	var err error
	if h.splits, err = parseSplits(r.Text("azp_splits")); err != nil {
		ok = false
	}
	if !ok {
		return nil, fmt.Errorf("head of the entity: %w", azerr.ErrBadReply)
	}
	return h, nil
}

// readHead reads the head alone. If it does not exist, the error is [azerr.ErrNotFound].
// If the entity is plain, the head includes the parts, and the named properties must be
// in their parts. One request; one more if a plain entity is stored in a table of others.
func (t *Table) readHead(ctx context.Context, rows entityRows, names ...string) (*head, error) {
	if t.layout.plain {
		return t.readPlainHead(ctx, rows, names)
	}
	var g edm.StoredRows
	key := rows.head()
	err := t.Client.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) error {
		g = edm.StoredRows{} // this may be a second attempt
		return g.AddEntity(etag, body)
	})
	if err != nil {
		return nil, err
	}
	h, err := parseHead(&g.Rows[0])
	if err == nil && h.plain() {
		return t.readPlainHead(ctx, rows, names)
	}
	return h, err
}

// headStamps is the [txn.Change.Stamps] of heads.
func headStamps(body []byte) (string, error) {
	var g edm.StoredRows
	if err := g.AddEntity("", body); err != nil {
		return "", err
	}
	h, err := parseHead(&g.Rows[0])
	if err != nil {
		return "", err
	}
	return h.versions, nil
}

// formatSplits lists the splits that only selects, or all of them.
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

// maxPieces is more pieces than one property has: a row of 1 MiB has room for 16 of 64 KiB.
const maxPieces = 32 * MaxParts

func parseSplits(text string) (map[string]int, error) {
	if text == "" {
		return nil, nil
	}
	splits := map[string]int{}
	for entry := range strings.SplitSeq(text, ";") {
		name, digits, _ := strings.Cut(entry, ":")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 2 || n > maxPieces || name == "" {
			return nil, azerr.ErrBadReply
		}
		splits[name] = n
	}
	return splits, nil
}
