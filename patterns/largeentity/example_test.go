package largeentity_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A photo of 300 KB is larger than the limit of a property.
func Example() {
	type Employee struct {
		Department string `table:"PartitionKey"`
		Email      string `table:"RowKey"`
		Name       string
		Photo      []byte `table:",blob"`
	}
	ctx := context.Background()
	acct := storagetest.Start(nil) // an account in this process
	staff, err := largeentity.New[Employee](acct.Tables().NewClient("Employees"), acct.Container("photos"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := staff.Create(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = staff.Insert(ctx, &Employee{"Sales", "jonesj@contoso.com", "Jun Jones", make([]byte, 300_000)})
	if err != nil {
		log.Fatal(err)
	}

	key := keys.Key{Partition: "Sales", Row: "jonesj@contoso.com"}
	acct.ResetLog()
	meta, _ := staff.GetMeta(ctx, key)
	photo, _ := meta.Blob("Photo")
	fmt.Println(meta.Value.Name, "photo read:", len(meta.Value.Photo), "of", photo.Length, acct.Log().Ops())

	acct.ResetLog()
	whole, _ := staff.Get(ctx, key)
	fmt.Println(whole.Value.Name, "photo read:", len(whole.Value.Photo), acct.Log().Ops())

	whole.Value.Name = "Jun Jones-Smith" // the photo is not uploaded again
	acct.ResetLog()
	if _, err := staff.Replace(ctx, whole); err != nil {
		log.Fatal(err)
	}
	fmt.Println("renamed:", acct.Log().Ops())
	// Output:
	// Jun Jones photo read: 0 of 300000 [Table.Get]
	// Jun Jones photo read: 300000 [Table.Get Blob.Get]
	// renamed: [Table.Replace]
}
