package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
)

// derived maps the name of each value that is derived from the employees to its text, for
// example "count Sales" to "3".
type derived map[string]string

// Check computes from the employees what the other rows should contain, compares it with
// the stored rows, and returns a text for each difference. It uses only the SDK and the
// documented layouts, none of the code that it checks.
func (d *Directory) Check(ctx context.Context) (differences []string, err error) {
	want, have := derived{}, derived{}
	rows, err := list(ctx, d.employees)
	if err != nil {
		return nil, err
	}
	badges, err := list(ctx, d.badges)
	if err != nil {
		return nil, err
	}
	old, err := list(ctx, d.archive)
	if err != nil {
		return nil, err
	}
	places := map[string][]string{}
	for _, r := range old {
		places[r.text("RowKey")] = append(places[r.text("RowKey")], "the archive")
	}
	for _, r := range append(rows, badges...) {
		switch r.kind() {
		case "employee":
			if state := r.text("State"); state != "" {
				differences = append(differences, fmt.Sprintf("employee %s is %s", r.key(), state))
			}
			places[r.text("RowKey")] = append(places[r.text("RowKey")], r.text("PartitionKey"))
			r.addExpected(want)
		case "operation":
			differences = append(differences, "an unfinished operation is in partition "+r.text("PartitionKey"))
		case "reservation":
			differences = append(differences, "a reservation is at "+r.key())
		default:
			r.addStored(have)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(places)) {
		if in := places[id]; len(in) > 1 {
			differences = append(differences, fmt.Sprintf("employee %s is in %s", id, strings.Join(in, " and ")))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if have[k] != want[k] {
			differences = append(differences, fmt.Sprintf("%s: is %q, should be %q", k, have[k], want[k]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[k]; !ok {
			differences = append(differences, fmt.Sprintf("%s: is %q, should not exist", k, have[k]))
		}
	}
	waiting, err := d.poison.PeekMessages(ctx, nil)
	if err != nil {
		return nil, err
	}
	if n := len(waiting.Messages); n > 0 {
		differences = append(differences, "a message is in the poison queue")
	}
	return differences, nil
}

// row is a row as the SDK returns it.
type row map[string]any

func (r row) text(name string) string {
	text, _ := r[name].(string)
	return text
}

func (r row) key() string { return r.text("PartitionKey") + "/" + r.text("RowKey") }

func (r row) kind() string {
	pk, rk := r.text("PartitionKey"), r.text("RowKey")
	switch {
	case strings.HasPrefix(rk, "~azp_outbox_"):
		if s := r.text("azp_state"); s == "done" || s == "fence" {
			return "record" // of a finished operation
		}
		return "operation"
	case r.text("azp_op") != "":
		return "reservation"
	case pk == "badge_":
		return "badge"
	case pk == "lastname_":
		return "last name"
	case rk == "Department":
		return "department"
	case strings.HasPrefix(rk, "email_"):
		return "e-mail"
	}
	return "employee"
}

// addExpected adds the values that are derived from the employee in r.
func (r row) addExpected(v derived) {
	in, id := r.text("PartitionKey"), r.text("RowKey")
	state := r.text("State")
	copied := strings.Join([]string{in, id, r.text("FirstName"), r.text("LastName"), r.text("Email"), r.text("Badge")}, " ")
	if email := r.text("Email"); email != "" && (state == "" || state == arriving) {
		v["e-mail "+in+"/"+keys.Escape(email)] = copied
	}
	if state != "" {
		return
	}
	if badge := r.text("Badge"); badge != "" {
		v["badge "+keys.Escape(badge)] = copied
	}
	last := "last name " + keys.Escape(r.text("LastName"))
	v[last] = formatMembers(append(parseMembers(v[last]), in+"/"+id))
	var n int
	fmt.Sscan(v["count "+in], &n)
	v["count "+in] = fmt.Sprint(n + 1)
	if is, _ := r["IsManager"].(bool); is {
		v["manager "+in] = r.text("FirstName") + " " + r.text("LastName") + " " + r.text("Email")
	}
}

// addStored adds the values that are stored in r, which is not the row of an employee.
func (r row) addStored(v derived) {
	in, at := r.text("PartitionKey"), r.text("RowKey")
	copied := strings.Join([]string{r.text("azp_pk"), r.text("azp_rk"), r.text("FirstName"), r.text("LastName"), r.text("Email"), r.text("Badge")}, " ")
	switch r.kind() {
	case "e-mail":
		v["e-mail "+in+"/"+strings.TrimPrefix(at, "email_")] = copied
	case "badge":
		v["badge "+at] = copied
	case "last name":
		v["last name "+at] = formatMembers(parseMembers(r.text("Members")))
	case "department":
		if n := r.text("EmployeeCount"); n != "" && n != "0" {
			v["count "+in] = n
		}
		if name := r.text("ManagerName"); name != "" {
			v["manager "+in] = name + " " + r.text("ManagerEmail")
		}
	}
}

// parseMembers returns the members of a list that formatMembers returned.
func parseMembers(text string) (members []string) {
	if text != "" && json.Unmarshal([]byte(text), &members) != nil {
		return []string{"not a list"}
	}
	return members
}

// formatMembers sorts members and returns them as a JSON array.
func formatMembers(members []string) string {
	slices.Sort(members)
	text, _ := json.Marshal(members) // cannot fail for strings
	return string(text)
}

func list(ctx context.Context, table *aztables.Client) (rows []row, err error) {
	for pager := table.NewListEntitiesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var r row
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, err
			}
			if r.text("PartitionKey") != "~azp" { // the states and the owners of views
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}
