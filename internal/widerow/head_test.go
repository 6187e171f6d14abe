package widerow

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
)

// A head that is accepted is printed as it was, and names only rows of its entity.
func FuzzHead(f *testing.F) {
	const v, w = "0123456789abc", "vutsrqponmlkj"
	for _, h := range [][4]string{
		{"hash:16", "01:" + v, "", v}, {"hash:2", "01:" + v + ";02:" + w + ":" + v, "A:2;B:32", v + "," + w}, {"own:3", "", "", ""}, {"plain:hash:4", "", "", v},
		{"hash:2000000000", "99:" + v, "A:2000000000", v}, {"hash:-1", "00:" + v, ":5", "x"}, {"../x", "01:" + v + ":../../x", "A:-2", v}, {"\x1b[2J", "~azp_" + v, "A", ""},
	} {
		f.Add(h[0], h[1], h[2], h[3])
	}
	rows := entityRows{"p", "id" + separator}
	f.Fuzz(func(t *testing.T, layoutName, parts, splits, versions string) {
		text, err := json.Marshal(map[string]string{"PartitionKey": "p", "RowKey": rows.head().Row, "azp_layout": layoutName, "azp_parts": parts, "azp_splits": splits, "azp_version": versions})
		assert.NoError(t, err)
		parse := func(body []byte) (*head, error) {
			var g edm.StoredRows
			if err := g.AddEntity(`W/"1"`, body); err != nil {
				return nil, err
			}
			return parseHead(&g.Rows[0])
		}
		h, err := parse(text)
		if err != nil {
			if !errors.Is(err, azerr.ErrBadReply) && !errors.Is(err, ErrForeignRow) {
				t.Errorf("%s: %v", text, err)
			}
			return
		}
		for i, p := range h.parts {
			key := rows.part(i, p.staged)
			suffix, own := strings.CutPrefix(key.Row, rows.base)
			if kind, ok := kindOf(suffix); i < 0 || i >= MaxParts || key.Partition != "p" || !own || !ok || kind != (rowKind{part: i, staged: p.staged}) {
				t.Errorf("%s: part %d is the row %q", text, i, key.Row)
			}
		}
		for name, n := range h.splits {
			if name == "" || n < 2 || n > maxPieces {
				t.Errorf("%s: %d pieces of %q", text, n, name)
			}
		}
		own := assert.Must(newLayout(3, nil, false))(t)
		if l, err := own.stored(h.layout); err == nil && (l.parts < 1 || l.parts > MaxParts || l.check("A") != nil) {
			t.Errorf("%s: layout %+v", text, l)
		} else if err != nil && !errors.Is(err, ErrParts) {
			t.Errorf("%s: %v", text, err)
		}
		if h.plain() { // its parts are not printed
			return
		}
		body, err := h.body(rows)
		assert.NoError(t, err, text)
		again, err := parse(body)
		assert.NoError(t, err, text)
		assert.DeepEqual(t, again, h, text)
	})
}
