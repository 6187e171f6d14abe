package eventual

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Row names a row to be moved, and which version of it. It is the message of the
// handlers that [HandleMove] and [HandleMoveToBlob] register.
//
// A message may be delivered late, or again after the row was moved and a new row was
// created under the same key: "archive employee 456" must not archive the employee who
// was hired again. ETag or Where distinguishes the two rows. If both are empty, any row
// with the key is moved.
type Row struct {
	PartitionKey string `json:"pk"`
	RowKey       string `json:"rk"`

	// ETag is the only version that may be moved: [Move] returns ErrSuperseded for a row
	// that was changed or created again since. Empty means any version, also that of a row
	// that was created again.
	ETag azcore.ETag `json:"etag,omitempty"`

	// Where is a filter, in the text form of package query, that the row must match. Use
	// a property that no update changes and that differs in a new row, such as a contract
	// number. The row is moved with the values that it has at the time of the move.
	Where string `json:"where,omitempty"`
}

func (r Row) key() keys.Key { return keys.Key{Partition: r.PartitionKey, Row: r.RowKey} }

// filter parses Where.
func (r Row) filter() (query.Filter, error) {
	if r.Where == "" {
		return query.Filter{}, nil
	}
	f, err := query.Parse(r.Where)
	if err != nil {
		return f, azerr.Errorf("Row.Where: %w", err)
	}
	return f, nil
}

// Move moves a row to another table, under the same key and with all its properties,
// like the archive of the design guide. The tables may be in different accounts. Move
// reads the row, stores it in the target, and then deletes it from the source if it is
// still the version read. The row is in both tables for a moment, and always in at least
// one of them.
//
// Move may be repeated after any error, concurrently too, and in any process: a crash at any
// step, a late call and a duplicate call lead to the same state, provided that ETag or Where
// of [Row] distinguishes the row from one that is created later under the same key. If the
// row is changed between the steps, Move starts again with the new version, provided that
// [Row] permits it. If the target contains an older row with the key, which was archived
// earlier, Move replaces it; it does not replace a newer one.
//
// Move returns nil if the row is only in the target, because it was moved before, and
// [patterns.ErrNotFound] if it is in neither table. It returns [ErrSuperseded] if the
// row in the source is not the one that [Row] describes, because it was changed, or moved
// before and created again; Move then leaves the target unchanged. A concurrent call that finds
// the copy of this one there writes it again before it deletes the source, so that this one
// cannot undo it.
//
// If Move fails after a write for which no reply arrived, the error matches
// [patterns.ErrOutcomeUnknown]: the row is in the source, in the target or in both. Call Move
// again. If it then returns ErrSuperseded, the target contains the row or a copy of an earlier
// version, which stays there. An attempt for which no reply arrived may still be carried out
// minutes later, even after Move returned nil. All writes except one have a condition on a
// version, so they are then refused or do what Move was to do. The exception is the insert
// into the target: if the row was deleted there meanwhile, or moved on, it appears there again,
// and the next Move of a row with that key replaces it. The service refuses requests that a
// shared key signed more than 15 minutes ago, so a row that is deleted from the target later
// than that stays deleted.
//
// Three requests; two if the row was moved before; two more for each conflict with
// another writer, and up to three more if the target contains a row with the key.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#eventually-consistent-transactions-pattern
func Move(ctx context.Context, from, to *aztables.Client, row Row) error {
	if from == nil || to == nil {
		return azerr.Errorf("move: table: %w", patterns.ErrNil)
	}
	return runMove(ctx, newTableArchive(from), newTableArchive(to), row)
}

// MoveToBlob moves a row to a block blob, as [Move] does to a table. [BlobName] returns the
// name of the blob. The blob contains the row in the JSON of the Table service, with the
// types of its properties. A container should contain the rows of one table only.
func MoveToBlob(ctx context.Context, from *aztables.Client, to *container.Client, row Row) error {
	if from == nil || to == nil {
		return azerr.Errorf("move to blob: client: %w", patterns.ErrNil)
	}
	return runMove(ctx, newTableArchive(from), blobArchive{to}, row)
}

// HandleMove registers a handler that calls [Move], for messages of type [Row]: see
// [Handle]. A message is moved to the poison queue at the first attempt if its key is
// invalid, if the row is in neither table, or if it is not the one described.
func HandleMove(w *Worker, kind string, from, to *aztables.Client) {
	handleMove(w, kind, func(ctx context.Context, row Row) error { return Move(ctx, from, to, row) })
}

// HandleMoveToBlob registers a handler that calls [MoveToBlob], like [HandleMove].
func HandleMoveToBlob(w *Worker, kind string, from *aztables.Client, to *container.Client) {
	handleMove(w, kind, func(ctx context.Context, row Row) error { return MoveToBlob(ctx, from, to, row) })
}

func handleMove(w *Worker, kind string, move func(context.Context, Row) error) {
	Handle(w, kind, func(ctx context.Context, job Job[Row]) error {
		err := move(ctx, job.Message)
		if errors.Is(err, patterns.ErrOutcomeUnknown) {
			return err // the next attempt finds out
		}
		if errors.Is(err, patterns.ErrNotFound) || errors.Is(err, ErrSuperseded) || errors.Is(err, patterns.ErrBadKey) || errors.Is(err, patterns.ErrBadETag) {
			return Cancel("", err)
		}
		return err
	})
}

// errSameTable prevents a move of a row onto itself, which would delete it.
var errSameTable = azerr.Sentinel("source and target are the same table")

// maxMoveTries is how often a move reads the source before it fails with ErrConflict.
const maxMoveTries = 16

// move is one call of Move.
type move struct {
	from tableArchive
	to   archive
	row  Row

	copyETag string     // version of the copy that this call stored; "" if none
	replaced *storedRow // the row that the copy replaced; nil if none
	unknown  error      // of a write that may have been carried out, or may still be
}

func runMove(ctx context.Context, from tableArchive, to archive, row Row) error {
	m := move{from: from, to: to, row: row}
	err := row.key().Validate()
	if err == nil && row.ETag != "" {
		err = azerr.CheckETag(string(row.ETag))
	}
	if err == nil {
		err = m.run(ctx)
		err = sdkerr.StillUnknown(m.unknown, err)
	}
	if err != nil {
		return azerr.Errorf("move: %w", err)
	}
	return nil
}

// doubtful records whether the outcome of a write is unknown, and reports it.
func (m *move) doubtful(err error) bool {
	var e *patterns.Error
	doubtful := errors.As(err, &e) && e.Unsure
	if doubtful {
		m.unknown = &sdkerr.UnknownOutcome{Cause: err}
	}
	return doubtful
}

func (m *move) run(ctx context.Context) error {
	where, err := m.row.filter()
	if err != nil {
		return err
	}
	for try := range maxMoveTries {
		src, err := m.from.get(ctx, m.row.key())
		if errors.Is(err, patterns.ErrNotFound) {
			_, err := m.to.get(ctx, m.row.key()) // the row was moved before, or never existed
			return err
		}
		if err != nil {
			return err
		}
		if m.row.ETag != "" && azcore.ETag(src.etag) != m.row.ETag || !where.Match(src) {
			return m.superseded(ctx)
		}
		err = m.transfer(ctx, src)
		if err == nil || !retryable(err) {
			return err
		}
		if err := calls.Pause(ctx, try); err != nil {
			return err
		}
	}
	return patterns.ErrConflict
}

// retryable reports whether err is a conflict with another writer.
func retryable(err error) bool {
	var e *patterns.Error
	if errors.As(err, &e) && e.Status == http.StatusPreconditionFailed {
		return true // also if an earlier attempt of the request had no reply
	}
	return errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrNotFound)
}

// superseded ends a move whose source is not the row described. It undoes the copy that
// an earlier try stored, unless another writer has changed it since.
func (m *move) superseded(ctx context.Context) error {
	if m.copyETag != "" {
		if err := m.undo(ctx); err != nil && !retryable(err) {
			return errors.Join(ErrSuperseded, azerr.Errorf("a copy stays in the target: %w", err))
		}
	}
	if m.unknown != nil {
		return azerr.Errorf("%w: the row was changed, or moved and created again", patterns.ErrOutcomeUnknown)
	}
	return ErrSuperseded
}

// undo restores what was in the target before this call.
func (m *move) undo(ctx context.Context) error {
	var err error
	if m.replaced == nil {
		err = m.to.delete(ctx, m.row.key(), m.copyETag)
	} else {
		_, err = m.to.replace(ctx, *m.replaced, m.copyETag)
	}
	m.doubtful(err)
	return err
}

// transfer stores src in the target and deletes it from the source.
func (m *move) transfer(ctx context.Context, src storedRow) error {
	if err := m.store(ctx, src); err != nil {
		return err
	}
	err := m.from.delete(ctx, src.key, src.etag)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil // deleted by the same move in another process, or by an earlier try of this request
	}
	if m.doubtful(err) {
		// The row may be deleted. If another row is created before the next try, the copy is
		// all that is left, so it must not be undone.
		m.copyETag, m.replaced = "", nil
	}
	return err
}

// store stores src in the target, unless the target contains it already.
func (m *move) store(ctx context.Context, src storedRow) error {
	etag, err := m.to.insert(ctx, src)
	if err == nil {
		m.copyETag, m.replaced = etag, nil
		return nil
	}
	m.doubtful(err)
	if !errors.Is(err, patterns.ErrExists) {
		return err
	}
	if m.from.equal(m.to) { // what exists is the source itself
		return errSameTable
	}
	old, err := m.to.get(ctx, src.key)
	if err != nil {
		return err
	}
	if old.equal(src) { // stored before a crash, or by a request whose response was lost, or by another worker
		return m.adopt(ctx, old)
	}
	// If this call was delayed since it read the source, the row in the target may be newer
	// than src. It is not if the source is unchanged: a newer row can be in the target only
	// after src has left the source, and an ETag is never used again.
	now, err := m.from.get(ctx, src.key)
	if err != nil {
		return err
	}
	if now.etag != src.etag {
		return patterns.ErrConflict
	}
	if etag, err = m.to.replace(ctx, src, old.etag); err == nil {
		if old.etag != m.copyETag { // otherwise it is the copy that an earlier try stored
			m.replaced = &old
		}
		m.copyETag = etag
	}
	m.doubtful(err)
	return err
}

// adopt takes over a copy that may be that of another call, which may undo it: it writes the
// copy again, so that the undo fails. This call does not undo it, because the row may have been
// archived earlier.
func (m *move) adopt(ctx context.Context, copied storedRow) error {
	if copied.etag == m.copyETag {
		return nil
	}
	m.copyETag, m.replaced = "", nil
	_, err := m.to.replace(ctx, copied, copied.etag)
	m.doubtful(err)
	return err
}
