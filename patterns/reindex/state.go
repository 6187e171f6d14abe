package reindex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

// state is the table of [Runs]. A run is a partition: a wide entity for its state, one for
// the input and one for the output of each job that has them, and a row for each job that
// is done and for each finding. All but the state are inserted and never changed, so it does
// not matter how often, and by how many processes, a job is done.
type state struct {
	documents *wideentity.Table[stored]
	records   *patterns.Table[record]
}

// stored is a document as JSON.
type stored struct{ Document []byte }

// document is the content of a wide entity.
type document struct {
	Plan      *plan     `json:",omitempty"` // of the state
	Published bool      `json:",omitempty"` // all jobs of the stage were enqueued
	Suspects  []suspect `json:",omitempty"` // the input of a job
	Sketch    sketch    `json:",omitempty"` // the output of a job, and
	Failures  []failure `json:",omitempty"`
}

type failure struct {
	Primary keys.Key
	Text    string
}

// record is a finding, or the report of a job.
type record struct {
	PartitionKey, RowKey string

	Kind, View                   string `table:",omitempty"`
	Partition, Row               string `table:",omitempty"`
	PrimaryPartition, PrimaryRow string `table:",omitempty"`
	Report                       string `table:",omitempty"` // as JSON
}

const (
	runDocument = "run"
	foundPrefix = "found-"
	allDone     = "done-"
	allOutputs  = "out-"
)

func donePrefix(stage int) string { return fmt.Sprintf("%s%06d-", allDone, stage) }

func partOf(job Job) string   { return fmt.Sprintf("%06d-%06d", job.Stage, job.Part) }
func inputOf(job Job) string  { return "in-" + partOf(job) }
func outputOf(job Job) string { return allOutputs + partOf(job) }
func doneBy(job Job) string   { return allDone + partOf(job) }
func foundBy(job Job) string  { return foundPrefix + partOf(job) }

func newState(client *aztables.Client) (*state, error) {
	documents, err := wideentity.New[stored](client, nil)
	if err != nil {
		return nil, err
	}
	records, err := patterns.NewTable[record](client, nil)
	return &state{documents, records}, err
}

func (s *state) get(ctx context.Context, id, name string) (d document, err error) {
	item, err := s.documents.Get(ctx, keys.Key{Partition: id, Row: name})
	if err == nil {
		err = json.Unmarshal(item.Value.Document, &d)
	}
	return d, err
}

func (s *state) insert(ctx context.Context, id, name string, d document) error {
	_, err := s.documents.Insert(ctx, keys.Key{Partition: id, Row: name}, &stored{marshal(d)})
	return err
}

// change replaces the state of a run if it is in that stage.
func (s *state) change(ctx context.Context, id string, stage int, d document) (changed bool, err error) {
	_, err = s.documents.Update(ctx, keys.Key{Partition: id, Row: runDocument}, func(v *stored) error {
		var was document
		err := json.Unmarshal(v.Document, &was)
		if changed = err == nil && was.Plan.Stage == stage; changed {
			v.Document = marshal(d)
		}
		return err
	})
	if errors.Is(err, patterns.ErrNotFound) {
		return false, nil // the run was deleted
	}
	return changed, err
}

// done reports whether a job is done.
func (s *state) done(ctx context.Context, job Job) (bool, error) {
	_, err := s.records.Get(ctx, keys.Key{Partition: job.Run, Row: doneBy(job)})
	if errors.Is(err, patterns.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (s *state) setDone(ctx context.Context, job Job, r Report) error {
	return s.add(ctx, &record{PartitionKey: job.Run, RowKey: doneBy(job), Report: string(marshal(r))})
}

// add inserts a record, unless it exists.
func (s *state) add(ctx context.Context, r *record) error {
	_, err := s.records.Insert(ctx, r)
	if errors.Is(err, patterns.ErrExists) {
		return nil
	}
	return err
}

// with returns the records of a run whose row keys begin with prefix.
func (s *state) with(ctx context.Context, id, prefix string) iter.Seq2[patterns.Item[record], error] {
	return s.records.Query(ctx, query.And(query.PartitionKey.Eq(id), query.RowKey.Prefix(prefix)), nil)
}

// progress returns the row keys of the jobs that are done and begin with prefix, and what they did.
func (s *state) progress(ctx context.Context, id, prefix string) (done map[string]Report, total Report, err error) {
	done = map[string]Report{}
	for item, err := range s.with(ctx, id, prefix) {
		var r Report
		if err == nil {
			err = json.Unmarshal([]byte(item.Value.Report), &r)
		}
		if err != nil {
			return nil, total, err
		}
		total.add(&r)
		done[item.Key.Row] = r
	}
	return done, total, nil
}

// failures returns the first failures of jobs that are done.
func (s *state) failures(ctx context.Context, id string, jobs []string) (all []Failure, err error) {
	slices.Sort(jobs)
	for _, name := range jobs {
		if len(all) >= maxFailures {
			break
		}
		d, err := s.get(ctx, id, allOutputs+strings.TrimPrefix(name, allDone))
		if err != nil {
			return nil, err
		}
		for _, f := range d.Failures {
			all = append(all, Failure{f.Primary, errors.New(f.Text)})
		}
	}
	return all[:min(len(all), maxFailures)], nil
}

// addFindings stores the findings of one primary. The key of a finding contains its rows, so
// that it is stored once.
func (s *state) addFindings(ctx context.Context, job Job, all []Finding) error {
	for _, f := range all {
		h := sha256.Sum256(marshal([]any{f.View, f.Row, f.Primary}))
		err := s.add(ctx, &record{
			PartitionKey: job.Run, RowKey: foundBy(job) + "-" + hex.EncodeToString(h[:16]), Kind: f.Kind.String(), View: f.View,
			Partition: f.Row.Partition, Row: f.Row.Row, PrimaryPartition: f.Primary.Partition, PrimaryRow: f.Primary.Row,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// findings returns the findings whose row keys begin with prefix.
func (s *state) findings(ctx context.Context, id, prefix string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		for item, err := range s.with(ctx, id, prefix) {
			r := &item.Value
			f := Finding{View: r.View, Row: keys.Key{Partition: r.Partition, Row: r.Row}, Primary: keys.Key{Partition: r.PrimaryPartition, Row: r.PrimaryRow}}
			for k, name := range kindNames {
				if name == r.Kind {
					f.Kind = Kind(k)
				}
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// delete deletes the state first, so that jobs do nothing from then on.
func (s *state) delete(ctx context.Context, id string) error {
	err := s.documents.Delete(ctx, keys.Key{Partition: id, Row: runDocument}, azcore.ETagAny)
	if err != nil && !errors.Is(err, patterns.ErrNotFound) {
		return err
	}
	var failed error
	_, err = s.records.Bulk(ctx, func(yield func(patterns.Op[record]) bool) {
		for item, err := range s.records.Query(ctx, query.PartitionKey.Eq(id), &patterns.QueryOptions{Select: []string{}}) {
			if failed = err; err != nil || !yield(patterns.DeleteOp[record](item.Key, "")) {
				return
			}
		}
	}, nil)
	return errors.Join(failed, err)
}
