package secondaryindex_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// person is an employee as the figures 07 and 10 print it: EmailAddress is a property of
// the primary, and EmployeeId one of the copy.
type person struct {
	PartitionKey string
	RowKey       string
	FirstName    string
	LastName     string
	Age          int32
	EmailAddress string `table:",omitempty"`
	EmployeeId   string `table:",omitempty"`
}

func personEmail(p *person) (string, bool) { return p.EmailAddress, p.EmailAddress != "" }

// byEmail is the copy of p in the figures.
func byEmail(p *person) person {
	c := *p
	c.EmployeeId, c.EmailAddress = strings.TrimPrefix(p.RowKey, "empid_"), ""
	return c
}

// figure07 and figure10 are the indexes of the figures; figure08 and figure11 slim ones.
func figure07(t testing.TB, only ...string) *secondaryindex.Index[person] {
	return secondaryindex.Intra("email", personEmail, &secondaryindex.Options[person]{
		Copy: byEmail,
		Only: only,
		Owner: func(c *person, at keys.Key) (keys.Key, bool) {
			return keys.Key{Partition: at.Partition, Row: "empid_" + c.EmployeeId}, c.EmployeeId != ""
		},
	})
}

func figure10(t testing.TB, only ...string) *secondaryindex.Index[person] {
	return secondaryindex.Inter("email", nil, personEmail, &secondaryindex.Options[person]{
		Copy: byEmail,
		Only: only,
		Owner: func(c *person, at keys.Key) (keys.Key, bool) {
			return keys.Key{Partition: "empid_" + strings.TrimPrefix(at.Partition, "email_"), Row: c.EmployeeId}, c.EmployeeId != ""
		},
		Partition: func(partition, _ string) string { return "email_" + strings.TrimPrefix(partition, "empid_") },
	})
}

// put stores a row with aztables alone.
func put(t testing.TB, c *aztables.Client, row string) {
	t.Helper()
	assert.NoError(t, assert.ErrorOf(c.UpsertEntity(t.Context(), []byte(row), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})))
}

// rowsByHand returns all rows without Timestamp, ETag and the list of views of a primary,
// by keys.
func rowsByHand(t testing.TB, c *aztables.Client) map[string]map[string]any {
	t.Helper()
	rows := map[string]map[string]any{}
	for _, body := range harness.Rows(t, c) {
		var row map[string]any
		assert.NoError(t, json.Unmarshal(body, &row))
		key := row["PartitionKey"].(string) + "/" + row["RowKey"].(string)
		maps.DeleteFunc(row, func(name string, _ any) bool {
			return strings.Contains(name, "odata.") || name == "Timestamp" || name == "PartitionKey" || name == "RowKey" || name == "azp_views"
		})
		rows[key] = row
	}
	return rows
}

func wantRows(t testing.TB, c *aztables.Client, want map[string]map[string]any) {
	t.Helper()
	got := rowsByHand(t, c)
	if !maps.EqualFunc(got, want, func(a, b map[string]any) bool { return maps.Equal(a, b) }) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// layouts are the four figures: keys of the primary and of the copy, and an index.
var layouts = map[string]struct {
	primary keys.Key
	copies  string // partition and lead of the row keys
	index   func(testing.TB, ...string) *secondaryindex.Index[person]
	only    []string
}{
	"07": {keys.Key{Partition: "Sales", Row: "empid_000223"}, "Sales/email_", figure07, nil},
	"08": {keys.Key{Partition: "Sales", Row: "empid_000223"}, "Sales/email_", figure07, []string{"FirstName", "LastName", "EmployeeId"}},
	"10": {keys.Key{Partition: "empid_Sales", Row: "000223"}, "email_Sales/", figure10, nil},
	"11": {keys.Key{Partition: "empid_Sales", Row: "000223"}, "email_Sales/", figure10, []string{"FirstName", "LastName", "EmployeeId"}},
}

func TestTheRowsOfTheGuideAreReadChangedAndDeletedInTheirLayout(t *testing.T) {
	for figure, l := range layouts {
		t.Run(figure, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				ctx, client := t.Context(), b.Table(t)
				pk, lead, _ := strings.Cut(l.copies, "/")
				age := `,"Age":34`
				if l.only != nil {
					age = ""
				}
				put(t, client, `{"PartitionKey":"`+l.primary.Partition+`","RowKey":"`+l.primary.Row+`","FirstName":"Mary","LastName":"Jones","Age":34,"EmailAddress":"jonesj@contoso.com"}`)
				put(t, client, `{"PartitionKey":"`+pk+`","RowKey":"`+lead+`jonesj@contoso.com","FirstName":"Mary","LastName":"Jones"`+age+`,"EmployeeId":"000223"}`)
				rows := func(age int32, email string) map[string]map[string]any {
					c := map[string]any{"FirstName": "Mary", "LastName": "Jones", "EmployeeId": "000223"}
					if l.only == nil {
						c["Age"] = float64(age)
					}
					return map[string]map[string]any{
						l.primary.Partition + "/" + l.primary.Row: {"FirstName": "Mary", "LastName": "Jones", "Age": float64(age), "EmailAddress": email},
						l.copies + email: c,
					}
				}

				index := l.index(t, l.only...)
				store := newPersonStore(t, client, index)
				r := index.On(store)
				e, err := r.Get(ctx, l.primary.Partition, "jonesj@contoso.com")
				if err != nil || e.Primary != l.primary || e.Value.EmployeeId != "000223" {
					t.Fatalf("before the Store has written: %+v, %v", e, err)
				}
				item, fresh, err := r.GetFresh(ctx, l.primary.Partition, "jonesj@contoso.com", nil)
				assert.NoError(t, err)
				assert.Equal(assert.Now(t), fresh, secondaryindex.Fresh)
				update := func(change func(*person)) {
					t.Helper()
					assert.NoError(t, assert.ErrorOf(store.Update(ctx, l.primary, func(p *person) error { change(p); return nil })))
				}
				update(func(p *person) { p.Age = 35 })
				wantRows(t, client, rows(35, "jonesj@contoso.com"))
				update(func(p *person) { p.EmailAddress = "mary@contoso.com" })
				wantRows(t, client, rows(35, "mary@contoso.com"))

				// A program that was written by hand replaces both rows.
				put(t, client, `{"PartitionKey":"`+l.primary.Partition+`","RowKey":"`+l.primary.Row+`","FirstName":"Mary","LastName":"Jones","Age":36,"EmailAddress":"mary@contoso.com"}`)
				update(func(p *person) { p.Age++ })
				wantRows(t, client, rows(37, "mary@contoso.com"))

				other := item.Value
				other.RowKey, other.EmailAddress = strings.Replace(other.RowKey, "223", "224", 1), "mary@contoso.com"
				assert.WantError(t, assert.ErrorOf(store.Insert(ctx, &other)), patterns.ErrExists, "a second primary with the value")
				copyKey := keys.Key{Partition: pk, Row: lead + "mary@contoso.com"}
				if _, err := store.Update(ctx, copyKey, func(p *person) error { p.Age++; return nil }); !errors.Is(err, patterns.ErrBadKey) {
					t.Errorf("a copy is not an entity: %v", err)
				}
				entries := assert.All(t, r.Query(ctx, "", secondaryindex.Prefix("m").In(pk), nil))
				assert.Equal(assert.Now(t), len(entries), 1)
				assert.Equal(t, entries[0].Primary, l.primary)
				assert.NoError(t, store.Delete(ctx, l.primary))
				wantRows(t, client, map[string]map[string]any{})
			})
		})
	}
}

// adopting is an index without Owner: rows get azp_view when they are adopted.
func adopting(t testing.TB, adopt patterns.Adopt, inter bool) *secondaryindex.Index[person] {
	o := &secondaryindex.Options[person]{Copy: byEmail, Adopt: adopt}
	if !inter {
		return secondaryindex.Intra("email", personEmail, o)
	}
	o.Partition = func(partition, _ string) string { return "email_" + strings.TrimPrefix(partition, "empid_") }
	return secondaryindex.Inter("email", nil, personEmail, o)
}

func TestAdoptSelectsWhatBecomesOfARowThatDiffers(t *testing.T) {
	for _, inter := range []bool{false, true} {
		l := layouts["07"]
		if inter {
			l = layouts["10"]
		}
		pk, lead, _ := strings.Cut(l.copies, "/")
		for _, c := range []struct {
			name  string
			adopt patterns.Adopt
			other string // added to the copy that the primary implies
			moved string // the new e-mail address
			taken bool   // the copy becomes one of the index
			fails bool
		}{
			{"an equal row is adopted", patterns.AdoptEqual, "", "", true, false},
			{"an equal row is deleted when the value changes", patterns.AdoptEqual, "", "mary@contoso.com", true, false},
			{"an equal row is adopted if others are left alone", patterns.AdoptLeave, "", "", true, false},
			{"another row is refused", patterns.AdoptEqual, `,"Boss":true`, "", false, true},
			{"another row is overwritten", patterns.AdoptOverwrite, `,"Boss":true`, "", true, false},
			{"another row is left alone", patterns.AdoptLeave, `,"Boss":true`, "", false, false},
		} {
			t.Run(c.name+map[bool]string{false: "/intra", true: "/inter"}[inter], func(t *testing.T) {
				harness.Run(t, func(t *testing.T, b *harness.Backend) {
					ctx, client := t.Context(), b.Table(t)
					put(t, client, `{"PartitionKey":"`+l.primary.Partition+`","RowKey":"`+l.primary.Row+`","FirstName":"Mary","LastName":"Jones","Age":34,"EmailAddress":"jonesj@contoso.com"}`)
					put(t, client, `{"PartitionKey":"`+pk+`","RowKey":"`+lead+`jonesj@contoso.com","FirstName":"Mary","LastName":"Jones","Age":34,"EmployeeId":"000223"`+c.other+`}`)
					before := rowsByHand(t, client)[l.copies+"jonesj@contoso.com"]
					index := adopting(t, c.adopt, inter)
					store := newPersonStore(t, client, index)
					email := "jonesj@contoso.com"
					change := func() error {
						_, err := store.Update(ctx, l.primary, func(p *person) error {
							p.Age++
							if c.moved != "" {
								p.EmailAddress, email = c.moved, c.moved
							}
							return nil
						})
						return err
					}
					if err := change(); errors.Is(err, patterns.ErrExists) != c.fails || !c.fails && err != nil {
						t.Fatalf("the first change: %v", err)
					}
					if err := change(); errors.Is(err, patterns.ErrExists) != c.fails || !c.fails && err != nil {
						t.Fatalf("the second change: %v", err)
					}
					_, err := index.On(store).Get(ctx, l.primary.Partition, email)
					assert.Equal(t, err == nil, c.taken, "the entry", err)
					rows := rowsByHand(t, client)
					got := rows[l.copies+email]
					if len(rows) != 2 || !c.taken && !maps.Equal(got, before) || c.taken && (got["Age"] != 36.0 || got["Boss"] != nil) {
						t.Errorf("the rows: %v", rows)
					}
					if c.fails {
						return
					}
					assert.NoError(t, store.Delete(ctx, l.primary))
					if rows := rowsByHand(t, client); len(rows) != map[bool]int{true: 0, false: 1}[c.taken] {
						t.Errorf("after the delete: %v", rows)
					}
				})
			})
		}
	}
}

func TestTheFirstChangeOfAnEntityWrittenByHandReadsItsCopy(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, primary := b.Table(t), layouts["07"].primary
		put(t, client, `{"PartitionKey":"Sales","RowKey":"empid_000223","FirstName":"Mary","LastName":"Jones","Age":34,"EmailAddress":"jonesj@contoso.com"}`)
		put(t, client, `{"PartitionKey":"Sales","RowKey":"email_jonesj@contoso.com","FirstName":"Mary","LastName":"Jones","Age":34,"EmployeeId":"000223"}`)
		store := newPersonStore(t, client, adopting(t, patterns.AdoptEqual, false))
		for _, requests := range []int{3, 2} { // later changes know what the row contains
			b.ResetRequests()
			assert.NoError(t, assert.ErrorOf(store.Update(t.Context(), primary, func(p *person) error { p.Age++; return nil })))
			b.WantRequestCount(t, requests)
		}
	})
}

func newPersonStore(t testing.TB, client *aztables.Client, index *secondaryindex.Index[person]) *patterns.Store[person] {
	t.Helper()
	return harness.NewStore(t, client, &patterns.StoreOptions[person]{Views: []patterns.View[person]{index}, Outbox: &harness.OutboxQueue{}})
}

// The copies of figure 07 have no marker, and are next to the primaries.
func TestAStoreReadsNoPlainCopyAsAPrimary(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		s := harness.NewStore(t, client, &patterns.StoreOptions[person]{Views: []patterns.View[person]{figure07(t)}})
		put(t, client, `{"PartitionKey":"Sales","RowKey":"empid_000223","FirstName":"Mary","EmailAddress":"jonesj@contoso.com"}`)
		put(t, client, `{"PartitionKey":"Sales","RowKey":"email_jonesj@contoso.com","FirstName":"Mary","EmployeeId":"000223"}`)
		put(t, client, `{"PartitionKey":"Sales","RowKey":"email_","FirstName":"no copy"}`)
		for _, id := range []string{"000224", "000225"} {
			assert.Must(s.Insert(ctx, &person{PartitionKey: "Sales", RowKey: "empid_" + id, FirstName: "Bob", EmailAddress: id + "@contoso.com"}))(t)
		}
		const want = "email_ empid_000223 empid_000224 empid_000225"
		all := query.PartitionKey.Eq("Sales")
		for what, opts := range map[string]*patterns.QueryOptions{"whole": nil, "selected": {Select: []string{"FirstName"}}, "small pages": {PageSize: 2}} {
			var got []string
			b.ResetRequests()
			for item, err := range s.Query(ctx, all, opts) {
				assert.NoError(t, err)
				got = append(got, item.Key.Row)
				if item.Value.FirstName == "" || opts != nil && opts.Select != nil && item.Value.EmailAddress != "" {
					t.Errorf("%s: %+v", what, item.Value)
				}
			}
			assert.Equal(t, strings.Join(got, " "), want, what, "got", got)
			if what != "small pages" {
				b.WantRequestCount(t, 1)
			}
		}
		page := assert.Must(s.Page(ctx, all, "", nil))(t)
		scanned := 0
		for p, err := range s.Scan(ctx, query.Filter{}, "", nil) {
			assert.NoError(t, err)
			scanned += len(p.Items)
		}
		assert.Equal(assert.Now(t), len(page.Items), 4)
		assert.Equal(t, scanned, 4)
		for _, email := range []string{"jonesj", "000224"} {
			at := keys.Key{Partition: "Sales", Row: "email_" + email + "@contoso.com"}
			_, err := s.Get(ctx, at)
			for _, err := range []error{err, s.Delete(ctx, at)} {
				var v *patterns.ViewError
				if !errors.Is(err, patterns.ErrBadKey) || !errors.As(err, &v) || v.View != "email" {
					t.Error(err)
				}
			}
		}
	})
}
