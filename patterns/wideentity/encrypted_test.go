package wideentity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

// chart has encrypted properties, one of which takes several pieces.
type chart struct {
	PartitionKey, RowKey string
	Ward                 string
	Email                string `table:",encrypted"`
	Scan                 []byte `table:",encrypted,omitempty"`
	Notes                struct {
		Text string
	} `table:",json,encrypted,omitempty"`
}

const aPatient = "ada-canary@example.com"

func encrypted(t testing.TB, client *aztables.Client, opts wideentity.Options[chart], ids ...string) *wideentity.Table[chart] {
	all := map[string][]byte{}
	for _, id := range ids {
		all[id] = []byte(strings.Repeat(id, 32)[:32])
	}
	opts.Encryption = &patterns.Encryption{Keys: assert.Must(encryption.RingOf(ids[0], all))(t), Table: "charts"}
	return assert.Must(wideentity.New(client, &opts))(t)
}

func aChart(id string, scan int) *chart {
	c := &chart{PartitionKey: "p", RowKey: id, Ward: "1", Email: aPatient, Scan: []byte(strings.Repeat("s", scan))}
	c.Notes.Text = "x"
	return c
}

// No row shows a value; all ways to write and read work, also of a value in pieces; a value opens in its own entity only.
func TestWideEntitiesEncryptTheirProperties(t *testing.T) {
	for _, opts := range []wideentity.Options[chart]{{Parts: 3}, {Parts: 1, Plain: true}} {
		scan := 200_000
		if opts.Plain {
			scan = 1000
		}
		harness.Run(t, func(t *testing.T, b *harness.Backend) {
			ctx, client := t.Context(), b.Table(t)
			table := encrypted(t, client, opts, "k1")
			at := keys.Key{Partition: "p", Row: "a"}
			item := assert.Must(table.Insert(ctx, aChart("a", scan)))(t)
			assert.DeepEqual(t, item.Value, *aChart("a", scan))
			for _, row := range assert.All(t, harness.NewTable[patterns.Row](t, client, nil).Query(ctx, query.PartitionKey.Eq("p"), nil)) {
				for _, name := range row.Unknown() {
					value, _ := row.Property(name)
					assert.Equal(t, strings.Contains(fmt.Sprintf("%s", value), aPatient), false, name)
				}
			}
			assert.DeepEqual(t, assert.Must(table.Get(ctx, at))(t).Value, *aChart("a", scan))
			only := assert.Must(table.GetOnly(ctx, at, "Email", "Scan"))(t)
			assert.Equal(t, only.Value.Email, aPatient)
			assert.Equal(t, len(only.Value.Scan), scan)
			b.ResetRequests()
			assert.Must(table.Update(ctx, at, func(*chart) error { return nil }))(t)
			b.WantRequestCount(t, 1) // nothing has changed
			changed := assert.Must(table.Update(ctx, at, func(c *chart) error { c.Ward, c.Notes.Text = "2", "y"; return nil }))(t)
			changed.Value.Email += "m"
			merged := assert.Must(table.Merge(ctx, changed, "Email"))(t)
			merged.Value.Scan = merged.Value.Scan[:10]
			assert.Must(table.Replace(ctx, merged))(t)
			want := aChart("a", 10)
			want.Ward, want.Notes.Text, want.Email = "2", "y", aPatient+"m"
			assert.DeepEqual(t, assert.Must(table.Get(ctx, at))(t).Value, *want)

			// A program that copies the rows of an entity copies nothing that opens.
			for _, suffix := range []string{"00", "01", "02", "03"} {
				row, err := client.GetEntity(ctx, "p", "a_"+suffix, nil)
				if err != nil {
					continue
				}
				_, err = client.AddEntity(ctx, []byte(strings.Replace(string(row.Value), `"RowKey":"a_`, `"RowKey":"b_`, 1)), nil)
				assert.NoError(t, err)
			}
			_, err := table.Get(ctx, keys.Key{Partition: "p", Row: "b"})
			assert.WantError(t, err, patterns.ErrSealed)
			assert.WantHidden(t, err, aPatient)
			_, err = encrypted(t, client, opts, "k2").Get(ctx, at)
			assert.WantError(t, err, patterns.ErrNoKey)
		})
	}
}

// Entities, and those with values in pieces, have the new key afterwards; a change meanwhile is not lost.
func TestReencryptBringsWideEntitiesToTheCurrentKey(t *testing.T) {
	for _, opts := range []wideentity.Options[chart]{{Parts: 3}, {Parts: 1, Plain: true}} {
		scan := 200_000
		if opts.Plain {
			scan = 1000
		}
		harness.Run(t, func(t *testing.T, b *harness.Backend) {
			ctx, client := t.Context(), b.Table(t)
			for _, id := range []string{"a", "b_/", "c"} {
				assert.Must(encrypted(t, client, opts, "k1").Insert(ctx, aChart(id, scan)))(t)
			}
			assert.Must(encrypted(t, client, opts, "k2").Insert(ctx, aChart("d", 10)))(t)
			assert.Must(encrypted(t, client, opts, "k0").Insert(ctx, aChart("e", 10)))(t)
			table := encrypted(t, client, opts, "k2", "k1")
			dry := assert.Must(table.Reencrypt(ctx, &patterns.SweepOptions{DryRun: true}))(t)
			assert.Equal(t, fmt.Sprint(dry.Found, dry.Done), "4 4")
			report := assert.Must(table.Reencrypt(ctx, nil))(t)
			assert.Equal(t, fmt.Sprint(report.Found, report.Done, report.Skipped, report.Failed), "4 3 0 1")
			assert.Equal(t, report.Failures[0].Key.Row, "e")
			assert.WantError(t, report.Failures[0].Err, patterns.ErrNoKey)
			for id, n := range map[string]int{"a": scan, "b_/": scan, "c": scan, "d": 10} {
				got := assert.Must(encrypted(t, client, opts, "k2").Get(ctx, keys.Key{Partition: "p", Row: id}))(t)
				assert.DeepEqual(t, got.Value, *aChart(id, n))
			}
			assert.Equal(t, assert.Must(table.Reencrypt(ctx, nil))(t).Found, 1)
		})
	}
	_, err := new(wideentity.Table[chart]).Reencrypt(t.Context(), nil)
	assert.WantError(t, err, patterns.ErrNil)
	_, err = wideentity.New[chart](nil, nil)
	assert.WantError(t, err, patterns.ErrNil)
}

// A sweep that is killed at any request can be repeated; each entity is whole all the time, under one key or the other.
func TestReencryptOfWideEntitiesSurvivesTheDeathOfItsProcess(t *testing.T) {
	for _, opts := range []wideentity.Options[chart]{{Parts: 3}, {Parts: 1, Plain: true}} {
		scan := 200_000
		if opts.Plain {
			scan = 1000
		}
		client := func(acct *storagetest.Account) *aztables.Client {
			return acct.TablesWith(harness.Accelerated()).NewClient("charts")
		}
		storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
			table := encrypted(t, client(acct), opts, "k1")
			if err := table.Create(ctx); err != nil {
				return err
			}
			for _, id := range []string{"a", "b"} {
				if _, err := table.Insert(ctx, aChart(id, scan)); err != nil {
					return err
				}
			}
			acct.Arm()
			_, err := encrypted(t, client(acct), opts, "k2", "k1").Reencrypt(ctx, nil)
			return err
		}, func(t *testing.T, acct *storagetest.Account) {
			table := encrypted(t, client(acct), opts, "k2", "k1")
			want := func(keyring ...string) {
				for _, id := range []string{"a", "b"} {
					got := assert.Must(encrypted(t, client(acct), opts, keyring...).Get(t.Context(), keys.Key{Partition: "p", Row: id}))(t)
					assert.DeepEqual(t, got.Value, *aChart(id, scan))
				}
			}
			want("k2", "k1")
			report := assert.Must(table.Reencrypt(t.Context(), nil))(t)
			assert.Equal(t, report.Failed+report.Skipped, 0)
			want("k2")
		})
	}
}
