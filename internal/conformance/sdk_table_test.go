package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func (s *session) put(pk, rk string, properties map[string]any) {
	_, err := s.table.UpsertEntity(s.ctx, entity(pk, rk, properties), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	assert.NoError(s, err, rk)
}

func (s *session) get(pk, rk string) (got map[string]any) {
	res, err := s.table.GetEntity(s.ctx, pk, rk, nil)
	assert.NoError(s, err, rk)
	assert.NoError(s, json.Unmarshal(res.Value, &got))
	return got
}

// rows reads all pages of a query, and returns the keys as "pk/rk" and the number of pages.
func (s *session) rows(filter string, top int32) (keys []string, pages int) {
	o := &aztables.ListEntitiesOptions{Select: to.Ptr("PartitionKey,RowKey")}
	if filter != "" {
		o.Filter = &filter
	}
	if top > 0 {
		o.Top = &top
	}
	for pager := s.table.NewListEntitiesPager(o); pager.More(); pages++ {
		page, err := pager.NextPage(s.ctx)
		assert.NoError(s, err, filter)
		for _, b := range page.Entities {
			var e aztables.Entity
			assert.NoError(s, json.Unmarshal(b, &e))
			keys = append(keys, e.PartitionKey+"/"+e.RowKey)
		}
	}
	return keys, pages
}

func entity(pk, rk string, properties map[string]any) []byte {
	all := map[string]any{"PartitionKey": pk, "RowKey": rk}
	for name, value := range properties {
		all[name] = value
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // the properties in these tests can be encoded
	}
	return b
}

var tablePrograms = []program{
	{"EDMEntity keeps every type", func(s *session) {
		when := time.Date(2020, 1, 2, 3, 4, 5, 123456700, time.UTC)
		b := assert.Must(json.Marshal(aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: "p", RowKey: "r"}, Properties: map[string]any{
			"S": "x", "I": int32(7), "L": aztables.EDMInt64(9007199254740993), "D": 1.5, "B": true,
			"T": aztables.EDMDateTime(when), "G": aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833"), "X": aztables.EDMBinary{1, 2, 3},
		}}))(s)
		assert.NoError(s, assert.ErrorOf(s.table.AddEntity(s.ctx, b, nil)))
		res := assert.Must(s.table.GetEntity(s.ctx, "p", "r", nil))(s)
		var got aztables.EDMEntity
		assert.NoError(s, json.Unmarshal(res.Value, &got))
		s.check(
			same("S", got.Properties["S"], "x"), same("I", got.Properties["I"], int32(7)), same("L", got.Properties["L"], aztables.EDMInt64(9007199254740993)),
			same("D", got.Properties["D"], 1.5), same("B", got.Properties["B"], true), same("X", got.Properties["X"], aztables.EDMBinary{1, 2, 3}),
			same("T", time.Time(got.Properties["T"].(aztables.EDMDateTime)), when), same("G", got.Properties["G"], aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833")),
			same("the ETag", got.ETag, string(res.ETag)),
		)
	}},
	{"AddEntity of an existing row", func(s *session) {
		s.put("p", "r", nil)
		_, err := s.table.AddEntity(s.ctx, entity("p", "r", nil), nil)
		s.check(refused(err, 409, string(aztables.EntityAlreadyExists)))
	}},
	{"GetEntity of a missing row", func(s *session) {
		_, err := s.table.GetEntity(s.ctx, "p", "r", nil)
		s.check(refused(err, 404, string(aztables.ResourceNotFound)))
	}},
	{"GetEntity from a missing table", func(s *session) {
		_, err := s.tables.NewClient(s.name+"none").GetEntity(s.ctx, "p", "r", nil)
		s.check(refused(err, 404, string(aztables.TableNotFound)))
	}},
	{"UpdateEntity with the version that was read", func(s *session) {
		added := assert.Must(s.table.AddEntity(s.ctx, entity("p", "r", map[string]any{"A": 1}), nil))(s)
		options := &aztables.UpdateEntityOptions{IfMatch: &added.ETag, UpdateMode: aztables.UpdateModeMerge}
		assert.NoError(s, assert.ErrorOf(s.table.UpdateEntity(s.ctx, entity("p", "r", map[string]any{"B": 2}), options)))
		_, err := s.table.UpdateEntity(s.ctx, entity("p", "r", map[string]any{"B": 3}), options)
		got := s.get("p", "r")
		s.check(refused(err, 412, string(aztables.UpdateConditionNotSatisfied)), same("A", got["A"], 1.0), same("B", got["B"], 2.0))
	}},
	{"UpdateEntity of a missing row", func(s *session) {
		_, err := s.table.UpdateEntity(s.ctx, entity("p", "r", nil), nil)
		s.check(refused(err, 404, string(aztables.ResourceNotFound)))
	}},
	{"UpsertEntity replaces or merges", func(s *session) {
		merge := &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeMerge}
		s.put("p", "r", map[string]any{"A": 1})
		assert.NoError(s, assert.ErrorOf(s.table.UpsertEntity(s.ctx, entity("p", "r", map[string]any{"B": 2}), merge)))
		merged := s.get("p", "r")
		s.put("p", "r", map[string]any{"C": 3})
		replaced := s.get("p", "r")
		s.check(same("A", merged["A"], 1.0), same("A after the replace", replaced["A"], nil), same("C", replaced["C"], 3.0))
	}},
	{"DeleteEntity with an outdated version", func(s *session) {
		s.put("p", "r", nil)
		_, err := s.table.DeleteEntity(s.ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: to.Ptr(azcore.ETag(`W/"datetime'2001-01-01T00%3A00%3A00.0000000Z'"`))})
		assert.NoError(s, refused(err, 412, string(aztables.UpdateConditionNotSatisfied)))
		assert.NoError(s, assert.ErrorOf(s.table.DeleteEntity(s.ctx, "p", "r", nil)))
	}},
	{"keys that need encoding", func(s *session) {
		for _, key := range []string{"it's", "a b", "100%", "a+b", "a&b=c", "é😀", "(x)", "a;b", "a,b", "@", "$x", "~`^|<>[]{}\"!*:"} {
			s.put("p", key, map[string]any{"K": key})
			found, _ := s.rows("RowKey eq '"+strings.ReplaceAll(key, "'", "''")+"'", 0)
			s.check(same("RowKey", s.get("p", key)["RowKey"], key), same("found", found, []string{"p/" + key}))
		}
	}},
	{"a page holds 1,000 rows at most", func(s *session) {
		numbered(s, "p", 1001)
		keys, pages := s.rows("", 0)
		s.check(same("rows", len(keys), 1001), same("pages", pages, 2), same("the first", keys[0], "p/0000"))
	}},
	{"Top is the size of a page", func(s *session) {
		numbered(s, "p", 25)
		keys, pages := s.rows("N ge 5", 10)
		s.check(same("rows", len(keys), 20), same("pages", pages, 2))
	}},
	{"tables are listed in pages", func(s *session) {
		names := []string{s.name + "a", s.name + "b", s.name + "c"}
		for _, name := range names {
			assert.NoError(s, assert.ErrorOf(s.tables.CreateTable(s.ctx, name, nil)))
		}
		var found []string
		o := &aztables.ListTablesOptions{Filter: to.Ptr(fmt.Sprintf("TableName gt '%s' and TableName le '%sz'", s.name, s.name)), Top: to.Ptr(int32(2))}
		for pager := s.tables.NewListTablesPager(o); pager.More(); {
			page := assert.Must(pager.NextPage(s.ctx))(s)
			for _, table := range page.Tables {
				found = append(found, *table.Name)
			}
		}
		for _, name := range names {
			assert.NoError(s, assert.ErrorOf(s.tables.DeleteTable(s.ctx, name, nil)))
		}
		s.check(same("tables", found, names))
	}},
	{"access policies of a table", func(s *session) {
		start, end := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
		_, err := s.table.SetAccessPolicy(s.ctx, &aztables.SetAccessPolicyOptions{TableACL: []*aztables.SignedIdentifier{
			{ID: to.Ptr("one"), AccessPolicy: &aztables.AccessPolicy{Start: &start, Expiry: &end, Permission: to.Ptr("raud")}},
		}})
		assert.NoError(s, err)
		res := assert.Must(s.table.GetAccessPolicy(s.ctx, nil))(s)
		s.check(same("policies", len(res.SignedIdentifiers), 1), same("id", *res.SignedIdentifiers[0].ID, "one"), same("permission", *res.SignedIdentifiers[0].AccessPolicy.Permission, "raud"))
	}},
	{"a shared access signature for tables", func(s *session) {
		key := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(s)
		signature := assert.Must(aztables.AccountSASSignatureValues{
			Protocol: aztables.SASProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour), Services: "t",
			Permissions: "r", ResourceTypes: "o",
		}.Sign(key))(s)
		s.put("p", "r", nil)
		service := assert.Must(aztables.NewServiceClientWithNoCredential(s.tablesURL+"/?"+signature.Encode(), &aztables.ClientOptions{ClientOptions: s.options}))(s)
		reader := service.NewClient(s.name)
		_, readErr := reader.GetEntity(s.ctx, "p", "r", nil)
		_, writeErr := reader.AddEntity(s.ctx, entity("p", "new", nil), nil)
		s.check(readErr, refused(writeErr, 403, "AuthorizationPermissionMismatch"))
	}},
}
