package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// typeSize returns how much larger a stripped program becomes, in kB, by each further type
// that it reads and writes.
func typeSize(ctx context.Context) (float64, error) {
	const further = 10
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var sizes [2]int64
	for i, types := range []int{1, 1 + further} {
		source, program := filepath.Join(dir, fmt.Sprintf("types%d.go", types)), filepath.Join(dir, fmt.Sprint(types))
		if err := os.WriteFile(source, programOf(types), 0o600); err != nil {
			return 0, err
		}
		build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", program, source)
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("build: %w: %s", err, out)
		}
		info, err := os.Stat(program)
		if err != nil {
			return 0, err
		}
		sizes[i] = info.Size()
	}
	return float64(sizes[1]-sizes[0]) / further / 1000, nil
}

// programOf returns the source of a program with that many types.
func programOf(types int) []byte {
	var declarations, calls bytes.Buffer
	for i := range types {
		fmt.Fprintf(&declarations, "type T%d struct { PartitionKey, RowKey, Name%d string; Age int32; Salary float64 }\n", i, i)
		fmt.Fprintf(&calls, "\tuse[T%d](service)\n", i)
	}
	return fmt.Appendf(nil, `package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func main() {
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service, err := aztables.NewServiceClientFromConnectionString("", &opts)
	check(err)
%s}

func use[T any](service *aztables.ServiceClient) {
	table, err := patterns.NewTable[T](service.NewClient("T"), nil)
	check(err)
	ctx := context.Background()
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}

%s`, calls.Bytes(), declarations.Bytes())
}
