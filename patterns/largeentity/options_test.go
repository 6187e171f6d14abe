package largeentity_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestNewRefusesInvalidTypesAndOptions(t *testing.T) {
	acct := storagetest.New(t)
	client, blobs := acct.Tables().NewClient("Employees"), acct.Container("photos")
	type options = largeentity.Options[employee]
	for name, c := range map[string]struct {
		err  error // of New
		text string
	}{
		"no client":          {assert.ErrorOf(largeentity.New[employee](nil, blobs, nil)), "client"},
		"no container":       {assert.ErrorOf(largeentity.New[employee](client, nil, nil)), "container"},
		"threshold too high": {assert.ErrorOf(largeentity.New(client, blobs, &options{Threshold: 64<<10 + 1})), "Threshold"},
		"threshold too low":  {assert.ErrorOf(largeentity.New(client, blobs, &options{Threshold: -2})), "Threshold"},
		"long prefix":        {assert.ErrorOf(largeentity.New(client, blobs, &options{Prefix: strings.Repeat("x", 513)})), "Prefix"},
		"bad prefix":         {assert.ErrorOf(largeentity.New(client, blobs, &options{Prefix: "a\x01"})), "Prefix"},
		"C1 control":         {assert.ErrorOf(largeentity.New(client, blobs, &options{Prefix: "a\u0081"})), "Prefix"},
		"noncharacter":       {assert.ErrorOf(largeentity.New(client, blobs, &options{Prefix: "a\uffff"})), "Prefix"},
		"dot segment":        {assert.ErrorOf(largeentity.New(client, blobs, &options{Prefix: "../other/"})), "Prefix"},
		"segment with a dot": {assert.ErrorOf(largeentity.New(client, blobs, &options{Prefix: "hr./"})), "Prefix"},
		"255 segments":       {assert.ErrorOf(largeentity.New(client, blobs, &options{Prefix: strings.Repeat("x/", 254)})), "Prefix"},
		"no tagged field":    {assert.ErrorOf(largeentity.New[struct{ PartitionKey, RowKey string }](client, blobs, nil)), "no field"},
		"no key": {assert.ErrorOf(largeentity.New[struct {
			X string `table:",blob"`
		}](client, blobs, nil)), "PartitionKey"},
		"a channel": {assert.ErrorOf(largeentity.New[struct {
			PartitionKey, RowKey string
			X                    chan int
		}](client, blobs, nil)), "field X"},
		"a stream without tag": {assert.ErrorOf(largeentity.New[struct {
			PartitionKey, RowKey string
			X                    largeentity.Stream `table:",json"`
			Y                    string             `table:",blob"`
		}](client, blobs, nil)), "field X"},
		"in a struct embedded by pointer": {assert.ErrorOf(largeentity.New[struct {
			PartitionKey, RowKey string
			*Embedded
		}](client, blobs, nil)), "field X"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	assert.Equal(t, len(acct.Log()), 0, "requests")
}

type Embedded struct {
	X string `table:",blob"`
}

func TestTheThresholdMayChangeBetweenWrites(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		for i, c := range []struct {
			threshold, size int
			inBlob          bool
		}{
			{0, 32 << 10, false}, {0, 32<<10 + 1, true},
			{largeentity.Always, 0, true}, {largeentity.Always, 1, true},
			{largeentity.MaxThreshold, 64 << 10, false}, {largeentity.MaxThreshold, 64<<10 + 1, true},
			{5, 5, false}, {5, 6, true},
		} {
			table := open(t, client, blobs, &largeentity.Options[employee]{Threshold: c.threshold})
			e := newJones("a", c.size)
			e.Email = string(rune('a' + i))
			item := assert.Must(table.Insert(t.Context(), e))(t)
			if _, inBlob := item.Blob("Photo"); inBlob != c.inBlob {
				t.Errorf("threshold %d, %d bytes: in a blob %v", c.threshold, c.size, inBlob)
			}
			other := open[employee](t, client, blobs, nil)
			got := assert.Must(other.Get(t.Context(), item.Key))(t)
			wantEmployee(t, got.Value, *e)
		}
		// The limit of a string property is lower than that of a binary one.
		table := open(t, client, blobs, &largeentity.Options[employee]{Threshold: largeentity.MaxThreshold})
		e := newJones("a", 0)
		e.Notes = strings.Repeat("é", 20000)
		item := assert.Must(table.Insert(t.Context(), e))(t)
		if _, inBlob := item.Blob("Remarks"); !inBlob {
			t.Error("40,000 bytes of text are stored in the row")
		}
	})
}

func TestGzipCompressesOnlyWhatBecomesSmaller(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		table := open(t, client, blobs, &largeentity.Options[employee]{Gzip: true})
		e := newJones("a", large)
		e.Notes = strings.Repeat("again and ", 10000)
		item := assert.Must(table.Insert(t.Context(), e))(t)
		notes, _ := item.Blob("Remarks")
		photo, _ := item.Blob("Photo")
		if notes.Encoding != "gzip" || photo.Encoding != "" || notes.Length != 100000 {
			t.Errorf("%+v %+v", notes, photo)
		}
		head := assert.Must(blobSize(t, blobs, notes.Name))(t)
		if head > 1000 {
			t.Errorf("%d bytes stored", head)
		}
		b.ResetRequests()
		got := assert.Must(open[employee](t, client, blobs, nil).Get(t.Context(), jones))(t)
		wantEmployee(t, got.Value, *e)
		// Unchanged content is not uploaded again if only the setting differs.
		b.ResetRequests()
		assert.Must(open[employee](t, client, blobs, nil).Replace(t.Context(), got))(t)
		b.WantRequests(t, map[string]int{"Table.Replace": 1})
	})
}

// The encoding of a stream is decided when its first 64 KiB were read.
func TestAStreamIsCompressedIfItsBeginningBecomesSmaller(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		text := bytes.Repeat([]byte("again and "), 20<<10)
		for name, c := range map[string]struct {
			content  []byte
			encoding string
		}{
			"text":                 {text, "gzip"},
			"noise":                {noise("v", 200<<10), ""},
			"noise, then text":     {append(noise("v", 64<<10), text...), ""},
			"text, then noise":     {append(text[:64<<10:64<<10], noise("v", 200<<10)...), "gzip"},
			"one byte":             {[]byte("v"), ""},
			"text of 64 KiB":       {text[:64<<10], "gzip"},
			"text of 64 KiB and 1": {text[:64<<10+1], "gzip"},
		} {
			table := openFilms(t, b, &largeentity.Options[film]{Gzip: true})
			item := assert.Must(table.Insert(t.Context(), newFilm(iotest.HalfReader(bytes.NewReader(c.content)))))(t)
			if ref, _ := item.Blob("Video"); ref.Encoding != c.encoding || ref.Length != int64(len(c.content)) {
				t.Errorf("%s: %+v", name, ref)
			}
			wantContent(t, assert.Must(table.Get(t.Context(), metropolis))(t).Value.Video, c.content)
		}
	})
}

func TestKeysMayBeDerived(t *testing.T) {
	type note struct {
		ID   string
		Text string `table:",blob"`
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open(t, b.Table(t), b.Container(t), &largeentity.Options[note]{Key: func(n *note) (keys.Key, error) {
			return keys.Key{Partition: n.ID[:1], Row: n.ID}, nil // panics for the zero note
		}})
		n := &note{"n17", strings.Repeat("x", 50000)}
		item := assert.Must(table.Insert(t.Context(), n))(t)
		item.Value.Text = strings.Repeat("y", 50000)
		item = assert.Must(table.Replace(t.Context(), item))(t)
		item.Value.ID = "n18"
		assert.WantError(t, assert.ErrorOf(table.Replace(t.Context(), item)), patterns.ErrKeyChanged, "changed key")
		got := assert.Must(table.Get(t.Context(), keys.Key{Partition: "n", Row: "n17"}))(t)
		assert.Equal(t, got.Value.Text[0], 'y', "the text was not replaced")
	})
}
