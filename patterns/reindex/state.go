package reindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// In the table of [Runs] a run is a partition: a wide entity for its plan, one for the input and
// one for the output of each job that has them, and a row for each job that is done. All but the
// plan are inserted and never changed, so it does not matter how often, and by how many
// processes, a job is done.

// stored is a document as JSON.
type stored struct{ Document []byte }

// document is the content of a wide entity.
type document struct {
	Plan      *plan     `json:",omitempty"` // of the run
	Published bool      `json:",omitempty"` // all jobs of the stage were enqueued
	Suspects  []suspect `json:",omitempty"` // the input of a job
	Sketch    sketch    `json:",omitempty"` // the output of a job that scans, or
	Findings  []Finding `json:",omitempty"` // of one that confirms
}

const (
	runDocument    = "run"
	inputDocument  = "in"
	outputDocument = "out"
)

// outcome is a job that is done.
type outcome struct {
	PartitionKey, RowKey string
	Stage, Part          int
	Report               []byte // as JSON

	report Report
}

// keyOf returns the key of something that the run has of a job.
func keyOf(job Job, name string) keys.Key {
	return keys.Key{Partition: job.Run, Row: fmt.Sprintf("%s-%06d-%06d", name, job.Stage, job.Part)}
}

func (r *Runs) get(ctx context.Context, job Job, name string) (d document, err error) {
	item, err := r.documents.Get(ctx, keyOf(job, name))
	if err == nil {
		err = json.Unmarshal(item.Value.Document, &d)
	}
	return d, err
}

func (r *Runs) insert(ctx context.Context, job Job, name string, d document) error {
	_, err := r.documents.Insert(ctx, keyOf(job, name), &stored{marshal(d)})
	return err
}

// change replaces the plan of a run if it is in that stage.
func (r *Runs) change(ctx context.Context, id string, stage int, d document) (changed bool, err error) {
	_, err = r.documents.Update(ctx, keyOf(Job{Run: id}, runDocument), func(v *stored) error {
		var was document
		err := json.Unmarshal(v.Document, &was)
		if changed = err == nil && was.Plan.Stage == stage; changed {
			v.Document = marshal(d)
		}
		return err
	})
	return changed, err
}

func (r *Runs) setDone(ctx context.Context, job Job, report Report) error {
	report.Failures = report.Failures[:min(len(report.Failures), 5)] // more might exceed the size of a property
	key := keyOf(job, "done")
	_, err := r.outcomes.Insert(ctx, &outcome{PartitionKey: key.Partition, RowKey: key.Row, Stage: job.Stage, Part: job.Part, Report: marshal(report)})
	return unlessExists(err)
}

// load reads the plan of a run and the jobs that are done, in their order.
func (r *Runs) load(ctx context.Context, id string) (d document, s Status, done []outcome, err error) {
	if d, err = r.get(ctx, Job{Run: id}, runDocument); err != nil {
		return d, s, nil, err
	}
	s = Status{ID: id, Stage: string(d.Plan.Kind), Jobs: d.Plan.Jobs}
	s.Report.Passes, s.Report.Unverified = d.Plan.Passes, d.Plan.Unverified
	for item, err := range r.outcomes.Query(ctx, query.And(query.PartitionKey.Eq(id), query.RowKey.Prefix("done-")), nil) {
		o := item.Value
		if err == nil {
			err = json.Unmarshal(o.Report, &o.report)
		}
		if err != nil {
			return d, s, nil, err
		}
		if s.Report.add(&o.report); o.Stage == d.Plan.Stage {
			s.Done++
		}
		done = append(done, o)
	}
	return d, s, done, nil
}

// unlessExists drops the error of an insert if the entity exists.
func unlessExists(err error) error {
	if errors.Is(err, patterns.ErrExists) {
		return nil
	}
	return err
}

func marshal(v any) []byte {
	b, _ := json.Marshal(v) // of structs of texts and numbers
	return b
}
