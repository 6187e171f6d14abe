package patterns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// guideRows are the rows of a table by "partition key/row key", without these keys.
type guideRows map[string]map[string]any

// guideTable is a table of the design guide.
type guideTable struct {
	figure string
	before guideRows // as a program on aztables has stored it

	// change adopts the table with a package of the pattern, and changes it.
	change func(testing.TB, *aztables.Client)

	after guideRows // as a program on aztables reads it then
	own   string    // the names of all properties of our own, azp_…, that the rows have then
}

func TestTheTablesOfTheGuideAreAdoptedChangedAndReadByHand(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, g := range guideTables(t, b.Container(t)) {
			t.Run(g.figure, func(t *testing.T) {
				client := b.Table(t)
				g.before.mergeByHand(t, client)
				g.change(t, client)
				after, own := readGuideRows(t, client)
				for key, want := range g.after {
					if got, found := after[key]; !found || !maps.Equal(got, want) {
						t.Errorf("row %s\ngot  %v\nwant %v", key, got, want)
					}
					delete(after, key)
				}
				if len(after) > 0 {
					t.Errorf("rows that should not exist: %v", after)
				}
				assert.Equal(t, own, g.own, "properties of our own")
			})
		}
	})
}

func (rows guideRows) mergeByHand(t testing.TB, client *aztables.Client) {
	t.Helper()
	for key, properties := range rows {
		e := aztables.EDMEntity{Properties: properties}
		e.PartitionKey, e.RowKey, _ = strings.Cut(key, "/")
		assert.Must(client.UpsertEntity(t.Context(), assert.Must(json.Marshal(e))(t), nil))(t)
	}
}

// readGuideRows returns all rows of a table as aztables returns them, without the properties
// of our own, and the names of these.
func readGuideRows(t testing.TB, client *aztables.Client) (rows guideRows, own string) {
	t.Helper()
	rows = guideRows{}
	names := map[string]bool{}
	for _, body := range harness.Rows(t, client) {
		var e aztables.EDMEntity
		assert.NoError(t, json.Unmarshal(body, &e))
		maps.DeleteFunc(e.Properties, func(name string, _ any) bool {
			if ours := strings.HasPrefix(name, "azp_"); ours {
				names[name] = true
				return true
			}
			return false
		})
		rows[e.PartitionKey+"/"+e.RowKey] = e.Properties
	}
	return rows, strings.Join(slices.Sorted(maps.Keys(names)), " ")
}

// staffer is the employee of the guide.
type staffer struct {
	PartitionKey, RowKey string
	FirstName, LastName  string
	Age                  int32
	EmailAddress         string `table:",omitempty"`
}

func stafferLast(s *staffer) (string, bool) { return s.LastName, s.LastName != "" }

// person returns the properties of the figures, and more of them as pairs.
func person(first, last string, age int32, more ...string) map[string]any {
	p := map[string]any{"FirstName": first, "LastName": last, "Age": age}
	for i := 0; i < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	return p
}

// changeStore makes a Store of employees with a view. Ken leaves, Jun gets another name and
// address, and Ann is hired.
func changeStore(t testing.TB, client *aztables.Client, view patterns.View[staffer], partition, lead string) *patterns.Store[staffer] {
	t.Helper()
	ctx := t.Context()
	store := harness.NewStore(t, client, &patterns.StoreOptions[staffer]{
		Views: []patterns.View[staffer]{view}, Outbox: &harness.OutboxQueue{},
	})
	key := func(id string) keys.Key { return keys.Key{Partition: partition, Row: lead + id} }
	assert.NoError(t, store.Delete(ctx, key("000010")))
	assert.Must(store.Update(ctx, key("000223"), func(s *staffer) error {
		s.LastName, s.EmailAddress = "Hall", "junh@contoso.com"
		return nil
	}))(t)
	assert.Must(store.Insert(ctx, &staffer{PartitionKey: partition, RowKey: lead + "000301",
		FirstName: "Ann", LastName: "Hall", Age: 31, EmailAddress: "annh@contoso.com"}))(t)
	return store
}

// guideTables are the tables of the guide in the order of their figures. The figures 07, 10 and 23 are in the tests of
// secondaryindex and dataseries.
func guideTables(t testing.TB, photos *container.Client) []guideTable {
	return slices.Concat(typeTables(), listTables(), departmentTables(), keyTables(t), seriesTables(), []guideTable{photoTable(t, photos)})
}

// typeTables are two ways to store the type of an entity.
func typeTables() []guideTable {
	type employee struct{ FirstName, LastName, EmailAddress, Department, EmployeeID string }
	type customer struct{ FirstName, LastName, EmailAddress, Address, Phone string }
	table := func(name, property string) guideTable {
		rows := func(last, phone string) guideRows {
			return guideRows{
				"Sales/kenk": {property: "Employee", "FirstName": "Ken", "LastName": last, "EmailAddress": "kenk@contoso.com", "Department": "Sales", "EmployeeID": "000010"},
				"Sales/annb": {property: "Customer", "FirstName": "Ann", "LastName": "Beebe", "EmailAddress": "annb@contoso.com", "Address": "Main Street 1", "Phone": phone},
			}
		}
		return guideTable{name, rows("Kwok", "1"), func(t testing.TB, client *aztables.Client) {
			types := assert.Must(entitytype.NewRegistry(&entitytype.RegistryOptions{Property: property, Unversioned: 1}))(t)
			assert.NoError(t, errors.Join(
				entitytype.Register[employee](types, "Employee", 1, nil),
				entitytype.Register[customer](types, "Customer", 1, nil)))
			people := assert.Must(entitytype.New(client, types, nil))(t)
			for _, row := range []string{"kenk", "annb"} {
				assert.Must(people.Update(t.Context(), keys.Key{Partition: "Sales", Row: row}, func(e entitytype.Entity) error {
					switch v := e.Value.(type) {
					case *employee:
						v.LastName = "Quock"
					case *customer:
						v.Phone = "2"
					}
					return nil
				}))(t)
			}
		}, rows("Quock", "2"), ""}
	}
	return []guideTable{table("04 types of people", "PersonType"), table("H1 types of entities", "EntityType")}
}

// listTables are index entities: the employees with a last name, in one property.
func listTables() []guideTable {
	before := guideRows{
		"Sales/000010": person("Ken", "Kwok", 23, "EmailAddress", "kenk@contoso.com"),
		"Sales/000152": person("Don", "Hall", 34, "EmailAddress", "donh@contoso.com"),
		"Sales/000223": person("Jun", "Cao", 47, "EmailAddress", "junc@contoso.com"),
	}
	after := guideRows{
		"Sales/000152": before["Sales/000152"],
		"Sales/000223": person("Jun", "Hall", 47, "EmailAddress", "junh@contoso.com"),
		"Sales/000301": person("Ann", "Hall", 31, "EmailAddress", "annh@contoso.com"),
	}
	with := func(rows guideRows, partition, property string, lists map[string]string) guideRows {
		rows = maps.Clone(rows)
		for name, list := range lists {
			rows[partition+name] = map[string]any{property: list}
		}
		return rows
	}
	return []guideTable{
		{"14 lists in the partition",
			with(before, "Sales/", "EmployeeIDs", map[string]string{"Kwok": "000010", "Hall": "000152", "Cao": "000223"}),
			func(t testing.TB, client *aztables.Client) {
				index := indexentity.Intra("lastname", stafferLast, &indexentity.Options[staffer]{
					Property: "EmployeeIDs", Separator: ",", Bare: true, Plain: true,
				})
				changeStore(t, client, index, "Sales", "")
			},
			with(after, "Sales/", "EmployeeIDs", map[string]string{"Hall": "000152,000223,000301"}), "azp_views"},

		{"15 lists in a partition of their own",
			with(before, "indexentities/", "EmployeeDetails", map[string]string{"Kwok": "Sales/000010", "Hall": "Sales/000152", "Cao": "Sales/000223"}),
			func(t testing.TB, client *aztables.Client) {
				index := indexentity.Inter("lastname", nil, stafferLast, &indexentity.Options[staffer]{
					Property: "EmployeeDetails", Separator: ",", Plain: true,
					Partition: func(_, _ string) string { return "indexentities" },
				})
				changeStore(t, client, index, "Sales", "")
			},
			with(after, "indexentities/", "EmployeeDetails", map[string]string{"Hall": "Sales/000152,Sales/000223,Sales/000301"}), "azp_views"},
	}
}

// departmentTables contain employees and their department.
func departmentTables() []guideTable {
	employees := guideRows{
		"Sales/000010": person("Ken", "Kwok", 23, "EmailAddress", "kenk@contoso.com"),
		"Sales/000223": person("Jun", "Cao", 47, "EmailAddress", "junc@contoso.com"),
	}
	after := guideRows{
		"Sales/000223": person("Jun", "Hall", 47, "EmailAddress", "junh@contoso.com"),
		"Sales/000301": person("Ann", "Hall", 31, "EmailAddress", "annh@contoso.com"),
	}
	with := func(rows guideRows, department map[string]any) guideRows {
		rows = maps.Clone(rows)
		rows["Sales/Department"] = department
		return rows
	}
	type manager struct{ ManagerName, ManagerEmailAddress string }
	return []guideTable{
		{"17 department with its manager",
			with(employees, map[string]any{"DepartmentName": "Sales", "EmployeeCount": int32(153), "ManagerName": "Jun Cao", "ManagerEmailAddress": "junc@contoso.com"}),
			func(t testing.TB, client *aztables.Client) {
				view := denormalize.Intra("manager", denormalize.Into(func(s *staffer) (keys.Key, manager, bool) {
					return keys.Key{Partition: s.PartitionKey, Row: "Department"}, manager{s.FirstName + " " + s.LastName, s.EmailAddress}, s.RowKey == "000223"
				}), nil)
				changeStore(t, client, view, "Sales", "")
			},
			with(after, map[string]any{"DepartmentName": "Sales", "EmployeeCount": int32(153), "ManagerName": "Jun Hall", "ManagerEmailAddress": "junh@contoso.com"}),
			"azp_merged azp_views"},

		{"17 department with its size",
			with(employees, map[string]any{"DepartmentName": "Sales", "EmployeeCount": int32(2)}),
			func(t testing.TB, client *aztables.Client) {
				view := denormalize.Intra("size", denormalize.Count("EmployeeCount", func(s *staffer) (keys.Key, bool) {
					return keys.Key{Partition: s.PartitionKey, Row: "Department"}, true
				}), nil)
				// Each entity is counted when it is added to the view, so the count begins with zero.
				guideRows{"Sales/Department": {"EmployeeCount": int32(0)}}.mergeByHand(t, client)
				changeStore(t, client, view, "Sales", "")
			},
			with(after, map[string]any{"DepartmentName": "Sales", "EmployeeCount": int32(2)}),
			"azp_views"},
	}
}

// keyTables have keys of several parts.
func keyTables(t testing.TB) []guideTable {
	type review struct {
		PartitionKey, RowKey      string
		FirstName, LastName       string
		Age                       int32
		EmailAddress              string
		ManagerRating, PeerRating int32
		Comments                  string
	}
	type login struct {
		SourceIPAddress string
		SuccessfulLogin bool
	}
	rated := func(manager int32, comments string) map[string]any {
		p := person("Jun", "Cao", 47, "EmailAddress", "junc@contoso.com", "Comments", comments)
		p["ManagerRating"], p["PeerRating"] = manager, int32(4)
		return p
	}
	logins := guideRows{ // on 2014-07-31 at 18:00 and 19:00, by inverted ticks
		"junc/" + invertedTicks(t, 18): {"SourceIPAddress": "192.0.2.1", "SuccessfulLogin": false},
		"junc/" + invertedTicks(t, 19): {"SourceIPAddress": "192.0.2.1", "SuccessfulLogin": true},
	}
	after := maps.Clone(logins)
	return []guideTable{
		{"20 employee and reviews", guideRows{
			"Sales/000123":      person("Jun", "Cao", 47, "EmailAddress", "junc@contoso.com"),
			"Sales/000123_2011": rated(3, "good"),
			"Sales/000123_2012": rated(4, "better"),
		}, func(t testing.TB, client *aztables.Client) {
			family := assert.Must(compoundkey.New(client,
				func(s *staffer) compoundkey.ID { return compoundkey.ID{Partition: s.PartitionKey, Parent: s.RowKey} },
				func(r *review) (compoundkey.ID, string) {
					id, year, _ := strings.Cut(r.RowKey, "_")
					return compoundkey.ID{Partition: r.PartitionKey, Parent: id}, year
				}, &compoundkey.Options{BareParent: true}))(t)
			id := compoundkey.ID{Partition: "Sales", Parent: "000123"}
			if jun := assert.Must(family.Get(t.Context(), id))(t); jun.Parent.Value.LastName != "Cao" || len(jun.Children) != 2 {
				t.Errorf("%+v", jun)
			}
			_, _, err := family.Update(t.Context(), id, "2012", func(s *staffer, r *review) error {
				s.Age, r.ManagerRating = 48, 5
				return nil
			})
			assert.NoError(t, err)
			assert.Must(family.AddChild(t.Context(), &review{PartitionKey: "Sales", RowKey: "000123_2013", FirstName: "Jun", LastName: "Cao", Age: 47,
				EmailAddress: "junc@contoso.com", ManagerRating: 2, PeerRating: 4, Comments: "worse"}))(t)
		}, guideRows{
			"Sales/000123":      person("Jun", "Cao", 48, "EmailAddress", "junc@contoso.com"),
			"Sales/000123_2011": rated(3, "good"),
			"Sales/000123_2012": rated(5, "better"),
			"Sales/000123_2013": rated(2, "worse"),
		}, ""},

		{"21 logins, newest first", logins, func(t testing.TB, client *aztables.Client) {
			log := assert.Must(logtail.New[login](client, nil))(t)
			if newest := assert.All(t, log.Tail(t.Context(), "junc", 1)); len(newest) != 1 || !newest[0].Value.SuccessfulLogin {
				t.Errorf("%+v", newest)
			}
			added := assert.Must(log.Append(t.Context(), "junc", &login{"192.0.2.2", true}))(t)
			after[added.Key.Partition+"/"+added.Key.Row] = map[string]any{"SourceIPAddress": "192.0.2.2", "SuccessfulLogin": true}
		}, after, ""},
	}
}

func invertedTicks(t testing.TB, hour int) string {
	return assert.Must(keys.InvertedTicks(time.Date(2014, 7, 31, hour, 0, 0, 0, time.UTC)))(t)
}

// seriesTables have a property for each day.
func seriesTables() []guideTable {
	// The figure has 252 days in the first row, all properties that a row can have.
	part := func(property string) int {
		var day int
		_, _ = fmt.Sscanf(property, "MesssageCountDay%d", &day)
		return (day-1)/252 + 1
	}
	days := func(last int32) guideRows {
		rows := guideRows{"Sales/000123_01": {}, "Sales/000123_02": {}}
		for d := 1; d <= 365; d++ {
			name := fmt.Sprintf("MesssageCountDay%02d", d)
			rows[fmt.Sprintf("Sales/000123_%02d", part(name))][name] = int32(d)
		}
		rows["Sales/000123_02"]["MesssageCountDay365"] = last
		return rows
	}
	changed := days(1365)
	changed["Sales/000123_00"] = map[string]any{}
	return []guideTable{
		{"24 days in two rows", days(365), func(t testing.TB, client *aztables.Client) {
			years := assert.Must(wideentity.New(client, &wideentity.Options[map[string]any]{Parts: 2, Plain: true, PartOf: part}))(t)
			assert.Must(years.Update(t.Context(), keys.Key{Partition: "Sales", Row: "000123"}, func(year *map[string]any) error {
				(*year)["MesssageCountDay365"] = int32(1365)
				return nil
			}))(t)
		}, changed, "azp_layout azp_parts azp_version"},
	}
}

// photoTable contains the addresses of blobs.
func photoTable(t testing.TB, photos *container.Client) guideTable {
	type staffPhoto struct {
		PartitionKey, RowKey string
		FirstName, LastName  string
		Age                  int32
		Photo                []byte `table:"PhotoContent,blob"`
	}
	base, _, _ := strings.Cut(photos.URL(), "?")
	assert.Must(photos.NewBlockBlobClient("ken.jpg").UploadBuffer(t.Context(), []byte("photo of Ken"), nil))(t)
	rows := func(age int32) guideRows {
		return guideRows{"Sales/kenk@contoso.com": person("Ken", "Kwok", age, "Photo", base+"/ken.jpg")}
	}
	return guideTable{"25 address of a photo", rows(23), func(t testing.TB, client *aztables.Client) {
		staff := assert.Must(largeentity.New(client, photos, &largeentity.Options[staffPhoto]{
			Addresses: map[string]string{"PhotoContent": "Photo"},
		}))(t)
		ken := assert.Must(staff.Update(t.Context(), keys.Key{Partition: "Sales", Row: "kenk@contoso.com"}, func(s *staffPhoto) error {
			s.Age = 24
			return nil
		}))(t)
		assert.Equal(t, string(ken.Value.Photo), "photo of Ken", "the photo is", ken.Value.Photo)
	}, rows(24), "azp_stamp"}
}
