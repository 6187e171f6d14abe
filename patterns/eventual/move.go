package eventual

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns"
)

// Move moves a row to the table to, under the same keys and with all properties:
// the guide's archive. The tables may be in different accounts; they must be two. The
// row is read, stored in the target, and then deleted from the source if it is still the
// version read; for a moment it is in both tables, never in none.
//
// Move may be repeated, by anybody, at any time: a crash at any place, a late or
// second call, and one at the same time end in the same state. A row that was
// changed between the steps is read again and moved as it is then, if [Row] allows.
// What stands in the target under the key, an earlier row that was archived, is
// replaced, unless it is newer than what is moved.
//
// A row that is in the target and not in the source was moved before: nil. One that
// is in neither is [patterns.ErrNotFound]. A row that is there, and is not the one
// that [Row] means, is [ErrSuperseded]: it was changed, or moved before and created
// anew, and a copy in the target says nothing about it. Only where the reply to this
// call's own delete was lost, and such a row is there by the next try, is that
// [patterns.ErrOutcomeUnknown], and the copy stays.
//
// Three requests; two where it was moved before; two more for each lost race, and
// up to three more where the target has such a row.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#eventually-consistent-transactions-pattern
func Move(ctx context.Context, from, to *aztables.Client, row Row) error {
	if from == nil || to == nil {
		return fmt.Errorf("move: table: %w", patterns.ErrNil)
	}
	return move(ctx, newRowShelf(from), newRowShelf(to), row)
}

// MoveToBlob is [Move] into a block blob of one row, as the JSON that the Table
// service would answer, with the types of the properties. Its name is that of
// [BlobName]. The container is one for rows of one table.
func MoveToBlob(ctx context.Context, from *aztables.Client, to *container.Client, row Row) error {
	if from == nil || to == nil {
		return fmt.Errorf("move to blob: client: %w", patterns.ErrNil)
	}
	return move(ctx, newRowShelf(from), blobShelf{to}, row)
}

// HandleMove registers a handler for moves by [Move]. Its messages are of type
// [Row]. A row that is in neither table, and one that is not the one meant, make a
// poison message at once.
func HandleMove(w *Worker, kind string, from, to *aztables.Client) {
	handleMove(w, kind, func(ctx context.Context, row Row) error { return Move(ctx, from, to, row) })
}

// HandleMoveToBlob registers a handler for moves by [MoveToBlob], like [HandleMove].
func HandleMoveToBlob(w *Worker, kind string, from *aztables.Client, to *container.Client) {
	handleMove(w, kind, func(ctx context.Context, row Row) error { return MoveToBlob(ctx, from, to, row) })
}

func handleMove(w *Worker, kind string, move func(context.Context, Row) error) {
	Handle(w, kind, func(ctx context.Context, job Job[Row]) error {
		err := move(ctx, job.Message)
		if errors.Is(err, patterns.ErrNotFound) || errors.Is(err, ErrSuperseded) || errors.Is(err, patterns.ErrBadKey) {
			return Cancel(err)
		}
		return err
	})
}

// errOneTable: to move a row onto itself would be to delete it.
var errOneTable = errors.New("source and target are the same table")

// moveTries is how often a move starts again at the read before it gives up.
const moveTries = 16

func move(ctx context.Context, from rowShelf, to shelf, row Row) error {
	m := mover{from: from, to: to, row: row}
	err := row.key().Validate()
	if err == nil {
		err = m.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("move: %w", err)
	}
	return nil
}

// mover is one call of Move.
type mover struct {
	from rowShelf
	to   shelf
	row  Row

	stored string  // the version of the copy that this call made; "" for none
	before *record // what stood in its place; nil for nothing
	doubt  bool    // a copy of an earlier try may be of a row that was moved
}

func (m *mover) run(ctx context.Context) error {
	where, err := m.row.filter()
	if err != nil {
		return err
	}
	for try := range moveTries {
		src, err := m.from.read(ctx, m.row.key())
		if errors.Is(err, patterns.ErrNotFound) {
			return m.moved(ctx)
		}
		if err != nil {
			return err
		}
		if m.row.ETag != "" && azcore.ETag(src.etag) != m.row.ETag || !where.Match(src) {
			return m.superseded(ctx)
		}
		err = m.carry(ctx, src)
		if err == nil || !raced(err) {
			return err
		}
		if err := sleep(ctx, rand.N(min(10*time.Millisecond<<try, time.Second))); err != nil {
			return err
		}
	}
	return patterns.ErrConflict
}

// raced reports whether somebody else was faster.
func raced(err error) bool {
	return errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrNotFound)
}

// moved ends a move whose source is not there: it was moved, or never was.
func (m *mover) moved(ctx context.Context) error {
	_, err := m.to.read(ctx, m.row.key())
	return err
}

// superseded ends a move whose row is another one by now. A copy that this call
// made before it knew is taken back; where somebody has changed it since, it is no
// longer this call's.
func (m *mover) superseded(ctx context.Context) error {
	if m.stored != "" {
		if err := m.takeBack(ctx); err != nil && !raced(err) {
			return errors.Join(ErrSuperseded, fmt.Errorf("a copy stays in the target: %w", err))
		}
	}
	if m.doubt {
		return fmt.Errorf("%w: the row was moved, or changed", patterns.ErrOutcomeUnknown)
	}
	return ErrSuperseded
}

func (m *mover) takeBack(ctx context.Context) error {
	if m.before == nil {
		return m.to.remove(ctx, m.row.key(), m.stored)
	}
	_, err := m.to.replace(ctx, *m.before, m.stored)
	return err
}

// carry stores src in the target and deletes it from the source.
func (m *mover) carry(ctx context.Context, src record) error {
	if err := m.store(ctx, src); err != nil {
		return err
	}
	err := m.from.remove(ctx, src.key, src.etag)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil // by the same move elsewhere, or by this request's own first try
	}
	var e *patterns.Error
	if errors.As(err, &e) && e.Unsure {
		// It may be gone, and another be there now: then the copy is all that is left.
		m.stored, m.before, m.doubt = "", nil, true
	}
	return err
}

// store makes the target hold src.
func (m *mover) store(ctx context.Context, src record) error {
	etag, err := m.to.create(ctx, src)
	if err == nil {
		m.stored, m.before = etag, nil
		return nil
	}
	if !errors.Is(err, patterns.ErrExists) {
		return err
	}
	if m.from.is(m.to) { // the "copy" is the row itself
		return errOneTable
	}
	old, err := m.to.read(ctx, src.key)
	if err != nil || old.properties.Equal(src.properties) {
		return err // a copy made before a crash, or with a reply that was lost
	}
	// What stands there may be newer, if this call was held up since it read the
	// source. It is not if the source is still what it was: a newer row can be in the
	// target only after this one has left the source, and no version comes back.
	now, err := m.from.read(ctx, src.key)
	if err != nil {
		return err
	}
	if now.etag != src.etag {
		return patterns.ErrConflict
	}
	if etag, err = m.to.replace(ctx, src, old.etag); err == nil {
		if old.etag != m.stored { // else it is the copy of an earlier try
			m.before = &old
		}
		m.stored = etag
	}
	return err
}
