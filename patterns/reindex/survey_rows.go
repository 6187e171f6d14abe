package reindex

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

const maxKinds, maxProperties, sampleSize = 256, 4096, 128 // further rows are of the last kind

// A sample consists of the least hashes of a set of texts, in order. Two samples show how much of
// one set is in another: if both sets have an element, both samples have its hash or neither.
type sample struct {
	hashes  []uint64
	escaped bool // some text contains what the pattern packages escape
}

func (s *sample) add(parts ...string) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	s.merge(sample{[]uint64{binary.BigEndian.Uint64(sum[:])}, strings.Contains(parts[len(parts)-1], "_")})
}

func (s *sample) merge(other sample) {
	s.escaped = s.escaped || other.escaped
	s.hashes = append(s.hashes, other.hashes...)
	slices.Sort(s.hashes)
	s.hashes = slices.Compact(s.hashes)
	s.hashes = s.hashes[:min(len(s.hashes), sampleSize)]
}

// isIn reports whether other has nearly all elements of the set. Tables that were maintained by
// hand have a few rows that were forgotten.
func (s sample) isIn(other sample) bool {
	all, both := 0, 0
	for _, x := range s.hashes {
		i, found := slices.BinarySearch(other.hashes, x)
		if found {
			both++
		}
		if i < sampleSize {
			all++
		}
	}
	return both > 0 && 10*both >= 9*all
}

// The samples of a kind: of partition keys and row keys, each also without its prefix, of both
// keys, and of both keys up to the "_" of the row key. The last is escaped if a row key has not
// two parts.
const partitions, partitionRests, rows, rests, both, heads, samples = 0, 1, 2, 3, 4, 5, 6

// kind is what is known of the rows of a kind. The template reads the exported fields.
type kind struct {
	*RowKind
	shape   [6]string // rows with another one are of another kind, until kinds are merged
	samples [samples]sample
	ByName  map[string]*Property

	Part   string // "01" of 000123_01; "" if the rows have several
	Parent *kind  // to whose entities the rows belong
	Parts  []*kind
	Views  []*surveyedView
	Series surveyedSeries
	Fields []*Property
}

var edmNames = map[string]string{"string": "Edm.String", "bool": "Edm.Boolean", "int32": "Edm.Int32",
	"int64": "Edm.Int64", "float64": "Edm.Double", "time.Time": "Edm.DateTime", "[]uint8": "Edm.Binary",
	"[16]uint8": "Edm.Guid"}

// expression compiles at the first use, not in every program that imports the package.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	keyLead      = expression(`^[A-Za-z][A-Za-z0-9]*_`)
	partEnd      = expression(`_(0[1-9]|[1-9]\d)$`)
	typeName     = expression(`^[A-Za-z][A-Za-z0-9]{0,63}$`)
	typeProperty = expression(`(?i)(type|kind)$`)
	seriesName   = expression(`^(.*(Hour|Minute))(?:0[1-9]|[1-5]\d|60)$`)
	keyForms     = expression(`^(?:(?P<empty>)|(?P<ticks>\d{19})|` +
		`(?P<date>(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?:[0-2]\d|[T ].*)?)|(?P<digits>\d+)|` +
		`(?P<GUID>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})|(?P<mail>[^@\s]+@[^@\s]+\.[A-Za-z]+))$`)
)

// formOf returns the KeyForm.Form of a key.
func formOf(key string) string {
	if match := keyForms().FindStringSubmatch(key); match != nil {
		return keyForms().SubexpNames()[1+slices.Index(match[1:], key)]
	}
	if first, rest, compound := strings.Cut(key, "_"); compound && !strings.Contains(rest, "_") {
		return formOf(first) + "_" + formOf(rest)
	}
	return "text"
}

// newKeyForm returns the form of one key, and what follows its prefix.
func newKeyForm(key string) (KeyForm, string) {
	prefix := keyLead().FindString(key)
	rest := key[len(prefix):]
	return KeyForm{prefix, formOf(rest), len(rest), key, 0}, rest
}

// add adds a row to its kind. Of rows whose keys are names, those are of one kind that have a
// property in common.
func (s *surveyor) add(key keys.Key, properties map[string]any) {
	s.Rows++
	if shared(properties, map[string]bool{"azp_view": true, "azp_part": true, "azp_layout": true}) > 0 ||
		strings.HasPrefix(key.Row, "~azp") {
		s.Managed++
		return
	}
	row := &kind{RowKind: &RowKind{Rows: 1}, ByName: map[string]*Property{}}
	for name, value := range properties {
		text, _ := value.(string)
		if name == "Timestamp" || strings.HasPrefix(name, "azp_") {
			delete(properties, name)
		} else if typeProperty().MatchString(name) && typeName().MatchString(text) &&
			(row.Discriminator == "" || name < row.Discriminator) {
			row.Discriminator, row.Value = name, text
		}
	}
	var rest, partitionRest string
	row.Partition, partitionRest = newKeyForm(key.Partition)
	row.Row, rest = newKeyForm(key.Row)
	row.Part = strings.TrimPrefix(partEnd().FindString(key.Row), "_")
	row.shape = [...]string{row.Partition.Prefix, row.Row.Prefix, row.Row.Form, row.Discriminator, row.Value, row.Part}
	head, tail, compound := strings.Cut(key.Row, "_")
	if !compound || strings.Contains(tail, "_") {
		head = key.Row + "_"
	}
	for i, parts := range [samples][]string{{key.Partition}, {partitionRest}, {key.Row}, {rest},
		{key.Partition, key.Row}, {key.Partition, head}} {
		row.samples[i].add(parts...)
	}
	byName := row.Row.Form == "text" && row.Row.Prefix == "" && len(properties) > 0
	i := slices.IndexFunc(s.kinds, func(k *kind) bool {
		return k.shape == row.shape && (!byName || shared(properties, k.ByName) > 0)
	})
	if i < 0 && len(s.kinds) < maxKinds {
		i, s.kinds = len(s.kinds), append(s.kinds, row)
	} else if i < 0 {
		i = maxKinds - 1
	}
	k := s.kinds[i]
	for name, value := range properties {
		if k.ByName[name] == nil && s.properties == maxProperties {
			k.Others++
			continue
		} else if k.ByName[name] == nil {
			s.properties++
		}
		k.property(name).add(value)
	}
	if k != row {
		k.merge(row)
	}
}

// property returns the property of that name, which it adds if there is none.
func (k *kind) property(name string) *Property {
	if k.ByName[name] == nil {
		k.ByName[name] = &Property{Name: name, Types: map[string]int{}, Forms: map[string]int{}}
	}
	return k.ByName[name]
}

// shared counts the names that are in both maps.
func shared[V, W any](a map[string]V, b map[string]W) (n int) {
	for name := range a {
		if _, ok := b[name]; ok {
			n++
		}
	}
	return n
}

// common returns what both are, or else otherwise.
func common[T comparable](a, b, otherwise T) T {
	if a == b {
		return a
	}
	return otherwise
}

// join returns what the forms of keys have in common.
func (f KeyForm) join(g KeyForm) KeyForm {
	if f.Prefix != g.Prefix {
		return KeyForm{"", "text", 0, common(f.Constant, g.Constant, ""), 0}
	}
	return KeyForm{f.Prefix, common(f.Form, g.Form, "text"), common(f.Width, g.Width, 0),
		common(f.Constant, g.Constant, ""), 0}
}

// add adds a value.
func (p *Property) add(value any) {
	v := reflect.ValueOf(value)
	p.Types[edmNames[v.Type().String()]]++
	text, isText := value.(string)
	at, notTime := time.Parse(time.RFC3339Nano, text)
	n, _ := strconv.ParseInt(text, 10, 64)
	isNumber := strconv.FormatInt(n, 10) == text
	for form, is := range map[string]bool{
		"zero":        v.IsZero() || notTime == nil && at.IsZero() || text == "0",
		"time":        notTime == nil,
		"zoned time":  notTime == nil && !strings.HasSuffix(text, "Z"),
		"JSON":        strings.IndexAny(text, "{[") == 0 && json.Valid([]byte(text)),
		"int64":       isNumber,
		"large int64": isNumber && int64(int32(n)) != n,
	} {
		if is {
			p.Forms[form]++
		}
	}
	if isText {
		p.values.add(text)
		if i := strings.IndexAny(text, "[,;|"); i >= 0 {
			p.separator = cmp.Or(p.separator, text[i:i+1])
		}
		for m := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(`,;|[]"`, r) }) {
			p.members.add(strings.Split(m, "/")...)
		}
	}
}

// merge adds the rows of other to k, of the same type.
func (k *kind) merge(other *kind) {
	for i := range samples {
		k.samples[i].merge(other.samples[i])
	}
	if k.Row.Prefix != other.Row.Prefix {
		k.samples[rests] = sample{escaped: true}
	}
	if k.Partition.Prefix != other.Partition.Prefix {
		k.samples[partitionRests] = sample{}
	}
	k.Partition, k.Row = k.Partition.join(other.Partition), k.Row.join(other.Row)
	k.Discriminator, k.Value = common(k.Discriminator, other.Discriminator, ""), common(k.Value, other.Value, "")
	k.Part, k.Rows, k.Others = common(k.Part, other.Part, ""), k.Rows+other.Rows, k.Others+other.Others
	for name, q := range other.ByName {
		p := k.property(name)
		for _, counts := range [][2]map[string]int{{p.Types, q.Types}, {p.Forms, q.Forms}} {
			for name, n := range counts[1] {
				counts[0][name] += n
			}
		}
		p.values.merge(q.values)
		p.members.merge(q.members)
		p.separator = max(p.separator, q.separator)
	}
}
