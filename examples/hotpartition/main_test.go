package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestTheHeatMapsAreDrawn(t *testing.T) {
	folder := t.TempDir()
	assert.NoError(t, draw(t.Context(), folder))
	for name, label := range map[string]string{"before.html": "2014073118", "after.html": "07_20140731", "mixed.html": "customer 3"} {
		page, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Contains(page, []byte(label)) {
			t.Errorf("%s does not contain %q: %v", name, label, err)
		}
	}
}

// The cost of each layout is part of the contract.
func TestTheCostOfEachLayoutIsPrinted(t *testing.T) {
	want := `partition key = hour
  writes: 1000 events to 1 partition(s), 100% of them to the busiest
  reading the hour: PartitionScan, 1000 events in 1 request(s), 1000 rows read by the service

partition key = employee
  writes: 1000 events to 40 partition(s), 2% of them to the busiest
  reading the hour: TableScan, 1000 events in 1 request(s), 1000 rows read by the service

partition key = bucket and hour
  writes: 1000 events to 16 partition(s), 7% of them to the busiest
  reading the hour: PartitionScan, 1000 events in 16 request(s), 1000 rows read by the service`
	var output strings.Builder
	assert.NoError(t, run(t.Context(), &output))
	got := strings.TrimSpace(output.String())
	if os.Getenv(storagetest.ProductionVariable) != "" { // pages are shorter
		requests := regexp.MustCompile(`\d+ request`)
		got, want = requests.ReplaceAllString(got, "request"), requests.ReplaceAllString(want, "request")
	}
	assert.Equal(t, got, want)
}
