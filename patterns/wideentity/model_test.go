package wideentity_test

import (
	"encoding/base64"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// smallBatch is a limit of transactions that a few properties exceed, so that their write
// is staged.
const smallBatch = 5000

var modelNames = []string{"A", "B", "C", "D", "E", "F", "G", "H"}

// drawProperties returns an entity with some properties, a few of them in pieces.
func drawProperties(r *rapid.T, names []string) properties {
	b := properties{}
	for _, name := range names {
		switch rapid.IntRange(0, 9).Draw(r, "kind of "+name) {
		case 0, 1:
		case 2:
			b[name] = noise(rapid.SampledFrom([]int{0, 3, 65536, 65537, 131071}).Draw(r, "bytes"))
		case 3:
			b[name] = text(rapid.SampledFrom([]int{0, 32768, 32769, 70000}).Draw(r, "units"))
		case 4:
			b[name] = text(rapid.IntRange(0, 2000).Draw(r, "units"))
		default:
			b[name] = rapid.Int32().Draw(r, "number")
		}
	}
	return b
}

// Writes, merges, updates and deletes, with several numbers of parts, in one transaction
// or staged, leave what they would leave in a map.
func TestAnEntityBehavesLikeAMap(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		rapid.Check(t, func(r *rapid.T) {
			client := b.Table(t)
			tables := map[int]*wideentity.Table[properties]{}
			for _, parts := range someParts {
				tables[parts] = open[properties](t, client, &wideentity.Options[properties]{Parts: max(parts, -parts), Plain: parts < 0})
				wideentity.SetBatchBytes(tables[parts], rapid.SampledFrom([]int{smallBatch, 200_000, 4 << 20}).Draw(r, "limit"))
			}
			// A plain entity holds no large value and is never staged.
			refused := func(parts int, err error) bool { return parts < 0 && errors.Is(err, patterns.ErrTooLarge) }
			var model properties // nil: the entity does not exist
			actions := map[string]func(){
				"put": func() {
					v := drawProperties(r, modelNames)
					parts := pick(r)
					_, err := tables[parts].Put(t.Context(), &v)
					switch {
					case refused(parts, err):
					case err != nil:
						r.Fatal(err)
					default:
						model = v
					}
				},
				"set": func() {
					v := drawProperties(r, modelNames)
					names := slices.Sorted(maps.Keys(v))
					if len(names) == 0 {
						return
					}
					err := mergeAny(t.Context(), tables[pick(r)], year, &v, names...)
					switch {
					case model == nil && errors.Is(err, patterns.ErrNotFound), errors.Is(err, patterns.ErrTooLarge):
					case err != nil:
						r.Fatal(err)
					default:
						model = maps.Clone(model)
						maps.Copy(model, v)
					}
				},
				"update": func() {
					v := drawProperties(r, modelNames[:4])
					parts := pick(r)
					_, err := tables[parts].Update(t.Context(), year, func(b *properties) error {
						for _, name := range modelNames[:4] {
							delete(*b, name)
						}
						maps.Copy(*b, v)
						return nil
					})
					switch {
					case model == nil && errors.Is(err, patterns.ErrNotFound), refused(parts, err):
					case err != nil:
						r.Fatal(err)
					default:
						before := model
						model = maps.Clone(model)
						for _, name := range modelNames[:4] {
							delete(model, name)
							if value, ok := v[name]; ok {
								model[name] = inPlaceOf(before[name], value)
							}
						}
					}
				},
				"delete": func() {
					if err := tables[pick(r)].Delete(t.Context(), year, ""); err != nil {
						r.Fatal(err)
					}
					model = nil
				},
			}
			check := func() {
				table := tables[pick(r)]
				item, err := table.Get(t.Context(), year)
				names := rapid.SliceOfDistinct(rapid.SampledFrom(modelNames), rapid.ID[string]).Draw(r, "names")
				some, rerr := table.GetOnly(t.Context(), year, names...)
				if model == nil {
					if !errors.Is(err, patterns.ErrNotFound) || !errors.Is(rerr, patterns.ErrNotFound) {
						r.Fatalf("no entity: %v, %v", err, rerr)
					}
					return
				}
				if err != nil || rerr != nil {
					r.Fatalf("%v, %v", err, rerr)
				}
				if !sameProperties(item.Value, model) {
					r.Fatal("the entity is not what was written")
				}
				if !sameProperties(some.Value, only(model, names)) {
					r.Fatal("the part is not what was written")
				}
				rows := rawRows(t, b, client)
				opts := &patterns.SweepOptions{Partitions: []string{year.Partition}}
				if n, err := table.Sweep(t.Context(), opts); n.Found != 0 || err != nil {
					r.Fatalf("of %d rows left over: %+v: %v", rows, n, err)
				}
			}
			for range rapid.IntRange(1, 6).Draw(r, "steps") {
				actions[rapid.SampledFrom(slices.Sorted(maps.Keys(actions))).Draw(r, "action")]()
				check()
			}
		})
	})
}

// inPlaceOf returns what a map with value stores in a row that had before: a text that an Edm.Binary
// can represent does not change the type.
func inPlaceOf(before, value any) any {
	text, isText := value.(string)
	if _, wasBinary := before.([]byte); isText && wasBinary {
		if b, err := base64.StdEncoding.DecodeString(text); err == nil {
			return b
		}
	}
	return value
}

// someParts are numbers of parts; negative ones are of plain entities.
var someParts = []int{1, 3, 16, -1, -3}

func pick(r *rapid.T) int { return rapid.SampledFrom(someParts).Draw(r, "parts") }

func only(b properties, names []string) properties {
	some := properties{}
	for _, name := range names {
		if v, ok := b[name]; ok {
			some[name] = v
		}
	}
	return some
}

func sameProperties(got, want properties) bool { return maps.EqualFunc(without(got), want, same) }

// bubble is a T without the method Deadline, which panics in a synctest bubble.
type bubble struct{ *testing.T }

// Every read requests several pages, and a writer changes the entity between them. The
// result is a state that the entity had since the read began.
func TestAReaderNeverSeesAMixOfVersions(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		synctest.Test(t, func(t *testing.T) {
			torn := 0
			rapid.Check(bubble{t}, func(r *rapid.T) {
				name := harness.UniqueName()
				b.NamedTable(t, name)
				b.ClearFaults()
				b.Fault(storagetest.On("Table.Query").ShortPage(rapid.IntRange(1, 4).Draw(r, "page")))
				plain := rapid.Bool().Draw(r, "plain")
				writer := open[properties](t, b.Direct(t, name), &wideentity.Options[properties]{Parts: 5, Plain: plain})
				if limit := rapid.SampledFrom([]int{smallBatch, 4 << 20}).Draw(r, "limit"); !plain {
					wideentity.SetBatchBytes(writer, limit)
				}
				random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
				states := []properties{nil}
				write := func() {
					old := states[len(states)-1]
					v := properties{}
					for _, name := range modelNames[:1+random.IntN(len(modelNames))] {
						v[name] = text(random.IntN(1000))
					}
					var err error
					switch k := random.IntN(8); {
					case old == nil || k < 4:
						_, err = writer.Put(t.Context(), &v)
					case k == 4:
						v, err = nil, writer.Delete(t.Context(), year, "")
					default:
						err = mergeAny(t.Context(), writer, year, &v, slices.Collect(maps.Keys(v))...)
						v2 := maps.Clone(old)
						maps.Copy(v2, v)
						v = v2
						if errors.Is(err, patterns.ErrTooLarge) {
							v, err = old, nil
						}
					}
					if err != nil {
						r.Fatal(err)
					}
					states = append(states, v)
				}
				write()
				left := 0
				reader := open[properties](t, b.AfterEachTry(t, name, func(int) {
					if left > 0 && random.IntN(2) == 0 {
						left--
						write()
					}
				}), &wideentity.Options[properties]{Parts: 5, Plain: plain, Parallel: 1})
				for range 4 {
					left = 6
					from, asked := len(states)-1, b.Requests().Count("Table.Query")
					names := modelNames
					var item wideentity.Item[properties]
					var err error
					if random.IntN(2) == 0 {
						item, err = reader.Get(t.Context(), year)
					} else {
						names = modelNames[random.IntN(4) : 4+random.IntN(4)]
						item, err = reader.GetOnly(t.Context(), year, names...)
					}
					found := slices.ContainsFunc(states[from:], func(s properties) bool {
						if s == nil {
							return errors.Is(err, patterns.ErrNotFound)
						}
						return err == nil && sameProperties(item.Value, only(s, names))
					})
					if !found {
						r.Fatalf("read %d properties, which the entity never had: %v", len(item.Value), err)
					}
					if b.Requests().Count("Table.Query") > asked+12 {
						torn++
					}
				}
			})
			if torn == 0 {
				t.Error("no read had to be repeated, so the test proves nothing")
			}
		})
	})
}
