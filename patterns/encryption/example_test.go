package encryption_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Patient has an e-mail address that only programs with the key can read.
type Patient struct {
	PartitionKey string
	RowKey       string
	Email        string `table:",encrypted"`
}

func Example() {
	ctx := context.Background()
	ring, err := encryption.RingOf("2026", map[string][]byte{"2026": []byte("an example of a key of 32 bytes!")})
	if err != nil {
		log.Fatal(err)
	}
	client := storagetest.Start(nil).Tables().NewClient("Patients") // an account in this process
	table, err := patterns.NewTable[Patient](client, &patterns.TableOptions[Patient]{
		Encryption: &patterns.Encryption{Keys: ring, Table: "Patients"},
	})
	if err != nil {
		log.Fatal(err)
	}
	blind := func(email string) string {
		text, err := keys.Blind([]byte("another secret of 32 random bytes"), email, 0)
		if err != nil {
			log.Fatal(err)
		}
		return text
	}
	byEmail := secondaryindex.Intra("email", func(p *Patient) (string, bool) { return blind(p.Email), true }, nil)
	patients, err := patterns.NewStore(table, &patterns.StoreOptions[Patient]{Views: []patterns.View[Patient]{byEmail}})
	if err != nil {
		log.Fatal(err)
	}
	if err := table.Create(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := patients.Insert(ctx, &Patient{"ward-7", "000123", "ada@example.com"}); err != nil {
		log.Fatal(err)
	}

	found, err := byEmail.On(patients).Get(ctx, "ward-7", blind("ada@example.com"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Value.RowKey, found.Value.Email)

	other, err := encryption.RingOf("2027", map[string][]byte{"2027": []byte("a key that did not encrypt this.")})
	if err != nil {
		log.Fatal(err)
	}
	stranger, err := patterns.NewTable[Patient](client, &patterns.TableOptions[Patient]{
		Encryption: &patterns.Encryption{Keys: other, Table: "Patients"},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = stranger.Get(ctx, keys.Key{Partition: "ward-7", Row: "000123"})
	fmt.Println(errors.Is(err, patterns.ErrNoKey))
	// Output:
	// 000123 ada@example.com
	// true
}

// vault is in place of a key vault: its key encrypts other keys, and programs never see it.
type vault struct{ aead cipher.AEAD }

func (v vault) Wrap(_ context.Context, key []byte) ([]byte, error) {
	nonce := make([]byte, v.aead.NonceSize())
	rand.Read(nonce)
	return v.aead.Seal(nonce, nonce, key, nil), nil
}

func (v vault) Unwrap(_ context.Context, wrapped []byte) ([]byte, error) {
	n := v.aead.NonceSize()
	if len(wrapped) < n {
		return nil, errors.New("not a wrapped key")
	}
	return v.aead.Open(nil, wrapped[:n], wrapped[n:], nil)
}

func ExampleNewEnvelope() {
	ctx := context.Background()
	block, err := aes.NewCipher([]byte("the key that never leaves vault!"))
	if err != nil {
		log.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		log.Fatal(err)
	}
	tables := storagetest.Start(nil).Tables()
	envelope, err := encryption.NewEnvelope(tables.NewClient("Keys"), vault{aead}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := envelope.Create(ctx); err != nil {
		log.Fatal(err)
	}
	if err := envelope.Load(ctx); err != nil { // and again every twenty minutes
		log.Fatal(err)
	}
	patients, err := patterns.NewTable[Patient](tables.NewClient("Patients"), &patterns.TableOptions[Patient]{
		Encryption: &patterns.Encryption{Keys: envelope, Table: "Patients"},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := patients.Create(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := patients.Insert(ctx, &Patient{"ward-7", "000123", "ada@example.com"}); err != nil {
		log.Fatal(err)
	}
	if err := envelope.Rotate(ctx); err != nil { // the second key is the current one in an hour
		log.Fatal(err)
	}
	id, _ := envelope.Current()
	_, known := envelope.Key("00000002")
	fmt.Println(id, known)
	// Output: 00000001 true
}
