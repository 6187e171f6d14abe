// Command photos keeps employees with their photos: hired, read, given a new photo,
// dismissed, and in the end the photos that nobody has any more swept away.
//
//	go run ./examples/photos
//
// It runs on an account inside this process, whose request log tells what each step
// costs. It takes some seconds, since a sweep waits out a grace time.
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "photos:", err)
		os.Exit(1)
	}
}

// Employee is one row, and a blob where the photo is large.
type Employee struct {
	Department string `table:"PartitionKey"`
	Email      string `table:"RowKey"`
	Name       string
	Photo      []byte `table:",blob"`
}

// grace is short so that the example ends soon. The default, a day, suits most
// services: no reader and no writer takes that long.
const grace = 4 * time.Second

// album is the table of employees and the log of what it costs.
type album struct {
	account *storagetest.Account
	staff   *largeentity.Table[Employee]
	out     io.Writer
}

func run(ctx context.Context, out io.Writer) error {
	account := storagetest.Start(nil)
	staff, err := largeentity.New(account.TablesWith(patterns.Accelerate(nil)).NewClient("Employees"),
		account.Container("photos"), &largeentity.Options[Employee]{Grace: grace})
	if err != nil {
		return err
	}
	if err := staff.Create(ctx); err != nil {
		return err
	}
	a := &album{account, staff, out}
	for _, step := range []func(context.Context) error{a.hire, a.list, a.replace, a.dismiss, a.sweep} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tell prints a line and the requests since the last one.
func (a *album) tell(format string, args ...any) {
	fmt.Fprintf(a.out, format+"\n  %v\n", append(args, a.account.Log().Ops())...)
	a.account.ResetLog()
}

func (a *album) hire(ctx context.Context) error {
	a.account.ResetLog()
	for i, name := range []string{"Ann Beebe", "Jun Cao", "Ken Kwok"} {
		// Kwok's is an icon, which stays in the row.
		size := 128
		if name == "Ken Kwok" {
			size = 16
		}
		photo, err := portrait(uint64(i), size)
		if err != nil {
			return err
		}
		e := &Employee{"Sales", fmt.Sprintf("%02d@contoso.com", i), name, photo}
		item, err := a.staff.Insert(ctx, e)
		if err != nil {
			return err
		}
		_, apart := item.Blob("Photo")
		a.tell("hired %s, photo in a blob: %v", name, apart)
	}
	return nil
}

// list reads names and sizes, no photos.
func (a *album) list(ctx context.Context) error {
	names := ""
	for row, err := range a.staff.Table().Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
		if err != nil {
			return err
		}
		names += " " + row.Value.Name + ","
	}
	a.tell("listed%s without photos", names)
	return nil
}

// replace gives Beebe a new photo while somebody looks at the old one.
func (a *album) replace(ctx context.Context) error {
	ann := keys.Key{Partition: "Sales", Row: "00@contoso.com"}
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
	a.tell("looked at Ann Beebe, then gave her a new photo")
	if seen, err = a.staff.Load(ctx, seen); err != nil {
		return err
	}
	now, err := a.staff.Get(ctx, ann)
	if err != nil {
		return err
	}
	a.tell("who looked before still gets the old one: %v; who looks now gets the new one: %v",
		!bytes.Equal(seen.Value.Photo, photo), bytes.Equal(now.Value.Photo, photo))
	return nil
}

func (a *album) dismiss(ctx context.Context) error {
	if err := a.staff.Delete(ctx, keys.Key{Partition: "Sales", Row: "01@contoso.com"}, ""); err != nil {
		return err
	}
	a.tell("dismissed Jun Cao")
	return nil
}

// sweep looks for photos that nobody has: first too early, then to mark them, then to
// delete them.
func (a *album) sweep(ctx context.Context) error {
	for i := range 3 {
		if i > 0 {
			// The service's times are of whole seconds.
			if err := wait(ctx, grace+2*time.Second); err != nil {
				return err
			}
		}
		r, err := a.staff.Sweep(ctx, nil)
		if err != nil {
			return err
		}
		a.tell("swept: of %d photos %d marked, %d deleted", r.Blobs, r.Marked, r.Deleted)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// portrait is a picture of so many pixels each way.
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
