package reindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

// stateTable is the table of [Runs]. A run is a partition: a wide entity for its plan, one for
// the input and one for the output of each job that has them, and a row for each job that
// is done. All but the plan are inserted and never changed, so it does not matter how often,
// and by how many processes, a job is done.
type stateTable struct {
	documents *wideentity.Table[stored]
	outcomes  *patterns.Table[outcome]
}

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

func newStateTable(client *aztables.Client) (*stateTable, error) {
	documents, err := wideentity.New[stored](client, nil)
	if err != nil {
		return nil, err
	}
	outcomes, err := patterns.NewTable[outcome](client, nil)
	return &stateTable{documents, outcomes}, err
}

// keyOf returns the key of something that the run has of a job.
func keyOf(job Job, name string) keys.Key {
	return keys.Key{Partition: job.Run, Row: fmt.Sprintf("%s-%06d-%06d", name, job.Stage, job.Part)}
}

func (s *stateTable) get(ctx context.Context, job Job, name string) (d document, err error) {
	item, err := s.documents.Get(ctx, keyOf(job, name))
	if err == nil {
		err = json.Unmarshal(item.Value.Document, &d)
	}
	return d, err
}

func (s *stateTable) insert(ctx context.Context, job Job, name string, d document) error {
	_, err := s.documents.Insert(ctx, keyOf(job, name), &stored{marshal(d)})
	return err
}

// change replaces the plan of a run if it is in that stage.
func (s *stateTable) change(ctx context.Context, id string, stage int, d document) (changed bool, err error) {
	_, err = s.documents.Update(ctx, keyOf(Job{Run: id}, runDocument), func(v *stored) error {
		var was document
		err := json.Unmarshal(v.Document, &was)
		if changed = err == nil && was.Plan.Stage == stage; changed {
			v.Document = marshal(d)
		}
		return err
	})
	return changed, err
}

func (s *stateTable) setDone(ctx context.Context, job Job, r Report) error {
	r.Failures = r.Failures[:min(len(r.Failures), 5)] // more might exceed the size of a property
	key := keyOf(job, "done")
	_, err := s.outcomes.Insert(ctx, &outcome{PartitionKey: key.Partition, RowKey: key.Row, Stage: job.Stage, Part: job.Part, Report: marshal(r)})
	return unlessExists(err)
}

// done returns the jobs of a run that are done, in their order.
func (s *stateTable) done(ctx context.Context, id string) (all []outcome, err error) {
	for item, err := range s.outcomes.Query(ctx, query.And(query.PartitionKey.Eq(id), query.RowKey.Prefix("done-")), nil) {
		o := item.Value
		if err == nil {
			err = json.Unmarshal(o.Report, &o.report)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
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
