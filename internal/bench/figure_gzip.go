package bench

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// sources are the source text that is compressed.
//
//go:embed *.go
var sources embed.FS

const mebibyte = 1 << 20

// sourceText returns a MiB of source text.
func sourceText() ([]byte, error) {
	files, err := sources.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var text []byte
	for _, f := range files {
		file, err := sources.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		text = append(text, file...)
	}
	// The repetitions are too far from each other for gzip to find them.
	return bytes.Repeat(text, mebibyte/len(text)+1)[:mebibyte], nil
}

// noise returns a MiB that cannot be compressed, and is the same in every run.
func noise() ([]byte, error) {
	content := make([]byte, mebibyte)
	_, err := rand.NewChaCha8([32]byte{}).Read(content)
	return content, err
}

// gzipOf returns the CPU time in milliseconds that the option Gzip adds to an insert, as the
// median of 15 rounds.
func gzipOf(content func() ([]byte, error)) func(context.Context) (float64, error) {
	type document struct {
		PartitionKey, RowKey string
		Content              []byte `table:",blob"`
	}
	return func(ctx context.Context) (float64, error) {
		value, err := content()
		if err != nil {
			return 0, err
		}
		account := storagetest.Start(nil)
		open := func(gzip bool) (*largeentity.Table[document], error) {
			return largeentity.New(account.Tables().NewClient(tableName), account.Container("documents"), &largeentity.Options[document]{Gzip: gzip})
		}
		plain, err := open(false)
		if err == nil {
			err = plain.Create(ctx)
		}
		if err != nil {
			return 0, err
		}
		compressed, err := open(true)
		if err != nil {
			return 0, err
		}
		var added []time.Duration
		for i := range 15 {
			var took [2]time.Duration
			for j, t := range []*largeentity.Table[document]{plain, compressed} {
				start := cpuTime()
				if _, err := t.Insert(ctx, &document{"Sales", fmt.Sprintf("%d-%d", i, j), value}); err != nil {
					return 0, err
				}
				took[j] = cpuTime() - start
			}
			added = append(added, took[1]-took[0])
		}
		slices.Sort(added)
		return float64(added[len(added)/2]) / float64(time.Millisecond), nil
	}
}
