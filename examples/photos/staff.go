package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

func (a *album) hireAnn(ctx context.Context) (string, error) {
	return a.hire(ctx, ann, "Ann Beebe", 128)
}

func (a *album) hireJun(ctx context.Context) (string, error) { return a.hire(ctx, jun, "Jun Cao", 128) }

// hireKen stores an icon instead of a photo. It is stored in the row.
func (a *album) hireKen(ctx context.Context) (string, error) { return a.hire(ctx, ken, "Ken Kwok", 16) }

func (a *album) hire(ctx context.Context, key keys.Key, name string, size int) (string, error) {
	photo, err := portrait(name, size)
	if err != nil {
		return "", err
	}
	item, err := a.staff.Insert(ctx, &Employee{key.Partition, key.Row, name, photo})
	_, inBlob := item.Blob("Photo")
	return fmt.Sprintf("hired %s, photo in a blob: %v", name, inBlob), err
}

// list reads the names without the photos.
func (a *album) list(ctx context.Context) (string, error) {
	names := ""
	for row, err := range a.staff.Table().Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
		if err != nil {
			return "", err
		}
		names += " " + row.Value.Name + ","
	}
	return fmt.Sprintf("listed%s without photos", names), nil
}

// replace replaces the photo of Ann Beebe while a reader has the old row.
func (a *album) replace(ctx context.Context) (_ string, err error) {
	if a.old, err = a.staff.GetMeta(ctx, ann); err != nil {
		return "", err
	}
	photo, err := portrait("new", 128)
	if err != nil {
		return "", err
	}
	_, err = a.staff.UpdateMeta(ctx, ann, func(e *Employee) error {
		e.Photo = photo
		return nil
	})
	return "read the row of Ann Beebe, then replaced her photo", err
}

// compare reads the photos of the old row and of the new one.
func (a *album) compare(ctx context.Context) (string, error) {
	photo, err1 := portrait("new", 128)
	old, err2 := a.staff.Load(ctx, a.old)
	current, err3 := a.staff.Get(ctx, ann)
	return fmt.Sprintf("the earlier reader loads the old photo: %v; a new reader loads the new photo: %v",
		!bytes.Equal(old.Value.Photo, photo), bytes.Equal(current.Value.Photo, photo)), errors.Join(err1, err2, err3)
}

func (a *album) dismiss(ctx context.Context) (string, error) {
	return "dismissed Jun Cao", a.staff.Delete(ctx, jun, "")
}

// portrait returns a square picture of size pixels on each side, another one for each name.
func portrait(name string, size int) ([]byte, error) {
	var seed [32]byte
	copy(seed[:], name)
	r := rand.New(rand.NewChaCha8(seed))
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
