package patterns

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// drain is step 3: it makes the named rows what the primary implies. It ends on a
// read of the primary that saw the version which the rows were derived from.
type drain[T any] struct {
	primary keys.Key
	op      string // the operation
	places  []Place

	// What a writer knows that has just carried the operation out; for the first
	// round only.
	known *seen[T]
	first []difference
	held  map[Place]holding
}

// seen is a version of the primary.
type seen[T any] struct {
	value *T     // nil: there is none
	etag  string // "" likewise
}

func (s *Store[T]) see(ctx context.Context, key keys.Key) (*seen[T], error) {
	item, err := s.find(ctx, key)
	if err != nil || item == nil {
		return &seen[T]{}, err
	}
	return &seen[T]{&item.Value, string(item.ETag)}, nil
}

// job is one place of a drain in one round.
type job struct {
	claim  Claim
	lens   *lens
	table  *tableTarget // nil: the target is no table
	read   bool         // whether found is to be read
	found  reading
	direct string // the ETag of a reservation of this operation, to be replaced unseen
	looked bool   // the primary must be read after the row
}

// drain works in rounds until one is not disturbed.
func (s *Store[T]) drain(ctx context.Context, d *drain[T]) error {
	for try := 1; ; try++ {
		settled, err := s.round(ctx, d)
		if err != nil || settled {
			return err
		}
		if try >= s.opts.Tries {
			return fmt.Errorf("drain: %w", ErrConflict)
		}
		d.known, d.first, d.held = nil, nil, nil
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// round reads the rows, then the primary, writes each row on condition that it has
// not changed, and reads the primary again. The rows come first: a row that an
// operation is about to need is marked by it before the primary changes, so a round
// that did not see the change cannot delete the row.
func (s *Store[T]) round(ctx context.Context, d *drain[T]) (settled bool, err error) {
	jobs, err := s.jobs(d)
	if err != nil {
		return false, err
	}
	if err := s.readJobs(ctx, jobs); err != nil {
		return false, err
	}
	now := d.known
	for i := range jobs {
		if jobs[i].looked {
			now = nil
		}
	}
	if now == nil {
		if now, err = s.see(ctx, d.primary); err != nil {
			return false, err
		}
	}
	rows, err := s.views.derive(now.value, d.primary)
	if err != nil {
		return false, fmt.Errorf("drain: %w", err)
	}
	for i := range jobs {
		jobs[i].want(rows)
	}
	wrote, raced, err := s.writeJobs(ctx, jobs)
	if err != nil || raced || !wrote {
		return !raced, err
	}
	after, err := s.see(ctx, d.primary)
	return err == nil && after.etag == now.etag, err
}

// jobs makes a job of each place.
func (s *Store[T]) jobs(d *drain[T]) ([]job, error) {
	jobs := make([]job, len(d.places))
	for i, p := range d.places {
		l, err := s.lens(p.View)
		if err != nil {
			return nil, err
		}
		j := job{lens: l, claim: Claim{
			View: l.name, Kind: l.shape.Kind, Key: p.Key(), Owner: d.primary, List: l.shape.List, op: d.op,
			free: func(ctx context.Context, taken *takenError) (bool, error) { return s.free(ctx, l, p.Key(), taken) },
		}}
		j.table, _ = s.tableOf(l)
		j.read = j.table != nil
		for k := range d.first {
			j.hint(&d.first[k], d.held[p])
		}
		jobs[i] = j
	}
	return jobs, nil
}

// hint is what a writer knows about a place: a row that is new can be inserted
// unseen, and so can one replaced that the operation has reserved itself.
func (j *job) hint(f *difference, h holding) {
	if f.key != j.claim.Key || f.lens.targetID() != j.lens.targetID() || f.lens.shape.Kind != Copies || f.mend {
		return
	}
	switch {
	case f.lens != j.lens:
	case f.unique() && h.etag != "":
		j.direct, j.read = h.etag, false
	case f.new != nil && f.old == nil && !f.new.row.copy.Unique:
		j.read = false // if something stands there the insert fails
	}
	gone := f.new == nil || f.lens != j.lens
	j.looked = j.looked || gone && f.old != nil && f.old.row.copy.Unique
}

func (s *Store[T]) readJobs(ctx context.Context, jobs []job) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.opts.Parallel)
	for i := range jobs {
		if j := &jobs[i]; j.read {
			g.Go(func() (err error) {
				j.found, err = j.table.read(ctx, &j.claim)
				return err
			})
		}
	}
	return g.Wait()
}

// want fills in what the primary implies at the job's place.
func (j *job) want(rows []derived) {
	for i := range rows {
		if r := &rows[i]; r.lens == j.lens && r.key() == j.claim.Key {
			j.claim.Wanted, j.claim.body, j.claim.merge = true, r.body, r.row.merge
		}
	}
}

// writeJobs writes what is missing. What fails for one place does not stop the
// others.
func (s *Store[T]) writeJobs(ctx context.Context, jobs []job) (wrote, again bool, err error) {
	errs := make([]error, len(jobs))
	acted := make([]bool, len(jobs))
	var g errgroup.Group
	g.SetLimit(s.opts.Parallel)
	for i := range jobs {
		g.Go(func() error {
			acted[i], errs[i] = jobs[i].write(ctx)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	var lasting []error
	for i := range jobs {
		wrote = wrote || acted[i]
		if errors.Is(errs[i], errRaced) {
			again = true
		} else if errs[i] != nil {
			lasting = append(lasting, errs[i])
		}
	}
	return wrote, again, errors.Join(lasting...)
}

// write is the one conditional try of a job.
func (j *job) write(ctx context.Context) (acted bool, err error) {
	switch {
	case j.table == nil:
		return true, j.lens.target.Reconcile(ctx, j.claim)
	case j.direct != "" && j.claim.Wanted:
		w := over(j.claim.Key, standing{etag: j.direct}, j.claim.body)
		return true, j.table.send(ctx, []*wire.Write{&w})
	case j.direct != "":
		return false, errRaced // the primary has moved on: look first
	}
	return j.table.write(ctx, &j.claim, j.found)
}
