package tablectl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// numbered returns rows of one partition.
func numbered(n, step int, text string) (rows []row) {
	for i := range n {
		rows = append(rows, newRow(keys.Key{Partition: "p", Row: fmt.Sprintf("%06d", i*step)}, properties{"Text": text}))
	}
	return rows
}

func TestInsertOverExistingRowsCostsTwoRequestsForEachHundred(t *testing.T) {
	for name, c := range map[string]struct {
		stored, inserted []row
		most             int
		want             string
	}{
		"the same rows":            {numbered(2000, 1, "a"), numbered(2000, 1, "a"), 100, "2000 rows, 2000 present, 0 refused"},
		"rows with other contents": {numbered(2000, 1, "a"), numbered(2000, 1, "b"), 100, "0 rows, 0 present, 2000 refused"},
		"every second row":         {numbered(1000, 2, "a"), numbered(2000, 1, "a"), 100, "2000 rows, 1000 present, 0 refused"},
		"a row among many others":  {numbered(3000, 1, "a"), numbered(2, 2500, "a"), 10, "2 rows, 2 present, 0 refused"},
	} {
		t.Run(name, func(t *testing.T) {
			acct := storagetest.Start(nil)
			newTable(t, acct, "Target", c.stored)
			path := writeFile(t, "rows.jsonl", textOf(c.inserted))
			acct.ResetLog()
			o := tablectl(t, acct, "import", "-demo", "-mode", "insert", path, "Target")
			assert.Contains(t, o.out, c.want)
			if n := len(acct.Log()); n > c.most {
				t.Errorf("%d requests, at most %d", n, c.most)
			}
		})
	}
}

func TestOfALineThatIsThereTwiceInsertStoresTheFirst(t *testing.T) {
	acct := storagetest.Start(nil)
	newTable(t, acct, "Target", nil)
	rows := append(numbered(3, 1, "a"), numbered(1, 1, "b")...)
	path := writeFile(t, "rows.jsonl", string(textOfRows(withText(rows))))
	o := must(t, exitFound, acct, "import", "-demo", "-mode", "insert", path, "Target")
	assert.Contains(t, o.out, "3 rows, 0 present, 1 refused")
	assert.Equal(t, strings.Contains(o.err, "line 4: "), true, "which line: ", o.err)
	assert.Equal(t, tableText(t, acct, "Target"), textOf(rows[:3]), "stored")
}

func withText(rows []row) []row {
	for i := range rows {
		rows[i].text = lineOf(rows[i])
	}
	return rows
}
