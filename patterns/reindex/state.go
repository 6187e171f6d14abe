package reindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// In the table of [Runs] a run is a partition: a wide entity for its state, and one for the input
// and one for the output of each job that has them. The state has the number of each job that is
// done. Inputs and outputs are inserted and never changed, so it does not matter how often, and by
// how many processes, a job is done.

// stored is a document as JSON.
type stored struct{ Document []byte }

// document is the content of a wide entity.
type document struct {
	// Of the state of a run:
	Plan      *plan  `json:",omitempty"`
	Published bool   `json:",omitempty"` // all jobs of the stage were enqueued
	Done      []int  `json:",omitempty"` // jobs of the stage
	Report    Report `json:",omitzero"`  // of all jobs that are done
	Found     []Job  `json:",omitempty"` // those that have findings

	Suspects []suspect `json:",omitempty"` // the input of a job
	Sketch   sketch    `json:",omitempty"` // the output of a job that scans, or
	Findings []Finding `json:",omitempty"` // of one that confirms
}

const (
	runDocument    = "run"
	inputDocument  = "in"
	outputDocument = "out"
)

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

// update changes the state of a run, if it is in the stage of the job, and returns it.
func (r *Runs) update(ctx context.Context, job Job, change func(*document)) (d document, err error) {
	_, err = r.documents.Update(ctx, keyOf(Job{Run: job.Run}, runDocument), func(v *stored) error {
		d = document{}
		err := json.Unmarshal(v.Document, &d)
		if err == nil && d.Plan.Stage == job.Stage {
			change(&d)
			v.Document = marshal(d)
		}
		return err
	})
	return d, err
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
