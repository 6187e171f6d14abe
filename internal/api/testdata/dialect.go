// Package fixture deviates from each rule of the dialect. A comment at each deviation names the rules.
package fixture

import (
	"context"
	"errors"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

type T struct{}

var ErrBadOption = errors.New("") // deviates: error

type Options struct {
	patterns.QueryOptions
	Tries    int
	Key      func(*T) (keys.Key, error)
	Progress func(patterns.Progress)
}

func New(client *aztables.Client, name string, opts *Options) (*Table, error) { return nil, nil }

type Table struct{}

func (*Table) Client() *aztables.Client          { return nil }
func (*Table) Create(ctx context.Context) error  { return nil }
func (*Table) Attach(opts *azcore.ClientOptions) {}
func (*Table) Insert(ctx context.Context, v *T) (patterns.Item[T], error) {
	return patterns.Item[T]{}, nil
}
func (*Table) Get(ctx context.Context, key keys.Key) (T, error)             { return T{}, nil }
func (*Table) Query(ctx context.Context, opts *Options) iter.Seq2[T, error] { return nil }
func (*Table) Page(ctx context.Context, cursor string, opts *Options) (T, error) {
	return T{}, nil
}
func (*Table) Pages(ctx context.Context, cursor string, opts *Options) iter.Seq2[T, error] {
	return nil
}
func (*Table) Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	return patterns.SweepReport{}, nil
}

func NewWithoutError(opts *Options) *T                                    { return nil }      // deviates: constructor
func NewWithoutOptions(client *aztables.ServiceClient) (*T, error)        { return nil, nil } // deviates: constructor
func NewValue(opts *Options) (T, error)                                   { return T{}, nil } // deviates: constructor
func NewNameFirst(name string, t *Table, opts *Options) (*T, error)       { return nil, nil } // deviates: constructor
func NewNameBetween(name string, t []Table, opts *Options) (*T, error)    { return nil, nil } // deviates: constructor
func NewOptionsFirst(opts *Options, t *Table) (*T, error)                 { return nil, nil } // deviates: constructor, options
func NewOptionsByValue(t *Table, opts Options) (*T, error)                { return nil, nil } // deviates: options
func NewUncreated(client *aztables.Client, opts *Options) (*Other, error) { return nil, nil } // deviates: table

func ContextSecond(name string, ctx context.Context) {} // deviates: context

func SweepAll(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) { // deviates: sweep
	return patterns.SweepReport{}, nil
}

type BlobSweepOptions struct { // deviates: sweep
	Grace int // deviates: field, name
}

type FieldOptions struct {
	Parallel    bool                       // deviates: field
	Cursor      []byte                     // deviates: cursor
	UpdateTries int                        // deviates: name
	Progress    func(done int)             // deviates: field
	Key         func(v T) (string, string) // deviates: field
}

type Other struct{}

func (*Other) Table() *aztables.Client                                                    { return nil }             // deviates: accessor
func (*Other) Create(ctx context.Context, name string) error                              { return nil }             // deviates: create
func (*Other) Read(ctx context.Context, key keys.Key) (T, error)                          { return T{}, nil }        // deviates: name
func (*Other) Insert(ctx context.Context, key keys.Key, v *T) (T, error)                  { return T{}, nil }        // deviates: key
func (*Other) Get(ctx context.Context, key keys.Key) (T, bool, error)                     { return T{}, false, nil } // deviates: result
func (*Other) Query(ctx context.Context) ([]T, error)                                     { return nil, nil }        // deviates: result
func (*Other) Page(ctx context.Context, cursor string, opts *Options) (T, error)          { return T{}, nil }        // deviates: page
func (*Other) Scan(ctx context.Context, cursor []byte, opts *Options) iter.Seq2[T, error] { return nil }             // deviates: cursor, page
func (*Other) Sweep(ctx context.Context) (int, error)                                     { return 0, nil }          // deviates: sweep
func (*Other) Attach(opts *azcore.ClientOptions) error                                    { return nil }             // deviates: hook
func (*Other) Use(opts *azcore.ClientOptions)                                             {}                         // deviates: hook

type Counts struct{}

type ScanProgress struct { // deviates: progress
	Rows int
}

type Period struct {
	From, To int
	Last     int // deviates: range
}

func (*Counts) Segments(ctx context.Context, opts *FieldOptions) error          { return nil } // deviates: query
func (*Counts) Children(ctx context.Context, opts *patterns.QueryOptions) error { return nil }
func (*Counts) Between(ctx context.Context, from, until string) error           { return nil } // deviates: range

type Unlike struct{}

func (*Unlike) Page(ctx context.Context, cursor string, opts *Options) (T, error) { // deviates: page
	return T{}, nil
}
func (*Unlike) Pages(ctx context.Context, cursor string, opts *Options) iter.Seq2[int, error] {
	return nil
}

func SamePartition(name string) patterns.View[T]        { return nil } // deviates: name, view
func Intra(name string) patterns.View[T]                { return nil }
func InterOrFail(name string) (patterns.View[T], error) { return nil, nil } // deviates: view
