package indexentity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// list is a [patterns.List] that stores the members, sorted, in the string properties
// Members, Members02, …, each of which is a JSON array. The text of a member is its row
// key or, if members have different partition keys, partition key, "/" and row key. No
// key contains a "/".
type list struct {
	local     bool   // all members are in one partition
	name      string // of the first property, "" for Members
	separator string // of the members, "" for a JSON array
}

// memberSeparator separates the parts of the key of a member.
const memberSeparator = "/"

const (
	// textUnits is the size limit of a string property, in UTF-16 code units.
	textUnits = 32 << 10
	// listUnits is the size limit of a list. It leaves room in a row of 1 MiB for the keys
	// and the properties that the Store adds.
	listUnits = (1<<20)/2 - 4<<10
	maxTexts  = listUnits/textUnits + 1
)

// errFull is the error of a list that is too long, and names the remedies.
var errFull = azerr.Errorf("%w: the list of members is full: keep it in a blob, or use a secondary index that is not unique", patterns.ErrTooLarge)

// property returns the name of the i-th property of a list.
func (l list) property(i int) string {
	name := cmp.Or(l.name, "Members")
	if i == 0 {
		return name
	}
	return name + number(i)
}

// number returns what the name of the i-th property ends in.
func number(i int) string { return fmt.Sprintf("%02d", i+1) }

// has reports whether a list can have a property of that name.
func (l list) has(property string) bool {
	end, ok := strings.CutPrefix(property, cmp.Or(l.name, "Members"))
	if !ok || end == "" {
		return ok
	}
	i, err := strconv.Atoi(end)
	return err == nil && i > 1 && i <= maxTexts && number(i-1) == end
}

// text returns the text of a member.
func (l list) text(member keys.Key) string {
	if l.local {
		return member.Row
	}
	return member.Partition + memberSeparator + member.Row
}

// key returns the member with the given text. partition is that of a local list.
func (l list) key(text, partition string) keys.Key {
	if l.local {
		return keys.Key{Partition: partition, Row: text}
	}
	pk, rk, _ := strings.Cut(text, memberSeparator)
	return keys.Key{Partition: pk, Row: rk}
}

// read returns the members in a row, sorted.
func (l list) read(row map[string]any) ([]string, error) {
	var members []string
	for i := range maxTexts {
		text, ok := row[l.property(i)].(string)
		if !ok {
			break
		}
		part, err := l.parse(text)
		if err != nil {
			return nil, &patterns.PropertyError{Property: l.property(i), Want: "a JSON array of strings", Got: "other text"}
		}
		if i == 0 {
			members = part
			continue
		}
		members = append(members, part...)
	}
	return asSet(members), nil
}

// write stores the members in as few properties as possible.
func (l list) write(row map[string]any, members []string) error {
	maps.DeleteFunc(row, func(name string, _ any) bool { return l.has(name) })
	total, n := 0, 0
	for start := 0; start < len(members); n++ {
		end, units := start, len("[]")
		for end < len(members) {
			more := l.units(members[end])
			if units+more > textUnits {
				break
			}
			units += more
			end++
		}
		if total += units; total > listUnits || n == maxTexts {
			return errFull
		}
		row[l.property(n)] = l.format(members[start:end])
		start = end
	}
	return nil
}

// Members returns the members in a row, which is stored at key, for package reindex.
func (l list) Members(row map[string]any, key keys.Key) ([]keys.Key, error) {
	texts, err := l.read(row)
	members := make([]keys.Key, len(texts))
	for i, text := range texts {
		members[i] = l.key(text, key.Partition)
	}
	return members, err
}

// parse returns the members in the text of a property.
func (l list) parse(text string) ([]string, error) {
	switch {
	case l.separator == "":
		return parseMembers(text)
	case text == "":
		return nil, nil
	}
	return strings.Split(text, l.separator), nil
}

// format is the reverse of parse.
func (l list) format(members []string) string {
	if l.separator == "" {
		return formatMembers(members)
	}
	return strings.Join(members, l.separator)
}

// units returns the length of a member in the text of a property, with what separates it
// from the next one, in UTF-16 code units.
func (l list) units(member string) int {
	if l.separator == "" {
		return jsonUnits(member) + len(",")
	}
	return utf16Units(member) + utf16Units(l.separator)
}

func utf16Units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// check refuses a member that the text of a property cannot contain.
func (l list) check(member keys.Key) error {
	if text := l.text(member); l.separator != "" && (text == "" || strings.Contains(text, l.separator)) {
		return azerr.Errorf("%w: the entity's key is empty, or contains Options.Separator", keys.ErrBadKey)
	}
	return nil
}

// isIn reports whether row is a list: it has the properties of a list that is not empty,
// and no others.
func (l list) isIn(row map[string]any) bool {
	n := 0
	for n < maxTexts {
		if _, ok := row[l.property(n)].(string); !ok {
			break
		}
		n++
	}
	members, err := l.read(row)
	return n > 0 && n == len(row) && err == nil && len(members) > 0
}

// Add implements [patterns.List].
func (l list) Add(row map[string]any, member keys.Key) (bool, error) {
	if err := l.check(member); err != nil {
		return false, err
	}
	return l.change(row, member, insert)
}

// Remove implements [patterns.List].
func (l list) Remove(row map[string]any, member keys.Key) (bool, error) {
	return l.change(row, member, remove)
}

// Len implements [patterns.List].
func (l list) Len(row map[string]any) (int, error) {
	members, err := l.read(row)
	return len(members), err
}

func (l list) change(row map[string]any, member keys.Key, edit func([]string, string) ([]string, bool)) (bool, error) {
	members, err := l.read(row)
	if err != nil {
		return false, err
	}
	members, changed := edit(members, l.text(member))
	if !changed {
		return false, nil
	}
	return true, l.write(row, members)
}

func insert(members []string, text string) ([]string, bool) {
	i, found := slices.BinarySearchFunc(members, text, compare)
	if found {
		return members, false
	}
	return slices.Insert(members, i, text), true
}

func remove(members []string, text string) ([]string, bool) {
	i, found := slices.BinarySearchFunc(members, text, compare)
	if !found {
		return members, false
	}
	return slices.Delete(members, i, i+1), true
}

// compare compares the texts of two members by their keys. The order of the texts differs
// from it: "A/1" is after "A B/1".
func compare(a, b string) int {
	return list{}.key(a, "").Compare(list{}.key(b, ""))
}

// asSet returns members sorted and without duplicates. Another program may have stored them
// otherwise.
func asSet(members []string) []string {
	if !slices.IsSortedFunc(members, compare) {
		slices.SortFunc(members, compare)
	}
	return slices.Compact(members)
}

// parseMembers parses a JSON array of strings.
func parseMembers(text string) (members []string, err error) {
	if inner, ok := strings.CutPrefix(text, `["`); ok {
		if inner, ok = strings.CutSuffix(inner, `"]`); ok {
			members = strings.Split(inner, `","`)
			if !slices.ContainsFunc(members, needsEscape) {
				return members, nil
			}
		}
	}
	members = nil
	err = json.Unmarshal([]byte(text), &members)
	return members, err
}

// formatMembers returns the members as a JSON array.
func formatMembers(members []string) string {
	if len(members) > 0 && !slices.ContainsFunc(members, needsEscape) {
		return `["` + strings.Join(members, `","`) + `"]`
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(members) // strings always encode
	return strings.TrimSuffix(b.String(), "\n")
}

// needsEscape reports whether s is not, in quotation marks, the JSON that encoding/json
// writes for it.
func needsEscape(s string) bool {
	ascii := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			return true
		}
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	return !ascii && (!utf8.ValidString(s) || strings.ContainsAny(s, "\u2028\u2029"))
}

// jsonUnits returns the length of s in JSON, in UTF-16 code units. s is a key: valid UTF-8
// without control characters.
func jsonUnits(s string) int {
	n := len(`""`) + strings.Count(s, `"`) + strings.Count(s, `\`)
	for _, r := range s {
		if r == '\u2028' || r == '\u2029' {
			n += len(`\u2028`) - 1
		}
		n += utf16.RuneLen(r)
	}
	return n
}
