package fault

import "slices"

// The operations that an effect other than losing, refusing, repeating and
// delaying is for.
var (
	queries    = []Op{TableQuery}
	lists      = []Op{TableQuery, TableList, QueueList, BlobList, BlobListContainers}
	reads      = []Op{QueueGet, QueuePeek}
	deliveries = []Op{QueueGet}
)

// misplaced returns the name of an effect that suits no operation of the rule,
// and the operations that it suits.
func (r Rule) misplaced() (name string, of []Op) {
	e := r.effect
	for _, c := range []struct {
		use  bool
		name string
		of   []Op
	}{
		{e.page.Rows > 0, "ShortPage", lists},
		{e.page.Scan > 0, "CutPage", lists},
		{e.page.Boundary, "BoundaryPage", queries},
		{e.empty, "EmptyPage", lists},
		{e.late, "Late", reads},
		{e.again, "Redeliver", deliveries},
	} {
		if c.use && !slices.ContainsFunc(c.of, func(op Op) bool { return matchOp(r.pattern, op) }) {
			return c.name, c.of
		}
	}
	return "", nil
}
