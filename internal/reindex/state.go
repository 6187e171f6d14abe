package reindex

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// state is what a run continues from.
type state struct {
	Of       string  // the views, with their definitions
	Classes  []class // that are not verified yet; the last is in progress
	Scanning bool    // otherwise the sketch is complete

	Parts     []Part // that are not scanned yet, the first is in progress; nil means all tables
	Sketch    []byte
	Confirmed int // groups of differences that were confirmed and repaired

	Filled bool   // a backfill has read all primaries
	Report Report // without its failures
}

// restart prepares the next pass.
func (r *run) restart() {
	st := &r.state
	st.Scanning, st.Parts, st.Confirmed = true, nil, 0
	r.sketch = NewSketch(r.Differences)
}

// resume continues from the cursor.
func (r *run) resume() error {
	of := string(r.store.Views.Listing()) + ";" + strings.Join(slices.Sorted(maps.Keys(r.views)), ",")
	if len(r.Cursor) == 0 {
		r.state = state{Of: of, Classes: []class{{}}}
		r.restart()
		return nil
	}
	if json.Unmarshal(r.Cursor, &r.state) != nil || r.state.Of != of {
		return errState
	}
	r.sketch = new(Sketch)
	if err := r.sketch.UnmarshalBinary(r.state.Sketch); err != nil {
		return err
	}
	r.state.Sketch = nil
	return nil
}

// save returns the state in bytes.
func (r *run) save() ([]byte, error) {
	st := r.state
	st.Report.Failures = nil
	var err error
	if st.Sketch, err = r.sketch.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(st)
}

func (r *run) checkpoint() error {
	if r.Progress != nil {
		r.Progress(r.state.Report)
	}
	if r.Checkpoint == nil {
		return nil
	}
	return r.Checkpoint(r.save)
}
