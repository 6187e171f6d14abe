package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// sizeOf returns a measurement of how much larger a stripped program becomes, in kB, by each further
// entity type. use is a function of an entity type as source text, which programOf completes.
func sizeOf(use string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		const further = 10
		dir, err := os.MkdirTemp("", "bench")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		var sizes [2]int64
		for i, types := range []int{1, 1 + further} {
			if sizes[i], err = builtSize(ctx, dir, programOf(types, use)); err != nil {
				return 0, err
			}
		}
		return float64(sizes[1]-sizes[0]) / further / 1000, nil
	}
}

// builtSize returns the size of the stripped program of that source.
func builtSize(ctx context.Context, dir string, source []byte) (int64, error) {
	file, program := filepath.Join(dir, "program.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return 0, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, file)
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build: %w: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// programOf returns the source of a program that calls use with that many types.
func programOf(types int, use string) []byte {
	var declarations, calls bytes.Buffer
	for i := range types {
		fmt.Fprintf(&declarations, "type T%d struct { PartitionKey, RowKey, Name%d string; Age int32; Salary float64 }\n", i, i)
		fmt.Fprintf(&calls, "\tuse[T%d](ctx, service)\n", i)
	}
	return fmt.Appendf(nil, `package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

var _ secondaryindex.Values // every program links the package

func main() {
	ctx := context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service, err := aztables.NewServiceClientFromConnectionString("", &opts)
	check(err)
%s}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

%s%s`, calls.Bytes(), declarations.Bytes(), use)
}

// Functions of one entity type.
const (
	useTable = `
func use[T any](ctx context.Context, service *aztables.ServiceClient) {
	table, err := patterns.NewTable[T](service.NewClient("T"), nil)
	check(err)
	item, err := table.Insert(ctx, new(T))
	check(err)
	_, err = table.Update(ctx, item.Key, func(*T) error { return nil })
	check(err)
	_, err = table.Get(ctx, keys.Key{})
	check(err)
	for _, err := range table.Query(ctx, query.PartitionKey.Eq(""), nil) {
		check(err)
	}
	check(table.Delete(ctx, item.Key, item.ETag))
}
`
	useStore = `
func use[T any](ctx context.Context, service *aztables.ServiceClient) {
	table, err := patterns.NewTable[T](service.NewClient("T"), nil)
	check(err)
	index := secondaryindex.Intra("name", func(*T) (string, bool) { return "", true }, nil)
	store, err := patterns.NewStore(table, &patterns.StoreOptions[T]{Views: []patterns.View[T]{index}})
	check(err)
	item, err := store.Insert(ctx, new(T))
	check(err)
	_, err = store.Update(ctx, item.Key, func(*T) error { return nil })
	check(err)
	_, err = store.Get(ctx, keys.Key{})
	check(err)
	for _, err := range store.Query(ctx, query.PartitionKey.Eq(""), nil) {
		check(err)
	}
	reader := index.On(store)
	_, err = reader.Get(ctx, "", "")
	check(err)
	for _, err := range reader.Query(ctx, "", secondaryindex.Values{}, nil) {
		check(err)
	}
	check(store.Delete(ctx, item.Key))
}
`
)
