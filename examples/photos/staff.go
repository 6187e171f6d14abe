package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

var (
	ann = keys.Key{Partition: "Sales", Row: "00@contoso.com"}
	jun = keys.Key{Partition: "Sales", Row: "01@contoso.com"}
	ken = keys.Key{Partition: "Sales", Row: "02@contoso.com"}
)

func (a *album) insert(ctx context.Context) error {
	a.account.ResetLog()
	for i, e := range []struct {
		key  keys.Key
		name string
		size int
	}{
		{ann, "Ann Beebe", 128},
		{jun, "Jun Cao", 128},
		{ken, "Ken Kwok", 16}, // small enough for the row
	} {
		photo, err := portrait(uint64(i), e.size)
		if err != nil {
			return err
		}
		item, err := a.staff.Insert(ctx, &Employee{e.key.Partition, e.key.Row, e.name, photo})
		if err != nil {
			return err
		}
		_, apart := item.Blob("Photo")
		a.report("inserted %s, photo in a blob: %v", e.name, apart)
	}
	return nil
}

// list reads the names, without the photos.
func (a *album) list(ctx context.Context) error {
	names := ""
	for row, err := range a.staff.Table().Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
		if err != nil {
			return err
		}
		names += " " + row.Value.Name + ","
	}
	a.report("listed%s without photos", names)
	return nil
}

// replace changes the photo of Beebe while a reader is using the old one.
func (a *album) replace(ctx context.Context) error {
	seen, err := a.staff.GetMeta(ctx, ann)
	if err != nil {
		return err
	}
	photo, err := portrait(99, 128)
	if err != nil {
		return err
	}
	if _, err := a.staff.UpdateMeta(ctx, ann, func(e *Employee) error {
		e.Photo = photo
		return nil
	}); err != nil {
		return err
	}
	a.report("read the row of Ann Beebe, then replaced her photo")
	if seen, err = a.staff.Load(ctx, seen); err != nil {
		return err
	}
	now, err := a.staff.Get(ctx, ann)
	if err != nil {
		return err
	}
	a.report("the row read before still loads the old photo: %v; a new read returns the new photo: %v",
		!bytes.Equal(seen.Value.Photo, photo), bytes.Equal(now.Value.Photo, photo))
	return nil
}

func (a *album) delete(ctx context.Context) error {
	if err := a.staff.Delete(ctx, jun, ""); err != nil {
		return err
	}
	a.report("deleted Jun Cao")
	return nil
}

// portrait returns a square picture of size pixels a side.
func portrait(seed uint64, size int) ([]byte, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			img.SetRGBA(x, y, color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255})
		}
	}
	var file bytes.Buffer
	err := png.Encode(&file, img)
	return file.Bytes(), err
}
