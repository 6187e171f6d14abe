package reindex_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// Three entities cannot be read, one of which has lost its copy. Another one lacks its copy too.
func TestVerifyEndsWithAnErrorIfEntitiesCannotBeRead(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newShop(t, b, 12, true)
		for i := range 3 {
			r := oldOrder(i)
			r["Total"] = "much"
			plant(t, s.client, []row{at(oldKey(i), r)})
		}
		for _, i := range []int{0, 7} {
			assert.Must(s.client.DeleteEntity(t.Context(), oldCopyKey(i).Partition, oldCopyKey(i).Row, nil))(t)
		}
		for _, resumed := range []bool{false, true} {
			var last reindex.Report
			cursor := ""
			o := &reindex.Options{Differences: 1, Report: &last}
			if resumed {
				o.Checkpoint = func(save func() (string, error)) (err error) { cursor, err = save(); return err }
				for range reindex.Verify(t.Context(), s.Store, "", o) {
				}
				o.Checkpoint = nil
			}
			var errs []error
			var findings []reindex.Finding
			for f, err := range reindex.Verify(t.Context(), s.Store, cursor, o) {
				if err != nil {
					errs = append(errs, err)
				} else if findings = append(findings, f); len(errs) > 0 {
					t.Error("a finding after the error")
				}
			}
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), "3 of the entities") || !strings.Contains(errs[0].Error(), "Total") {
				t.Fatalf("resumed %v: %v", resumed, errs)
			}
			var p *patterns.PropertyError
			if !errors.As(errs[0], &p) || p.Property != "Total" {
				t.Errorf("resumed %v: %v", resumed, errs[0])
			}
			if resumed {
				continue
			}
			if len(findings) != 1 || findings[0].Kind != reindex.Missing || findings[0].Primary != oldKey(7) {
				t.Errorf("%v", findings)
			}
			if last.Failed != 3 || len(last.Failures) != 3 || last.Undecided != 2 {
				t.Errorf("%+v", last)
			}
		}
		// A loop that ends before gets no error.
		for f, err := range reindex.Verify(t.Context(), s.Store, "", nil) {
			if assert.NoError(t, err); f.Kind == reindex.Missing {
				break
			}
		}
		report := assert.Must(reindex.Repair(t.Context(), s.Store, "", nil))(t)
		if report.Failed != 3 || len(report.Failures) != 3 || report.Repaired != 1 {
			t.Errorf("repair: %+v", report)
		}
	})
}
