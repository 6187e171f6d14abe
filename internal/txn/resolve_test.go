package txn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/types"
)

const otherVersion = `W/"datetime'2026-01-02T03%3A04%3A05.1234567Z'"`

// Each case has the stored row of a write whose response was lost, and what the row proves about the write.
func TestResolveReturnsWhatTheStoredRowProves(t *testing.T) {
	write := func(kind wire.Kind, etag, properties string) txn.Change {
		c := txn.Change{Write: wire.Write{Kind: kind, PartitionKey: "p", RowKey: "r", ETag: etag}, Op: kind.String()}
		if kind != wire.Delete {
			c.Body = []byte(row(properties))
		}
		return c
	}
	stamped := func(c txn.Change, id, base string) txn.Change { c.ID, c.Base = id, base; return c }
	ifExists := func(c txn.Change) txn.Change { c.IfExists = true; return c }
	repeatable := func(c txn.Change) txn.Change { c.Repeatable = true; return c }
	const applied, superseded, refused, unknown = "applied", "applied and superseded", "refused", "unknown"
	for _, c := range []struct {
		what       string
		stored     string // the properties of the row, "-" if there is no row
		change     txn.Change
		unanswered bool // an attempt had no response
		want       string
	}{
		{"an insert whose content is stored", `"N":1`, write(wire.Insert, "", `"N":1`), true, unknown},
		{"an insert of a put whose content is stored", `"N":1`, repeatable(write(wire.Insert, "", `"N":1`)), true, applied},
		{"an insert of which another content is stored", `"N":2`, write(wire.Insert, "", `"N":1`), true, unknown},
		{"an insert without a row", "-", write(wire.Insert, "", `"N":1`), true, unknown},
		{"a replace whose content is stored", `"N":1`, write(wire.Replace, otherVersion, `"N":1`), true, unknown},
		{"a merge whose content is stored", `"N":1`, write(wire.Merge, otherVersion, `"N":1`), true, unknown},
		{"a replace of any version whose content is stored", `"N":1`, write(wire.Replace, "*", `"N":1`), true, applied},
		{"a replace of any version of a row with more properties", `"N":1,"M":1`, write(wire.Replace, "*", `"N":1`), true, unknown},
		{"an upsert of a row with more properties", `"N":1,"M":1`, write(wire.InsertOrMerge, "", `"N":1`), true, applied},
		{"a replace of a row that has not changed", `"N":2`, write(wire.Replace, "stored", `"N":1`), false, refused},
		{"a late replace of a row that has not changed", `"N":2`, write(wire.Replace, "stored", `"N":1`), true, unknown},
		{"a delete of a row that has not changed", `"N":2`, write(wire.Delete, "stored", ""), false, refused},
		{"a delete without a row", "-", write(wire.Delete, "*", ""), true, unknown},
		{"a delete if exists without a row", "-", ifExists(write(wire.Delete, "*", "")), true, applied},
		{"a stamped write whose stamp is stored", `"N":1,"azp_stamp":"me.base"`, stamped(write(wire.Replace, otherVersion, `"N":1,"azp_stamp":"me.base"`), "me", "base"), true, applied},
		{"a stamped write that another write followed", `"N":2,"azp_stamp":"other.me.base"`, stamped(write(wire.Replace, otherVersion, `"N":1,"azp_stamp":"me.base"`), "me", "base"), true, superseded},
		{"a stamped write of which another write took the base", `"N":1,"azp_stamp":"other.base"`, stamped(write(wire.Replace, otherVersion, `"N":1,"azp_stamp":"me.base"`), "me", "base"), true, refused},
		{"a stamped write after many others", `"N":1,"azp_stamp":"other"`, stamped(write(wire.Replace, otherVersion, `"N":1,"azp_stamp":"me.base"`), "me", "base"), true, unknown},
	} {
		account := storagetest.New(t)
		client := account.TablesWith(harness.Accelerated()).NewClient("Rows")
		assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), nil)))
		etag := ""
		if c.stored != "-" {
			reply := assert.Must(client.AddEntity(t.Context(), []byte(row(c.stored)), nil))(t)
			etag = string(reply.ETag)
		}
		if c.change.ETag == "stored" {
			c.change.ETag = etag
		}
		account.ResetLog()
		lost := &types.Error{Op: c.change.Op, Unsure: true, Unanswered: c.unanswered}
		etags, err := txn.Resolve(t.Context(), wire.NewClient(client), []txn.Change{c.change}, lost)
		var e *types.Error
		got := ""
		switch {
		case errors.Is(err, azerr.ErrOutcomeUnknown):
			got = unknown
		case errors.As(err, &e) && !e.Unsure:
			got = refused
		case err != nil:
			got = fmt.Sprint(err)
		case c.change.Kind == wire.Delete, etags[0] == etag:
			got = applied
		case etags[0] == txn.SupersededETag:
			got = superseded
		}
		assert.Equal(t, got, c.want, c.what, etags, err)
		assert.Equal(t, len(account.Log()), 1, c.what, "requests, want 1")
	}
}

func row(properties string) string {
	return `{"PartitionKey":"p","RowKey":"r",` + properties + `}`
}

func TestResolveCombinesTheRowsOfATransaction(t *testing.T) {
	account := storagetest.New(t)
	client := account.TablesWith(harness.Accelerated()).NewClient("Rows")
	assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), nil)))
	reply, err := client.AddEntity(t.Context(), []byte(row(`"N":1,"azp_stamp":"me"`)), nil)
	assert.NoError(t, err)
	equal := txn.Change{Write: wire.Write{Kind: wire.InsertOrReplace, PartitionKey: "p", RowKey: "r", Body: []byte(row(`"N":1`))}}
	proof := txn.Change{ID: "me", Write: wire.Write{Kind: wire.Insert, PartitionKey: "p", RowKey: "r", Body: []byte(row(`"N":1,"azp_stamp":"me"`))}}
	unproven := txn.Change{Write: wire.Write{Kind: wire.Insert, PartitionKey: "p", RowKey: "none", Body: []byte(`{"PartitionKey":"p","RowKey":"none"}`)}}
	deletion := txn.Change{Write: wire.Write{Kind: wire.Delete, PartitionKey: "p", RowKey: "none", ETag: "*"}}
	unchanged := txn.Change{Write: wire.Write{Kind: wire.Delete, PartitionKey: "p", RowKey: "r", ETag: string(reply.ETag)}}
	lost := &types.Error{Op: "batch", Unsure: true}
	resolve := func(changes ...txn.Change) ([]string, error) {
		return txn.Resolve(t.Context(), wire.NewClient(client), changes, lost)
	}
	if etags, err := resolve(proof, deletion); err != nil || etags[0] != string(reply.ETag) || etags[1] != "" {
		t.Errorf("a proof and a deleted row: %q, %v", etags, err)
	}
	assert.Equal(t, assert.Must(resolve(proof, unproven))(t)[1], txn.SupersededETag)
	for _, other := range []txn.Change{unproven, deletion, {IfExists: true, Write: deletion.Write}} {
		assert.WantError(t, assert.ErrorOf(resolve(equal, other)), azerr.ErrOutcomeUnknown, "equal content, and a missing row")
	}
	var e *types.Error
	if _, err := resolve(unproven, unchanged); !errors.As(err, &e) || e.Unsure {
		t.Errorf("an unchanged row: %v", err)
	}
	account.Fault(storagetest.On("Table.Get").Status(403, "AuthorizationFailure"))
	_, err = resolve(proof)
	var service *azcore.ResponseError
	if !errors.Is(err, azerr.ErrOutcomeUnknown) || !errors.As(err, &service) || service.StatusCode != 403 {
		t.Errorf("rows that cannot be read: %v", err)
	}
}

func TestNextStampsKeepsTheNewestStamps(t *testing.T) {
	base := "new"
	var ids []string
	for range 20 {
		id, stamps := txn.NextStamps(base)
		ids = append([]string{id}, ids...)
		for i, got := range splitStamps(stamps) {
			want := "new"
			if i < len(ids) {
				want = ids[i]
			}
			assert.Equal(assert.Now(t), got, want, "stamp", i, "of", stamps, "is")
		}
		assert.Equal(assert.Now(t), len(splitStamps(stamps)), min(len(ids)+1, 8), "stamps after", len(ids), "writes")
		base = stamps
	}
	if id, stamps := txn.NextStamps(""); id != stamps {
		t.Errorf("without a base the stamps are %q, want %q", stamps, id)
	}
}

func splitStamps(stamps string) []string { return strings.Split(stamps, ".") }
