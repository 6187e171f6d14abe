// Command encryption stores patients whose addresses only programs with the key can read, finds them by address, and changes the key.
//
// Problem: the service encrypts what it stores, but decrypts it for everyone who can read the table. If the client encrypts a value, no
// query finds it, it can be copied to another row, and a new key needs all rows to be written again, while programs write.
//
// Layout: the table tag has the option encrypted. The stored value is bound to its row and property, so a copy elsewhere does not
// open. The index has a text that is made of the address and a secret.
//
//	PartitionKey  RowKey                       Email (Edm.Binary)
//	P             000123                       encrypted for this row
//	P             email_<HMAC of the address>  encrypted for this row
//
// Use it for values that the account and its backups must not show. Filters and ranges cannot use them. In production use an
// encryption.Envelope, whose wrapping key is in a key vault: see the example of its package.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Patient is a row whose Email is encrypted.
type Patient struct {
	PartitionKey, RowKey string
	Email                string `table:",encrypted"`
}

// Patients is a table with an index by the encrypted address.
type Patients struct {
	*patterns.Store[Patient]
	byEmail *secondaryindex.Index[Patient]
	secret  []byte // of the index
}

// open declares the index, and the keys of the properties. It makes no request.
func open(client *aztables.Client, ring patterns.EncryptionKeys, secret []byte) (*Patients, error) {
	table, err := patterns.NewTable[Patient](client, &patterns.TableOptions[Patient]{Encryption: &patterns.Encryption{Keys: ring}})
	if err != nil {
		return nil, err
	}
	p := &Patients{secret: secret}
	p.byEmail = secondaryindex.Intra("email", func(e *Patient) (string, bool) {
		text, err := p.blind(e.Email)
		return text, err == nil
	}, nil)
	p.Store, err = patterns.NewStore(table, &patterns.StoreOptions[Patient]{Views: []patterns.View[Patient]{p.byEmail}})
	return p, err
}

// blind returns the text of an address in the index: equal addresses have equal texts, so fold before.
func (p *Patients) blind(email string) (string, error) {
	return keys.Blind(p.secret, strings.ToLower(email), 0)
}

// find returns the patient with an address.
func (p *Patients) find(ctx context.Context, email string) (*Patient, error) {
	text, err := p.blind(email)
	if err != nil {
		return nil, err
	}
	entry, err := p.byEmail.On(p.Store).Get(ctx, "P", text)
	return &entry.Value, err
}

// steal copies the encrypted address of a patient to another row, as a program without the key may do.
func steal(ctx context.Context, client *aztables.Client, from, to keys.Key) error {
	rows, err := patterns.NewTable[patterns.Row](client, nil)
	if err != nil {
		return err
	}
	item, err := rows.Get(ctx, from)
	if err == nil {
		item.Key = to
		_, err = rows.Do(ctx, patterns.CopyOp(item))
	}
	return err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	client, secret := acct.TablesWith(&opts).NewClient("Patients"), []byte("the secret of the index, 32 byte")
	all := map[string][]byte{"2026": []byte("a key of 32 random bytes in 2026"), "2027": []byte("a key of 32 random bytes in 2027")}
	var old, now *Patients
	for current, p := range map[string]**Patients{"2026": &old, "2027": &now} { // programs get both keys before one uses the new
		ring, err := encryption.RingOf(current, all)
		if err != nil {
			log.Fatal(err)
		}
		if *p, err = open(client, ring, secret); err != nil {
			log.Fatal(err)
		}
	}
	ada := keys.Key{Partition: "P", Row: "000123"}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"create the table", func() (any, error) { return nil, old.Create(ctx) }},
		{"insert a patient", func() (any, error) {
			_, err := old.Insert(ctx, &Patient{ada.Partition, ada.Row, "ada@example.com"})
			return nil, err
		}},
		{"find by address", func() (any, error) {
			p, err := old.find(ctx, "Ada@example.com")
			return p.RowKey + " " + p.Email, err
		}},
		{"a copied value does not open", func() (any, error) {
			to := keys.Key{Partition: "P", Row: "000666"}
			if err := steal(ctx, client, ada, to); err != nil {
				return nil, err
			}
			_, err := old.Table().Get(ctx, to)
			return errors.Is(err, patterns.ErrSealed), old.Table().Delete(ctx, to, "")
		}},
		{"bring all rows to the key of 2027", func() (any, error) {
			r, err := now.Reencrypt(ctx, nil)
			return fmt.Sprintf("%d of %d rows, %d failed", r.Done, r.Found, r.Failed), err
		}},
		{"is the key of 2026 needed?", func() (any, error) {
			r, err := now.Reencrypt(ctx, &patterns.SweepOptions{DryRun: true})
			return r.Found > 0, err
		}},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
