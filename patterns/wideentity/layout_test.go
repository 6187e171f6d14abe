package wideentity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// yearOfMessages is the guide's example: a count for each day of a year.
type yearOfMessages struct {
	PartitionKey, RowKey string
	Department           string
	Since                time.Time
	Note                 *string
	Picture              []byte            `table:",omitempty"`
	Tags                 map[string]string `table:",json"`

	Day001, Day002, Day003, Day004, Day005, Day006, Day007, Day008, Day009, Day010, Day011, Day012, Day013,
	Day014, Day015, Day016, Day017, Day018, Day019, Day020, Day021, Day022, Day023, Day024, Day025, Day026,
	Day027, Day028, Day029, Day030, Day031, Day032, Day033, Day034, Day035, Day036, Day037, Day038, Day039,
	Day040, Day041, Day042, Day043, Day044, Day045, Day046, Day047, Day048, Day049, Day050, Day051, Day052,
	Day053, Day054, Day055, Day056, Day057, Day058, Day059, Day060, Day061, Day062, Day063, Day064, Day065,
	Day066, Day067, Day068, Day069, Day070, Day071, Day072, Day073, Day074, Day075, Day076, Day077, Day078,
	Day079, Day080, Day081, Day082, Day083, Day084, Day085, Day086, Day087, Day088, Day089, Day090, Day091,
	Day092, Day093, Day094, Day095, Day096, Day097, Day098, Day099, Day100, Day101, Day102, Day103, Day104,
	Day105, Day106, Day107, Day108, Day109, Day110, Day111, Day112, Day113, Day114, Day115, Day116, Day117,
	Day118, Day119, Day120, Day121, Day122, Day123, Day124, Day125, Day126, Day127, Day128, Day129, Day130,
	Day131, Day132, Day133, Day134, Day135, Day136, Day137, Day138, Day139, Day140, Day141, Day142, Day143,
	Day144, Day145, Day146, Day147, Day148, Day149, Day150, Day151, Day152, Day153, Day154, Day155, Day156,
	Day157, Day158, Day159, Day160, Day161, Day162, Day163, Day164, Day165, Day166, Day167, Day168, Day169,
	Day170, Day171, Day172, Day173, Day174, Day175, Day176, Day177, Day178, Day179, Day180, Day181, Day182,
	Day183, Day184, Day185, Day186, Day187, Day188, Day189, Day190, Day191, Day192, Day193, Day194, Day195,
	Day196, Day197, Day198, Day199, Day200, Day201, Day202, Day203, Day204, Day205, Day206, Day207, Day208,
	Day209, Day210, Day211, Day212, Day213, Day214, Day215, Day216, Day217, Day218, Day219, Day220, Day221,
	Day222, Day223, Day224, Day225, Day226, Day227, Day228, Day229, Day230, Day231, Day232, Day233, Day234,
	Day235, Day236, Day237, Day238, Day239, Day240, Day241, Day242, Day243, Day244, Day245, Day246, Day247,
	Day248, Day249, Day250, Day251, Day252, Day253, Day254, Day255, Day256, Day257, Day258, Day259, Day260,
	Day261, Day262, Day263, Day264, Day265, Day266, Day267, Day268, Day269, Day270, Day271, Day272, Day273,
	Day274, Day275, Day276, Day277, Day278, Day279, Day280, Day281, Day282, Day283, Day284, Day285, Day286,
	Day287, Day288, Day289, Day290, Day291, Day292, Day293, Day294, Day295, Day296, Day297, Day298, Day299,
	Day300, Day301, Day302, Day303, Day304, Day305, Day306, Day307, Day308, Day309, Day310, Day311, Day312,
	Day313, Day314, Day315, Day316, Day317, Day318, Day319, Day320, Day321, Day322, Day323, Day324, Day325,
	Day326, Day327, Day328, Day329, Day330, Day331, Day332, Day333, Day334, Day335, Day336, Day337, Day338,
	Day339, Day340, Day341, Day342, Day343, Day344, Day345, Day346, Day347, Day348, Day349, Day350, Day351,
	Day352, Day353, Day354, Day355, Day356, Day357, Day358, Day359, Day360, Day361, Day362, Day363, Day364, Day365 int32
}

func dayNumber(name string) int {
	n := 0
	_, _ = fmt.Sscanf(name, "Day%03d", &n)
	return n
}

// guidePartOf is the guide's rule: the days in order. A row has 251 of them, because one
// of its 252 properties contains the version.
func guidePartOf(name string) int {
	if n := dayNumber(name); n > 0 {
		return (n-1)/251 + 1
	}
	return 2
}

func aYear() *yearOfMessages {
	y := &yearOfMessages{Department: "Sales", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Tags: map[string]string{"a": "b"}}
	v := reflect.ValueOf(y).Elem()
	for i := 1; i <= 365; i++ {
		v.FieldByName(fmt.Sprintf("Day%03d", i)).SetInt(int64(i))
	}
	return y
}

func TestAStructMayHaveMoreThan252Fields(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[yearOfMessages](t, client, &wideentity.Options[yearOfMessages]{Parts: 2, PartOf: guidePartOf})
		assert.Must(table.Insert(t.Context(), aYear()))(t)
		for row, want := range map[string]string{"000123_01": "Day251", "000123_02": "Day252"} {
			resp, err := client.GetEntity(t.Context(), year.Partition, row, nil)
			if err != nil || !strings.Contains(string(resp.Value), `"`+want+`"`) {
				t.Errorf("row %s has no %s: %v", row, want, err)
			}
		}
		item := assert.Must(table.Get(t.Context(), year))(t)
		want := aYear()
		want.PartitionKey, want.RowKey = "Sales", "000123"
		assert.DeepEqual(t, &item.Value, want, "the entity is not what was written")
		part := assert.Must(table.GetOnly(t.Context(), year, "Day100"))(t)
		if part.Value.Day100 != 100 || part.Value.Day101 != 0 || part.Value.Department != "" || !part.Projected() {
			t.Errorf("a partial read returned other properties: %d %d", part.Value.Day100, part.Value.Day101)
		}
		if _, err := table.Replace(t.Context(), part); !errors.Is(err, patterns.ErrBadETag) {
			t.Errorf("replace by an item that was read without its head: %v", err)
		}
		part = assert.Must(table.GetOnly(t.Context(), year, "Day100", "Day300"))(t)
		assert.WantError(t, assert.ErrorOf(table.Replace(t.Context(), part)), patterns.ErrProjected, "replace by an item that was read in part")
		assert.WantError(t, assert.ErrorOf(table.Merge(t.Context(), part, "Day101")), patterns.ErrProjected, "merge of a property that was not read")
		part.Value.Day300 = -1
		assert.Must(table.Merge(t.Context(), part, "Day300"))(t)
		if got := assert.Must(table.Get(t.Context(), year))(t); got.Value.Day300 != -1 || got.Value.Day299 != 299 {
			t.Error("the merge was not applied")
		}
	})
}

// A program with a newer type has written properties that an older program does not know.
func TestUnknownPropertiesSurviveUpdateAndReplace(t *testing.T) {
	type narrow struct{ A string }
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		all, some := open[properties](t, client, nil), open[narrow](t, client, nil)
		v := properties{"A": "a", "B": int64(5), "C": noise(100_000), "D": text(50_000), "E": 2.0, "F": [16]byte{1}}
		assert.Must(all.Insert(t.Context(), &v))(t)
		item := assert.Must(some.Update(t.Context(), year, func(n *narrow) error {
			n.A = "aa"
			return nil
		}))(t)
		v["A"] = "aa"
		wantProperties(t, assert.Must(all.Get(t.Context(), year))(t).Value, v)
		item.Value.A = "aaa"
		assert.Must(some.Replace(t.Context(), item))(t)
		v["A"] = "aaa"
		wantProperties(t, assert.Must(all.Get(t.Context(), year))(t).Value, v)
	})
}

// Entities stored with another number of parts are read and merged in their rows. They
// move when they are written as a whole.
func TestTheNumberOfPartsMayChange(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		old, table := open[properties](t, client, &wideentity.Options[properties]{Parts: 7}), open[properties](t, client, &wideentity.Options[properties]{Parts: 3})
		v := days(300)
		v["Photo"] = noise(150_000)
		assert.Must(old.Insert(t.Context(), &v))(t)
		v[dayName(3)] = int32(-3)
		assert.NoError(t, mergeAny(t.Context(), table, year, &v, dayName(3)))
		check := func() {
			t.Helper()
			wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
			for _, names := range [][]string{{dayName(3)}, {dayName(1), dayName(3), dayName(4)}, {"Photo", dayName(3)}} {
				wantProperties(t, assert.Must(table.GetOnly(t.Context(), year, names...))(t).Value, only(v, names))
			}
		}
		check()
		assert.Must(table.Update(t.Context(), year, func(b *properties) error {
			(*b)[dayName(3)] = int32(33)
			return nil
		}))(t)
		v[dayName(3)] = int32(33)
		check()
		assert.Equal(t, rawRows(t, b, client), 4, "rows, want 4")
		// Only a table with the same PartOf can read a part of an entity stored by it.
		own := open[properties](t, client, &wideentity.Options[properties]{Parts: 2, PartOf: guidePartOf})
		wantProperties(t, assert.Must(own.GetOnly(t.Context(), year, dayName(3)))(t).Value, only(v, []string{dayName(3)}))
		assert.Must(own.Update(t.Context(), year, func(b *properties) error {
			clear(*b)
			(*b)["Day001"] = int32(1)
			return nil
		}))(t)
		v = properties{"Day001": int32(1)}
		assert.WantError(t, mergeAny(t.Context(), table, year, &v, "Day001"), wideentity.ErrParts, "set by another rule")
		assert.WantError(t, assert.ErrorOf(table.GetOnly(t.Context(), year, "Day001")), wideentity.ErrParts, "read by another rule")
		item := assert.Must(table.Get(t.Context(), year))(t)
		wantProperties(t, item.Value, v)
		assert.Must(table.Replace(t.Context(), item))(t)
		wantProperties(t, assert.Must(table.GetOnly(t.Context(), year, "Day001"))(t).Value, v)
	})
}

// A change of the stored form makes stored entities unreadable.
func TestTheStoredFormDoesNotChange(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, &wideentity.Options[properties]{Parts: 4})
		v := properties{"Name": "n", "Count": int64(7), "Photo": make([]byte, 131_072)}
		key := keys.Key{Partition: "Sales", Row: "a_b"}
		assert.Must(table.Insert(t.Context(), keyed(key, &v)))(t)
		var got []string
		for _, raw := range harness.Rows(t, client) {
			var e aztables.EDMEntity
			assert.NoError(t, json.Unmarshal(raw, &e))
			got = append(got, describe(e))
		}
		want := []string{ // "_" is escaped in an id
			"a^\uffeeb_00: azp_layout=string hash:4, azp_parts=string 01:V;02:V;03:V;04:V, azp_splits=string Photo:3, azp_version=string V",
			"a^\uffeeb_01: Count=aztables.EDMInt64 7, Name=string n, azp_part=string V hash:4",
			"a^\uffeeb_02: Photo=65535 bytes, azp_part=string V hash:4 Photo:3",
			"a^\uffeeb_03: azp_1_Photo=65535 bytes, azp_part=string V hash:4",
			"a^\uffeeb_04: azp_2_Photo=2 bytes, azp_part=string V hash:4",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("stored\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// If a text grows over the limit, or shrinks below it, the first piece may stay the same.
// The note of its row changes.
func TestATextThatGrowsOrShrinksByAPieceIsReadAsAWhole(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := properties{"Text": ""}
		assert.Must(table.Insert(t.Context(), &v))(t)
		for _, units := range []int{32768, 32769, 32768, 70_000, 32768} {
			text := strings.Repeat("x", units)
			assert.Must(table.Update(t.Context(), year, func(b *properties) error {
				(*b)["Text"] = text
				return nil
			}))(t)
			part := assert.Must(table.GetOnly(t.Context(), year, "Text"))(t)
			wantProperties(t, part.Value, properties{"Text": text})
		}
	})
}

// A merge cannot remove the surplus pieces of a value that becomes smaller.
func TestAMergeEmptiesSurplusPieces(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, &wideentity.Options[properties]{Parts: 4})
		v := properties{"Photo": make([]byte, 200_000)}
		assert.Must(table.Insert(t.Context(), &v))(t)
		v = properties{"Photo": make([]byte, 70_000)}
		assert.NoError(t, mergeAny(t.Context(), table, year, &v, "Photo"))
		// 01 has the last of four pieces, 02 the first.
		for row, want := range map[string]int{"01": 0, "02": 65535, "03": 4465, "04": 0} {
			resp := assert.Must(client.GetEntity(t.Context(), year.Partition, year.Row+"_"+row, nil))(t)
			if n := len(resp.Value); n > want*4/3+1000 {
				t.Errorf("row %s has %d bytes, for %d of the value", row, n, want)
			}
		}
		wantProperties(t, assert.Must(table.GetOnly(t.Context(), year, "Photo"))(t).Value, v)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
	})
}

// describe returns the row in one line, with V for each version.
func describe(e aztables.EDMEntity) string {
	var texts []string
	for name, value := range e.Properties {
		text := fmt.Sprintf("%T %v", value, value)
		if b, ok := value.(aztables.EDMBinary); ok {
			text = fmt.Sprintf("%d bytes", len(b))
		}
		texts = append(texts, name+"="+versions.ReplaceAllString(text, "V"))
	}
	slices.Sort(texts)
	return e.RowKey + ": " + strings.Join(texts, ", ")
}

var versions = regexp.MustCompile(`\b[0-9a-v]{13}\b`)

// Adding properties never moves others. The parts are a part of the stored form.
func TestThePartOfAPropertyFollowsFromItsName(t *testing.T) {
	for name, want := range map[string]int{"Name": 1, "Count": 1, "Photo": 2, "Day001": 9, "Day365": 8, "MessageCountDay001": 4, "É": 7} {
		assert.Equal(t, hashOf(name, 16)+1, want, name, "is in part")
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, nil)
		v := days(30)
		assert.Must(table.Insert(t.Context(), &v))(t)
		for name := range v {
			row := fmt.Sprintf("000123_%02d", hashOf(name, 16)+1)
			resp, err := client.GetEntity(t.Context(), "Sales", row, nil)
			if err != nil || !strings.Contains(string(resp.Value), `"`+name+`":`) {
				t.Fatalf("%s is not in %s: %v", name, row, err)
			}
		}
	})
}

// The documentation of Options.Parts contains these numbers.
func TestPropertiesAreDistributedEvenly(t *testing.T) {
	for _, c := range []struct{ properties, parts int }{{2500, 16}, {10_000, 67}, {14_000, 98}} {
		for _, form := range []string{"Day%05d", "p%d", "MessageCount%dOfTheDay", "%x_column"} {
			n := map[int]int{}
			for i := range c.properties {
				n[hashOf(fmt.Sprintf(form, i), c.parts)]++
			}
			for _, some := range n {
				if some > 251 {
					t.Errorf("%d properties %q in %d parts: %d in one", c.properties, form, c.parts, some)
				}
			}
		}
	}
}
