package search_test

import (
	"flag"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/mutation"
)

var which = flag.String("search.mutants", "^held row$", "the mutants that are searched, a regular expression of their names")

// The search finds a removed step of the protocol by what it breaks. The gate asks it for one that random schedules did not find.
func TestTheSearchFindsARemovedStep(t *testing.T) {
	var some []mutation.Mutant
	for _, m := range mutants {
		if regexp.MustCompile(*which).MatchString(m.Name) {
			some = append(some, m)
		}
	}
	suite := &mutation.Suite{
		Root: "../..", Packages: []string{"./internal/search"}, Flags: []string{"-failfast", "-run", "^TestSmallCases$"},
		Env: []string{"AZPATTERNS_AZURITE=off"}, Timeout: 20 * time.Minute, Assertion: regexp.MustCompile(`violation: .*`),
	}
	suite.Check(t, some)
}

// A step that is written in another way than its mutant expects is noticed before the night.
func TestEveryMutantHasItsText(t *testing.T) {
	for i := range mutants {
		if _, _, err := mutants[i].Source("../.."); err != nil {
			t.Error(err)
		}
	}
}

// shownBy is the flags that select one case.
// The bound of switches is that of the gate if it is [bounded].
func shownBy(subtest string, switches int) []string {
	return []string{"-run", "^TestSmallCases$/" + strings.ReplaceAll(subtest, " ", "_"), "-search.switches=" + strconv.Itoa(switches)}
}

const (
	outboxFolder  = "internal/outbox/"
	viewFolder    = "internal/view/"
	expireFile    = "internal/expire/expire.go"
	journalFolder = "internal/journal/"
	readerFile    = "patterns/secondaryindex/lookup_reader.go"
)

// The mutants, in the order of the sections of internal/outbox/README.md.
var mutants = []mutation.Mutant{
	{
		Name: "no message", Flags: shownBy("a unique copy is inserted.*a crash", bounded), File: outboxFolder + "follow.go",
		Old: "	receipt, err := s.Queue.Put(ctx, m, hidden)\n", New: "	receipt, err := types.Receipt{}, error(nil)\n",
		Breaks: "The message is sent before the transaction.",
	},
	{
		Name: "mark before the message", Flags: shownBy("requests together, a crash", 1), File: outboxFolder + "schedule.go",
		Old: "			if <-t.state.tried; t.state.message == nil {", New: "			if false {",
		Breaks: "A reservation may be faster than the message, but only one that inserts a row.",
	},
	{
		Name: "young operations are fenced", File: outboxFolder + "worker.go",
		Old: "return 0 < m.Age && m.Age < m.Grace", New: "return false && m.Age < m.Grace",
		Breaks:   "A worker does not fence a young operation.",
		Survives: "the writer starts over with another id: slower, and not wrong",
	},
	{
		Name: "outbox row outside", Flags: shownBy("a unique copy is inserted.*a crash", bounded), File: outboxFolder + "publish.go",
		Old:    "		batch.Add(s.records, insertOp(row, recordKey(op.Key.Partition, pt.id)))\n",
		New:    "		if row == nil {\n			batch.Add(s.records, insertOp(row, recordKey(op.Key.Partition, pt.id)))\n		}\n",
		Breaks: "The outbox row is part of the transaction.",
	},
	{
		Name: "no fence", Flags: shownBy("a unique copy is inserted.*a crash", 1), File: outboxFolder + "record.go",
		Old: "		r, err = s.insertRecord(ctx, fenceRow(), recordKey(partition, id))\n", New: "		r = outboxRecord{outboxRow: *fenceRow()}\n		return r, nil\n",
		Breaks: "The fence has the same key as the outbox row.",
	},
	{
		Name: "no reservation", Flags: shownBy("two entities want one unique copy, no fault", bounded), File: outboxFolder + "schedule.go",
		Old: "			case !d.Unique():\n				continue\n", New: "			default:\n				continue\n",
		Breaks: "Rows are reserved before the transaction.",
	},
	{
		Name: "primary before the rows", Flags: shownBy("a row is repaired while.*no fault", 3), File: outboxFolder + "drain.go",
		Old:    "	if err := s.readRows(ctx, targets); err != nil {\n		return false, false, err\n	}\n	now := d.known\n",
		New:    "	now, nerr := s.readVersion(ctx, d.primary)\n	if nerr != nil {\n		return false, false, nerr\n	}\n	if err := s.readRows(ctx, targets); err != nil {\n		return false, false, err\n	}\n	for i := range targets {\n		targets[i].rereadPrimary = false\n	}\n",
		Breaks: "A drain reads the rows before the primary.",
	},
	{
		Name: "no second read of the primary", Flags: shownBy("a copy is inserted.*no fault", bounded), File: outboxFolder + "drain.go",
		Old: "	return err == nil && last.etag == d.version, true, err", New: "	return err == nil && last != nil, true, err",
		Breaks: "A drain reads the primary again at the end.",
	},
	{
		Name: "no check after any write", Flags: shownBy("the content of a copy.*no fault", bounded), File: outboxFolder + "drain.go",
		Old:    "	unchecked := slices.ContainsFunc(targets, func(t drainRow) bool { return t.unchecked })\n",
		New:    "	unchecked := slices.ContainsFunc(targets, func(t drainRow) bool { return t.unchecked && t.found.Row.Absent() })\n",
		Breaks: "A drain reads the primary again at the end.",
	},
	{
		Name: "decided row", Flags: shownBy("a unique value is taken back while.*no fault", 3), File: outboxFolder + "target.go",
		Old: "			t.claim.Decided, t.rereadPrimary = op, true\n", New: "			t.claim.Decided = op\n",
		Breaks:   "A drain that meets such a row reads the operation's outbox row before it reads the primary.",
		Survives: "a drain reads the primary after each unique row that it may delete; a row that it overwrites is checked by the read at the end",
	},
	{
		Name: "named rows", Flags: shownBy("a row is repaired while.*no fault", 3), File: outboxFolder + "target.go",
		Old: "			return of.View == v && of.Key == ref.Key() && (of.New != nil || !of.Repair)\n", New: "			return of.View == v\n",
		Breaks: "It also holds for a row that a repair names.",
	},
	{
		Name: "held row", Flags: shownBy("a unique copy is inserted.*no fault", bounded), File: outboxFolder + "target.go",
		Old: "		was := t.found.Row.ETag\n", New: "		was := t.found.Row.ETag\n		if was != \"\" {\n			return nil\n		}\n",
		Breaks: "A row with the mark of an operation that has no outbox row is read again.",
	},
	{
		Name: "rows of an earlier attempt", Flags: shownBy("an entity changes its list next to its return, no fault", bounded), File: outboxFolder + "follow.go",
		Old: "func (d *drain) readEarly(ctx context.Context, st *state, row *drainRow) {\n	found, err := row.table.Read(ctx, &row.claim)\n",
		New: "var kept = map[string]view.Found{}\n\nfunc (d *drain) readEarly(ctx context.Context, st *state, row *drainRow) {\n	found, err := row.table.Read(ctx, &row.claim)\n" +
			"	if known, ok := kept[d.op+row.claim.Key.Row]; ok {\n		found = known\n	}\n	kept[d.op+row.claim.Key.Row] = found\n",
		Breaks:   "Every attempt reads them again.",
		Survives: "a write under an ETag that is no longer valid fails, and a row that was not written is read again: slower, and not wrong",
	},
	{
		Name: "rows that need no write", Flags: shownBy("an entity joins an existing list next to its delete, no fault", bounded), File: outboxFolder + "drain.go",
		Old: "return t.early && !t.unchecked }", New: "return false && t.early && !t.unchecked }",
		Breaks: "A row that was read before the commit and not written is read after it.",
	},
	{
		Name: "rows without the primary", Flags: shownBy("an entity joins an existing list next to its delete, no fault", bounded), File: outboxFolder + "drain.go",
		Old: "		d.forget()\n		done, again", New: "		d.early = nil\n		done, again",
		Breaks:   "The primary is read after it.",
		Survives: "a drain reads the primary after each unique row that it may delete; any other row that it writes is checked by the read at the end",
	},
	{
		Name: "no name of the worker", Flags: shownBy("a copy is inserted.*a crash", 2), File: outboxFolder + "worker.go",
		Old: "	acquired, err := s.replaceRecord(ctx, f.outboxRecord)\n", New: "	acquired, err := f.outboxRecord, error(nil)\n",
		Breaks: "A worker stores its name before it drains.",
	},
	{
		Name: "deleted instead of done", Flags: shownBy("a copy is inserted.*a late request next to", 1), File: outboxFolder + "worker.go",
		Old:    "	acquired.State = stateDone\n	_, err = s.replaceRecord(ctx, acquired)\n	return err\n",
		New:    "	return s.deleteRecords(ctx, []outboxRef{{acquired.Key, acquired.ETag}})\n",
		Breaks: "A worker sets the state done instead of deleting the row.",
	},
	{
		Name: "no drain after Expiry", Flags: shownBy("a copy is inserted.*a late request next to", 1), File: outboxFolder + "worker.go",
		Old: "			wrote[i], errs[i] = s.drainRecord(ctx, f, began)\n", New: "			_ = f\n",
		Breaks: "The drain after Expiry corrects rows that another client wrote late.",
	},
	{
		Name: "record not stored again", File: outboxFolder + "worker.go",
		Old: "		renewed, err := s.replaceRecord(ctx, f.outboxRecord)\n", New: "		renewed, err := f.outboxRecord, error(nil)\n",
		Breaks:   "The worker first stores the record again.",
		Survives: "it takes a crash or a late request in the drain after Expiry, besides the one that made it necessary: two faults",
	},
	{
		Name: "corrected record removed", File: outboxFolder + "worker.go",
		Old: "	if slices.Contains(wrote, true) {", New: "	if false && slices.Contains(wrote, true) {",
		Breaks:   "The record stays for another Expiry if the worker had to correct a row.",
		Survives: "it takes a crash or a late request in the drain after Expiry, besides the one that made it necessary: two faults",
	},
	{
		Name: "reservations of a fence", Flags: shownBy("a unique copy is inserted.*a crash", bounded), File: outboxFolder + "worker.go",
		Old: "		if left[i] > 0 && f.State == stateFence {", New: "		if false {",
		Breaks: "A worker can release the reservations of a fenced operation.",
	},
	{
		Name: "fenced rows stay", Flags: shownBy("a unique copy is inserted.*a crash", bounded), File: outboxFolder + "worker.go",
		Old: "	if len(m.Reserved) == 0 {", New: "	if len(m.Reserved) >= 0 {",
		Breaks: "A worker can release the reservations of a fenced operation.",
	},
	{
		Name: "no limit", Flags: shownBy("two entities want one unique copy, a pause", 1), File: outboxFolder + "schedule.go",
		Old: "return s.Expiry / 2 }", New: "return s.Expiry * 100 }",
		Breaks: "Half of Expiry is the limit of an operation.",
	},
	{
		Name: "commit at any time", File: outboxFolder + "publish.go",
		Old: "	if calls.Elapsed(st.at) >= t.store.limit() {", New: "	if false {",
		Breaks:   "Half of Expiry is the limit of an operation.",
		Survives: "the deadline of the context ends it too: it differs only if the machine is suspended, so that its timers do not run",
	},
	{
		Name: "drain at any time", File: outboxFolder + "drain.go",
		Old: "	if calls.Elapsed(d.began) >= s.limit() {", New: "	if false {",
		Breaks:   "A drain ends then, too.",
		Survives: "the deadline of the context ends it too: it differs only if the machine is suspended, so that its timers do not run",
	},
	{
		Name: "late attempts", Flags: shownBy("a copy is inserted.*a late", bounded), File: outboxFolder + "follow.go",
		Old: "	return complete && !t.late.Any(), repairs\n", New: "	return complete, repairs\n",
		Breaks: "The outbox row stays if an attempt had no reply.",
	},
	{
		Name: "incomplete drains finish", File: outboxFolder + "follow.go",
		Old: "		complete = false\n", New: "		_ = complete\n",
		Breaks: "All stay if the drain is not complete.",
	},
	{
		Name: "undecided owner", Flags: shownBy("two entities want one unique copy, no fault", bounded), File: outboxFolder + "local.go",
		Old: "	if owned.Op != \"\" {\n		_, decided", New: "	if false {\n		_, decided",
		Breaks: "A row is taken from another primary only if no undecided operation has reserved it.",
	},
	{
		Name: "owner that implies the row", Flags: shownBy("two entities want one unique copy, no fault", bounded), File: outboxFolder + "local.go",
		Old: "	return hold(rows, v, key), err\n", New: "	return false && hold(rows, v, key), err\n",
		Breaks: "A row is taken from another primary only if it is not derived from that primary.",
	},
	{
		Name: "duplicates of an old version", File: outboxFolder + "local.go",
		Old: "	if outdated {\n", New: "	if false && outdated {\n",
		Breaks:   "A duplicate is one of two current versions.",
		Survives: "it changes a DuplicateError only, which the search does not judge",
	},
	{
		Name: "writer deletes an acquired row", File: outboxFolder + "publish.go",
		Old: "		if r.Worker == \"\" {\n			ref.etag = r.ETag\n		}\n", New: "		ref.etag = r.ETag\n",
		Breaks:   "The outbox rows stay if a worker has acquired one of the operations.",
		Survives: "it takes a transaction without a reply, a worker that has read before, and then its crash: two faults and two changes, which take too long to search",
	},
	{
		Name: "mark of another operation", File: viewFolder + "copy.go",
		Old: "	if own && heldByOther {\n", New: "	if false {\n",
		Breaks:   "The operation will write or release the row itself.",
		Survives: "the operation whose mark is lost is based on an older version of the primary than that of the drain, so it fails or starts over",
	},
	{
		Name: "rows that an operation has released late", Flags: shownBy("the insert of a unique copy fails next to a delete, a crash$", 1), File: outboxFolder + "worker.go",
		Old: "			if wrote, errs[i] = s.releaseReserved(ctx, f.OutboxMessage, began); !wrote {\n", New: "			if !wrote {\n",
		Breaks: "The rows that a message names are brought up to date although its operation holds none of them.",
	},
	{
		Name: "rows that an operation reserves without a fence", Flags: shownBy("a unique copy is inserted next to workers, a late request$", 3), File: outboxFolder + "worker.go",
		Old: "			f.ID = \"\" // without a fence it may reserve a row now, and be applied later\n", New: "",
		Breaks: "A row that the operation reserves meanwhile is left to it: there is no fence, so it may be applied after all.",
	},
	{
		Name: "merged rows that are right", Flags: shownBy("an entity with a merged row is inserted next to its delete, no fault", bounded), File: viewFolder + "local.go",
		Old: " && (d.View.Shape.Kind != types.Merges || len(d.New.Merge.Set) > 0)\n", New: " && d.View.Shape.Kind != types.Merges\n",
		Breaks: "A row of the partition is written with the entity even if it is right, unless the version before implied it.",
	},
	{
		Name: "no mark", Flags: shownBy("a counted.*no fault", bounded), File: viewFolder + "mark.go",
		Old: "	if marked {\n", New: "	if marked && former != nil {\n",
		Breaks: "Marks change only under a condition on the counter's row or on the sum row.",
	},
	{
		Name: "F4: no last read", Flags: shownBy("the content of a copy changes back, a Finisher$", 2), File: outboxFolder + "finisher.go",
		Old: "		if err != nil || etag != d.version {\n", New: "		if err != nil && etag != d.version {\n",
		Breaks: "F4. The outbox row is deleted only if the primary has the committed version.",
	},
	{
		Name: "F4: closed by any change of the process", Flags: shownBy("an entity leaves a list and gets.*, a Finisher$", 2), File: outboxFolder + "finisher.go",
		Old: " && op.primary.ETag == d.version })", New: " })",
		Breaks: "F4. The outbox row is deleted only if the primary has the committed version.",
	},
	{
		Name: "F5: late corrections", File: outboxFolder + "finisher.go",
		Old: " || err != nil || late.Any()\n", New: " || err != nil\n",
		Breaks:   "F5. Nothing is finished that has an attempt without a reply.",
		Survives: "it takes a change of another client, a correction and a late insert that the SDK has repeated: with one fault the correction fails",
	},
	{
		Name: "F5: messages of what stays", Flags: shownBy("a copy.*a Finisher and a late request$", 2), File: outboxFolder + "finisher.go",
		Old: "	g.held = slices.DeleteFunc(g.held, func(h *heldTransaction) bool { return h.failed })\n", New: "",
		Breaks: "F5. First the rows are deleted, then the messages.",
	},
	{
		Name: "L1: sent again with the same ids", Flags: shownBy("requests sent again, a late request$", 1), File: outboxFolder + "lookup.go",
		Old: "c.ETag != \"*\" }); l.once {", New: "c.ETag != \"*\" }); l.once && left < 0 {",
		Breaks: "A transaction that only inserts is sent once under its ids.",
	},
	{
		Name: "L1: ids are kept", Flags: shownBy("a lookup row is inserted next to its delete, a late request$", 1), File: outboxFolder + "lookup.go",
		Old: "if len(r.ids) > 0 && !l.open && !expires {", New: "if len(r.ids) > 0 && !expires {",
		Breaks: "After an attempt without a reply the next one has new ids.",
	},
	{
		Name: "L2: ids without values", Flags: shownBy("a looked up value changes next to its return, no fault", bounded), File: viewFolder + "lookup.go",
		Old: "			l.ID = ids[l.hash()]\n", New: "			l.ID = ids[l.hash()]\n			for _, id := range ids {\n				l.ID = id\n			}\n",
		Breaks: "The primary names pairs of a value and an id.",
	},
	{
		Name: "L2: rows that are not named", Flags: shownBy("a reader of lookups next to changes, no fault", bounded), File: readerFile,
		Old: "if !named || slices.ContainsFunc(f.rows, smaller) {", New: "if slices.ContainsFunc(f.rows, smaller) {",
		Breaks: "A reader returns an entity only if that names the row.",
	},
	{
		Name: "L3: each row", Flags: shownBy("a reader of lookups next to changes, no fault", bounded), File: readerFile,
		Old: "if !named || slices.ContainsFunc(f.rows, smaller) {", New: "if !named || slices.ContainsFunc(f.rows, smaller) && f.err != nil {",
		Breaks: "An entity is returned only at the smallest of its rows in the range.",
	},
	{
		Name: "L4: at any time", Flags: shownBy("a sweep of lookups begins next to an insert, a pause", 1), File: outboxFolder + "lookup.go",
		Old: "	left := l.t.store.limit() - calls.Elapsed(l.at)\n", New: "	left := l.t.store.limit() * 100\n",
		Breaks: "No transaction is sent later than half of Expiry after its first lookup row.",
	},
	{
		Name: "L5: young rows", Flags: shownBy("a sweep of lookups next to an insert, no fault", bounded), File: outboxFolder + "lookup_sweep.go",
		Old: "ok && row.Old && t.Client.Age(rows[i].Timestamp) >= sw.OlderThan {", New: "ok {",
		Breaks: "A row is removed only if it was older than Expiry before the primary was read.",
	},
	{
		Name: "L5: named rows", Flags: shownBy("a sweep of lookups next to an insert, a pause", 1), File: outboxFolder + "lookup_sweep.go",
		Old: "if e != nil && !row.NamedBy(", New: "if e != nil || !row.NamedBy(",
		Breaks: "A row is removed only if the primary does not name it.",
	},
	{
		Name: "L6: rows of an attempt without a reply", Flags: shownBy("a lookup row is inserted next to its delete, a late request$", 1), File: outboxFolder + "lookup.go",
		Old: "		if r.ids = append(r.ids, txn.NewID()); !l.open {", New: "		if r.ids = append(r.ids, txn.NewID()); len(r.ids) > 0 {",
		Breaks: "The rows of an attempt without a reply are left to a sweep.",
	},
	{
		Name: "L6: rows of the last attempt", Flags: shownBy("a looked up value changes next to its return, a late request$", 1), File: outboxFolder + "lookup.go",
		Old: "		case !applied && !l.open:\n			gone = append(gone, r.stored...)", New: "		case !applied:\n			gone = append(gone, r.stored...)",
		Breaks: "The rows of an attempt without a reply are left to a sweep.",
	},
	{
		Name: "L6: old rows without a commit", Flags: shownBy("a looked up value changes next to its return, a late request$", 1), File: outboxFolder + "lookup.go",
		Old: "		case applied && !l.lost:\n", New: "		case applied && !l.lost || l.open:\n",
		Breaks: "Old rows are removed only after the commit is known.",
	},
	{
		Name: "L7: both", Flags: shownBy("a looked up value changes next to its return, no fault", bounded), File: outboxFolder + "lookup.go",
		Old: "!l.open && !expires {\n			continue\n", New: "!l.open && !expires {\n			r.former = append(r.former, r.stored...)\n			continue\n",
		Breaks: "After a refusal the next attempt keeps the id and the rows, or neither.",
	},
	{
		Name: "E1: every row is removed that is not of the new version", Flags: shownBy("a time is postponed next to a sweep, no fault", bounded), File: outboxFolder + "lookup.go",
		Old: "return slices.Contains(r.new, row) || row.View.Expiring != nil && slices.Contains(r.old, row)", New: "return slices.Contains(r.new, row)",
		Breaks: "The row of an entity that is postponed stays where it is.",
	},
	{
		Name: "E2: an earlier time keeps the id", Flags: shownBy("a time is shortened next to a sweep, no fault", bounded), File: viewFolder + "expiring.go",
		Old: "keys.Compare(o.Key.Partition, l.Key.Partition) <= 0", New: "keys.Compare(o.Key.Partition, l.Key.Partition) < 2",
		Breaks: "An earlier time takes a new id, whose row is stored before the entity.",
	},
	{
		Name: "E3: young rows", Flags: shownBy("an entity that has expired is inserted next to a sweep, no fault", bounded), File: expireFile,
		Old: "		if row.Old {", New: "		if row.Old || len(rows) > 0 {",
		Breaks: "A row is left alone until the transaction that names it can no longer arrive.",
	},
	{
		Name: "E3: named rows are dropped", Flags: shownBy("a time is postponed next to a sweep, no fault", bounded), File: expireFile,
		Old: "primary != nil {\n			sw.decide(", New: "primary != nil && len(work) == 0 {\n			sw.decide(",
		Breaks: "A row is dropped only if no entity names it.",
	},
	{
		Name: "E3: deleted and not moved", Flags: shownBy("a time is postponed next to a sweep, no fault", bounded), File: outboxFolder + "lookup_sweep.go",
		Old: "		if rows[i].Later == nil {", New: "		if rows[i].Later == nil || len(rows) > 0 {",
		Breaks: "A row of an entity that was postponed is deleted after the later one is stored.",
	},
	{
		Name: "E3: moved with a new id", Flags: shownBy("a time is postponed next to a sweep, no fault", bounded), File: expireFile,
		Old: "r.Key, primary.Text(view.PropLookups))", New: "r.Key, primary.Text(view.PropView))",
		Breaks: "A row is moved under the same id.",
	},
	{
		Name: "E3: any version is deleted", Flags: shownBy("an entity that has expired is inserted again next to a sweep, no fault", bounded), File: outboxFolder + "operation.go",
		Old: "Was: was, Known: true, Next: func(*txn.Record) (any, error) { return nil, nil }}", New: "IfExists: true, Next: func(*txn.Record) (any, error) { return nil, nil }}",
		Breaks: "An entity is deleted under the version that was read.",
	},
	{
		Name: "E3: the row before the entity", Flags: shownBy("two sweeps meet an entity that has expired, a crash", 1), File: expireFile,
		Old: "	b.Flush(ctx)\n	var left", New: "	defer b.Flush(ctx)\n	var left",
		Breaks: "An entity that has expired is deleted before its row.",
	},
	{
		Name: "E4: at any time", Flags: shownBy("a sweep begins next to the insert of an entity that has expired, a pause", 1), File: outboxFolder + "lookup.go",
		Old: "	left := l.t.store.limit() - calls.Elapsed(l.at)\n", New: "	left := l.t.store.limit() * 100\n",
		Breaks: "No transaction is sent later than half of Expiry after its row.",
	},
	{
		Name: "E5: found until it is deleted", Flags: shownBy("two sweeps meet an entity that has expired, no fault", bounded), File: outboxFolder + "store.go",
		Old: "	if err == nil && s.expired(r.Value) {", New: "	if err == nil && r == nil {",
		Breaks: "An entity that has expired is absent.",
	},
	{
		Name: "E5: exists until it is deleted", Flags: shownBy("an entity that has expired is inserted again next to a sweep, no fault", bounded), File: outboxFolder + "commit.go",
		Old: "	case errors.Is(err, azerr.ErrNotFound):\n		return true, nil\n	case primary", New: "	case part != nil:\n		return true, nil\n	case primary",
		Breaks: "An insert that has met an entity that had expired does not fail because of it.",
	},
	{
		Name: "E6: from the last bucket", Flags: shownBy("two sweeps meet an entity that has expired, no fault", bounded), File: viewFolder + "expiring.go",
		Old: "	return keys.Range{From: name + \"_\", To", New: "	from, _ := keys.Ticks(time.Now().Add(-time.Hour))\n	return keys.Range{From: name + \"_\" + from, To",
		Breaks: "A sweep reads from the first bucket.",
	},
	{
		Name: "J1: no message", Flags: shownBy("a feed next to the begin of a partition, no fault", bounded), File: journalFolder + "feed.go",
		Old: "	if j.knows(t.partition, t.epoch) {", New: "	if t.epoch > 0 {",
		Breaks: "Before a program commits its first change in an epoch of a partition, it puts a message for each feed.",
	},
	{
		Name: "J2: marker not merged", Flags: shownBy("a feed next to two writers, no fault", bounded), File: journalFolder + "writer.go",
		Old: "	batch.Add(rows, mark)\n", New: "	if t.first {\n		batch.Add(rows, mark)\n	}\n",
		Breaks: "No change can be committed in an epoch that was closed.",
	},
	{
		Name: "J3: message of the first epoch only", Flags: shownBy("a feed next to two writers, no fault", bounded), File: journalFolder + "journal.go",
		Old: "return known.epoch == epoch && time.Now().Before(known.until)", New: "return known.epoch > 0 || epoch > 1",
		Breaks: "Each epoch needs a message of its own.",
	},
	{
		Name: "J4: closed without a look", Flags: shownBy("two workers of a feed next to a writer, no fault", bounded), File: journalFolder + "feed.go",
		Old: "	err = j.advance(ctx, partition, root{epoch, \"*\"}, epoch+1, false)\n", New: "	err = ctx.Err()\n",
		Breaks: "Who receives the message closes the epoch.",
	},
	{
		Name: "J5: no position of a feed that has missed something", Flags: shownBy("a feed next to a sweep, no fault", bounded), File: journalFolder + "feed_sweep.go",
		Old: "		case p.Epoch == 0 && len(rows) > 0:\n			p.Epoch = epoch\n", New: "",
		Breaks: "A sweep stores the position of a feed without one before it deletes anything that the feed has not read.",
	},
	{
		Name: "J6: not marked", Flags: shownBy("a feed next to a sweep, no fault", bounded), File: journalFolder + "feed_sweep.go",
		Old: "edm.Properties{propEpoch: -next})", New: "edm.Properties{propEpoch: next})",
		Breaks: "A sweep marks the end row before it deletes the first change of the epoch.",
	},
}
