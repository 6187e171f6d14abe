package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
)

// rowTexts contains the rows of one table by "partition|row": the properties of each as
// JSON, sorted by name.
type rowTexts map[string]string

// readTable reads a whole table with the plain SDK.
func readTable(ctx context.Context, client *aztables.Client) (map[string]map[string]any, error) {
	rows := map[string]map[string]any{}
	pager := client.NewListEntitiesPager(nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, body := range page.Entities {
			var p map[string]any
			if err := json.Unmarshal(body, &p); err != nil {
				return nil, err
			}
			key := fmt.Sprint(p["PartitionKey"], "|", p["RowKey"])
			if strings.HasPrefix(key, "~azp|~azp_owner_") {
				continue // no row of an operation
			}
			maps.DeleteFunc(p, func(name string, _ any) bool {
				return name == "PartitionKey" || name == "RowKey" || name == "Timestamp" || strings.Contains(name, "odata.")
			})
			rows[key] = p
		}
	}
	return rows, nil
}

func show(p map[string]any) string {
	text, _ := json.Marshal(p) // sorted by name
	return string(text)
}

// hireOf decodes the row of a primary.
func hireOf(key string, p map[string]any) hire {
	dept, row, _ := strings.Cut(key, "|")
	text := func(name string) string { s, _ := p[name].(string); return s }
	age, _ := p["Age"].(float64)
	head, _ := p["Head"].(bool)
	return hire{Dept: dept, ID: strings.TrimPrefix(row, "id_"), Name: text("Name"), Email: text("Email"), Badge: text("Badge"),
		Last: text("Last"), Age: int32(age), Head: head}
}

// implied returns the derived rows of hires, by table. It is the model, and shares no code
// with the views.
func implied(hires []hire, views []string) (own, other rowTexts) {
	own, other = rowTexts{}, rowTexts{}
	lists := map[string][]string{}
	counts, years, heads := map[string]int{}, 0, map[string]hire{}
	on := func(view string) bool { return slices.Contains(views, view) }
	for _, h := range hires {
		full := fmt.Sprintf(`"Age":%d,"Badge":%q,"Dept":%q,"Email":%q,"Head":%v,"ID":%q,"Last":%q,"Name":%q,"azp_pk":%q,"azp_rk":"id_%s","azp_view":`,
			h.Age, h.Badge, h.Dept, h.Email, h.Head, h.ID, h.Last, h.Name, h.Dept, h.ID)
		if h.Email != "" && on("byEmail") {
			own[h.Dept+"|email_"+h.Email] = "{" + full + `"byEmail"}`
		}
		if h.Badge != "" && on("byBadge") {
			own["badge|"+h.Badge] = fmt.Sprintf(`{"Badge":%q,"Name":%q,"azp_pk":%q,"azp_rk":"id_%s","azp_view":"byBadge"}`, h.Badge, h.Name, h.Dept, h.ID)
		}
		if on("byName") {
			other["name_"+h.Name+"|"+h.Dept+"_"+h.ID] = "{" + full + `"byName"}`
		}
		if on("lastHere") {
			lists[h.Dept+"|last_"+h.Last] = append(lists[h.Dept+"|last_"+h.Last], h.Dept+"/id_"+h.ID)
		}
		if on("lastAll") {
			lists["lastnames|"+h.Last] = append(lists["lastnames|"+h.Last], h.Dept+"/id_"+h.ID)
		}
		counts[h.Dept]++
		years += int(h.Age)
		if h.Head {
			heads[h.Dept] = h
		}
	}
	for row, members := range lists {
		slices.Sort(members)
		var list []keys.Key
		for _, m := range members {
			pk, rk, _ := strings.Cut(m, "/")
			list = append(list, keys.Key{Partition: pk, Row: rk})
		}
		text, _ := json.Marshal(list)
		if strings.HasPrefix(row, "lastnames|") {
			other[row] = fmt.Sprintf(`{"Members":%s,"azp_view":"lastAll"}`, quote(text))
		} else {
			own[row] = fmt.Sprintf(`{"Members":%s,"azp_view":"lastHere"}`, quote(text))
		}
	}
	for dept, n := range counts {
		if !on("department") {
			break
		}
		p := map[string]any{"Count": n, "azp_state": "part"}
		if h, ok := heads[dept]; ok {
			p["HeadName"], p["HeadAge"] = h.Name, h.Age
			p["azp_merged"] = fmt.Sprintf(`{"department":{"p":%q,"r":"id_%s","n":["HeadAge","HeadName"]}}`, dept, h.ID)
		}
		own[dept+"|department"] = show(p)
	}
	if len(hires) > 0 && on("company") {
		own["company|all"] = fmt.Sprintf(`{"Count":"%d","Years":"%d","azp_state":"part"}`, len(hires), years)
	}
	if on(unmarked) {
		for _, h := range hires {
			if _, ok := own["badge|"+h.Badge]; ok {
				own["badge|"+h.Badge] = fmt.Sprintf(`{"Badge":%q,"Dept":%q,"ID":%q,"Name":%q}`, h.Badge, h.Dept, h.ID, h.Name)
			}
		}
		for _, rows := range []rowTexts{own, other} {
			for key, text := range rows {
				rows[key] = marker.ReplaceAllString(text, "")
			}
		}
	}
	return own, other
}

// marker is what the marker of a row adds to its text.
var marker = regexp.MustCompile(`(,"azp_pk":"[^"]*","azp_rk":"[^"]*")?,"azp_view":"[^"]*"`)

func quote(text []byte) string {
	q, _ := json.Marshal(string(text))
	return string(q)
}

var (
	everyView = []string{"byEmail", "byBadge", "byName", "lastHere", "lastAll", "department", "company"}
	viewsHere = []string{"byEmail", "lastHere", "department"} // whose rows are in the primary's partition
)

// verify compares all rows with what the primaries imply. Rows for which skip
// returns true are not compared.
func verify(ctx context.Context, own, other *aztables.Client, views []string, skip func(table, key string) bool) error {
	rows, err := readTable(ctx, own)
	if err != nil {
		return err
	}
	others := map[string]map[string]any{}
	if other != nil {
		if others, err = readTable(ctx, other); err != nil {
			return err
		}
	}
	var hires []hire
	marks := 0
	for key, p := range rows {
		switch row := key[strings.Index(key, "|")+1:]; {
		case strings.HasPrefix(row, "id_"):
			hires = append(hires, hireOf(key, p))
			delete(rows, key)
		case strings.HasPrefix(row, "~azp_count_"):
			marks++
			delete(rows, key)
		case strings.HasPrefix(row, "~azp_sum_"), strings.HasPrefix(row, "~azp_view_"):
			delete(rows, key)
		case p["Count"] == 0.0 && len(p) == 2, p["Count"] == "0" && p["Years"] == "0":
			delete(rows, key) // a counter of no entity
		}
		delete(p, "Count@odata.type")
		delete(p, "Years@odata.type")
	}
	if slices.Contains(views, "company") && skip == nil && marks != len(hires) {
		return fmt.Errorf("%d marks for %d primaries", marks, len(hires))
	}
	maps.DeleteFunc(others, func(_ string, p map[string]any) bool { return p["azp_view"] == "byLookup" }) // see checkLookups
	wantOwn, wantOther := implied(hires, views)
	return errors.Join(sameRows("own", rows, wantOwn, skip), sameRows("other", others, wantOther, skip))
}

// zero is a property with the zero value, which is the same as none: a row that was written by hand
// may lack it.
var zero = regexp.MustCompile(`"[A-Za-z]+":(""|false),`)

func sameRows(table string, got map[string]map[string]any, want rowTexts, skip func(table, key string) bool) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if skip != nil && skip(table, key) {
			continue
		}
		if have := show(got[key]); zero.ReplaceAllString(have, "") != zero.ReplaceAllString(want[key], "") {
			errs = append(errs, fmt.Errorf("%s %s:\n have %s\n want %s", table, key, have, want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[key]; !ok && (skip == nil || !skip(table, key)) {
			errs = append(errs, fmt.Errorf("%s %s is missing, want %s", table, key, want[key]))
		}
	}
	return errors.Join(errs...)
}
