package secondaryindex_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// adoptedLast is an index of values that are not unique, whose rows are adopted.
func adoptedLast(t testing.TB) *secondaryindex.Index[person] {
	return secondaryindex.Inter("last", nil, func(p *person) (string, bool) { return p.LastName, true },
		&secondaryindex.Options[person]{NonUnique: true})
}

// After the first change of an entity whose copies were written by hand crashed at any
// request, the worker leaves the copies of the entity and no others.
func TestTheFirstChangeOfAdoptedRowsMayCrashAnywhere(t *testing.T) {
	primary := keys.Key{Partition: "empid_Sales", Row: "000223"}
	byHand := []string{
		`{"PartitionKey":"empid_Sales","RowKey":"000223","FirstName":"Mary","LastName":"Jones","Age":34,"EmailAddress":"jonesj@contoso.com"}`,
		`{"PartitionKey":"email_Sales","RowKey":"jonesj@contoso.com","FirstName":"Mary","LastName":"Jones","Age":34,"EmployeeId":"000223"}`,
		`{"PartitionKey":"last_empid_Sales","RowKey":"Jones  000223","FirstName":"Mary","LastName":"Jones","Age":34,"EmailAddress":"jonesj@contoso.com"}`,
	}
	changes := map[string]func(context.Context, *patterns.Store[person]) error{
		"update": func(ctx context.Context, s *patterns.Store[person]) error {
			_, err := s.Update(ctx, primary, func(p *person) error {
				p.Age, p.EmailAddress = 35, "mary@contoso.com"
				return nil
			})
			return err
		},
		"rename": func(ctx context.Context, s *patterns.Store[person]) error {
			_, err := s.Update(ctx, primary, func(p *person) error { p.LastName = "Kwok"; return nil })
			return err
		},
		"delete": func(ctx context.Context, s *patterns.Store[person]) error { return s.Delete(ctx, primary) },
	}
	for layout, email := range map[string]*secondaryindex.Index[person]{"marked": adopting(t, patterns.AdoptEqual, true), "plain": figure10(t)} {
		for name, change := range changes {
			t.Run(layout+"/"+name, func(t *testing.T) {
				var messages *harness.OutboxQueue // outlives the process; the runs come one after the other
				open := func(account *storagetest.Account) (*aztables.Client, *patterns.Store[person]) {
					client := account.TablesWith(harness.Accelerated()).NewClient("Employees")
					views := []patterns.View[person]{email, adoptedLast(t)}
					return client, harness.NewStore(t, client, &patterns.StoreOptions[person]{Views: views, Outbox: messages})
				}
				storagetest.CrashPoints(t,
					func(ctx context.Context, account *storagetest.Account) error {
						messages = &harness.OutboxQueue{}
						client, store := open(account)
						if _, err := client.CreateTable(ctx, nil); err != nil {
							return err
						}
						for _, row := range byHand {
							if _, err := client.AddEntity(ctx, []byte(row), nil); err != nil {
								return err
							}
						}
						account.Arm()
						return change(ctx, store)
					},
					func(t *testing.T, account *storagetest.Account) {
						client, store := open(account)
						for messages.Len() != 0 {
							time.Sleep(time.Minute)
							assert.NoError(t, messages.Work(t.Context(), store.Handle))
						}
						want := map[string]bool{}
						item, err := store.Get(t.Context(), primary)
						if err == nil {
							p := item.Value
							want["empid_Sales/000223"] = true
							want["email_Sales/"+p.EmailAddress] = true
							want["last_empid_Sales/"+p.LastName+"  000223"] = true
						}
						got := map[string]bool{}
						for key, row := range rowsByHand(t, client) {
							got[key] = true
							if row["Age"] != float64(item.Value.Age) || row["azp_op"] != nil || row["azp_state"] != nil {
								t.Errorf("%s: %v", key, row)
							}
							if layout == "plain" && strings.HasPrefix(key, "email") && row["azp_view"] != nil {
								t.Errorf("%s has a marker", key)
							}
						}
						assert.EqualMaps(t, got, want)
					})
			})
		}
	}
}
