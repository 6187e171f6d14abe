package fetch

import (
	"errors"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

type numbered struct {
	PartitionKey, RowKey string
	N                    int32
	Text                 string
}

func TestGetReadsOneRowByOneRequest(t *testing.T) {
	r := newReading(t, 1, 2)
	type tagged struct { // its rows are read with metadata, which the decoder of entries needs
		N    int32
		ETag azcore.ETag
	}
	narrow, err := NewSource(r.client, codecOf[numbered](t)).Project(codecOf[tagged](t))
	if err != nil || narrow.Bare() {
		t.Fatal(narrow, err)
	}
	key := keys.Key{Partition: "p0", Row: "r01"}
	for what, s := range map[string]*Source{"whole": r.source, "projected": narrow} {
		rows, err := s.Get(t.Context(), key, r.decoder)
		if err != nil || rows.Len() != 1 || rows.Key(0) != key {
			t.Errorf("%s: %v, %v", what, rows, err)
			continue
		}
		e := (*rows.(*entries))[0]
		if e.ETag == "" || e.Timestamp.IsZero() || e.Properties["N"] != int32(1) {
			t.Errorf("%s: %+v", what, e)
		}
		if _, ok := e.Properties["azp_note"]; ok == (what == "projected") {
			t.Errorf("%s: %+v", what, e)
		}
		r.wantRequests(t, 1)
		if rows, err := s.Get(t.Context(), keys.Key{Partition: "p0", Row: "none"}, r.decoder); !errors.Is(err, azerr.ErrNotFound) || rows != nil {
			t.Errorf("%s: %v, %v", what, rows, err)
		}
		r.wantRequests(t, 1)
	}
	if _, err := r.source.Get(t.Context(), keys.Key{Partition: "a/b"}, r.decoder); !errors.Is(err, keys.ErrBadKey) {
		t.Error(err)
	}
	r.wantRequests(t, 0)
}

func TestProjectRefusesPropertiesThatTheRowsDoNotHave(t *testing.T) {
	r := newReading(t, 0, 0)
	s := NewSource(r.client, codecOf[numbered](t))
	_, missing := s.Project(codecOf[struct{ Missing string }](t))
	_, mistyped := s.Project(codecOf[struct{ N int64 }](t))
	_, unknown := s.Plan(query.Filter{}, &types.QueryOptions{Select: []string{"Missing"}, Allow: query.TableScan})
	for _, err := range []error{missing, mistyped, unknown} {
		var p *types.PropertyError
		if !errors.As(err, &p) {
			t.Error(err)
		}
	}
	if _, err := r.source.Project(codecOf[struct{ Anything string }](t)); err != nil {
		t.Error(err) // the rows may have any property
	}
}
