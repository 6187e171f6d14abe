package eventual_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// meanwhile does something just before the request at the given place, counted
// from 1, is carried out. It must not use the clients whose requests are counted.
func meanwhile(b *testbed.Backend, place int, do func()) {
	n := 0
	b.Fault(fault.On("*").Where(func(fault.Request) bool {
		if n++; n == place {
			do()
		}
		return false
	}))
}

// places are before each request of a move: without and with a row in the archive.
func places(t *testing.T, body func(t *testing.T, place int, earlier string)) {
	for place := 1; place <= 3; place++ {
		t.Run(fmt.Sprint("none/", place), func(t *testing.T) { body(t, place, "") })
	}
	for place := 1; place <= 6; place++ {
		t.Run(fmt.Sprint("earlier/", place), func(t *testing.T) { body(t, place, hired("0", "long ago")) })
	}
}

func TestAChangeMeanwhileIsMovedToo(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			places(t, func(t *testing.T, place int, earlier string) {
				a.reset(t, hired("1", "Ken"), earlier)
				meanwhile(b, place, func() {
					if !a.change(t, hired("1", "Ken Kwok")) {
						t.Error("gone too soon")
					}
				})
				err := a.move(t.Context(), eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"})
				b.ClearFaults()
				if err != nil {
					t.Error(err)
				}
				a.want(t, "", hired("1", "Ken Kwok"))
			})
		})
	})
}

func TestOnlyTheVersionThatWasMeantIsMoved(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			places(t, func(t *testing.T, place int, earlier string) {
				row := row456()
				row.ETag = a.reset(t, hired("1", "Ken"), earlier)
				meanwhile(b, place, func() { a.change(t, hired("1", "Ken Kwok")) })
				err := a.move(t.Context(), row)
				b.ClearFaults()
				if !errors.Is(err, eventual.ErrSuperseded) {
					t.Errorf("got %v", err)
				}
				a.want(t, hired("1", "Ken Kwok"), earlier) // what was copied was taken back
			})
		})
	})
}

func TestARowThatWasCreatedAnewIsNotMoved(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			for _, by := range []string{"ETag", "Where"} {
				places(t, func(t *testing.T, place int, earlier string) {
					row := row456()
					etag := a.reset(t, hired("1", "Ken"), earlier)
					if by == "ETag" {
						row.ETag = etag
					} else {
						row.Where = "Contract eq '1'"
					}
					meanwhile(b, place, func() {
						deleteRow(t, a.direct)
						putRow(t, a.direct, hired("2", "is back"))
					})
					err := a.move(t.Context(), row)
					b.ClearFaults()
					if !errors.Is(err, eventual.ErrSuperseded) {
						t.Errorf("got %v", err)
					}
					a.want(t, hired("2", "is back"), earlier)
					// And the message comes again.
					if err := a.move(t.Context(), row); !errors.Is(err, eventual.ErrSuperseded) {
						t.Errorf("the second time: %v", err)
					}
					a.want(t, hired("2", "is back"), earlier)
				})
			}
		})
	})
}

// The employee is archived by another worker, hired again and archived again, all
// while this one hesitates.
func TestALateMoveDoesNotUndoANewerOne(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		for try := 1; try <= 5; try++ {
			for _, earlier := range []string{"", hired("0", "long ago")} {
				for _, kind := range []string{"table", "blob"} {
					t.Run(fmt.Sprintf("%s/%d/%t", kind, try, earlier != ""), func(t *testing.T) {
						name := testbed.UniqueName()
						current, old, blobs := b.NamedTable(t, name), b.Table(t), b.Container(t)
						move := func(from *aztables.Client, contract string) error {
							r := eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '" + contract + "'"}
							if kind == "blob" {
								return eventual.MoveToBlob(t.Context(), from, blobs, r)
							}
							return eventual.Move(t.Context(), from, old, r)
						}
						if earlier != "" {
							putRow(t, current, earlier)
							if err := move(current, "0"); err != nil {
								t.Fatal(err)
							}
						}
						putRow(t, current, hired("1", "Ken"))
						fired := false
						slow := b.Between(t, name, func(n int) {
							if n != try || fired {
								return
							}
							fired = true
							if err := move(current, "1"); err != nil {
								t.Error(err)
							}
							putRow(t, current, hired("2", "is back"))
							if err := move(current, "2"); err != nil {
								t.Error(err)
							}
						})
						if err := move(slow, "1"); err != nil {
							t.Error(err)
						}
						a := &archive{current: current, read: func(t testing.TB) (string, bool) { return readRow(t, old) }}
						if kind == "blob" {
							a.read = func(t testing.TB) (string, bool) { return readBlob(t, blobs) }
						}
						want := hired("2", "is back")
						if !fired {
							want = hired("1", "Ken")
						}
						a.want(t, "", want)
					})
				}
			}
		}
	})
}

func TestAMoveKeepsTryingWhileItLosesRacesAndThenGivesUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		name := testbed.UniqueName()
		current, old := b.NamedTable(t, name), b.Table(t)
		direct := b.Direct(t, name)
		putRow(t, direct, hired("1", "Ken"))
		n := 0
		b.Fault(fault.On("Table.Delete").Where(func(fault.Request) bool {
			n++
			putRow(t, direct, hired("1", fmt.Sprint("Ken ", n)))
			return false
		}))
		if err := eventual.Move(t.Context(), current, old, row456()); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("got %v", err)
		}
		if n != 16 {
			t.Errorf("%d tries", n)
		}
	})
}

// The row changes while it is moved, which is no matter, and is created anew while it
// is moved once more. Then the archive must be what it was before the move, not what it
// was after the first try.
func TestAMoveThatIsOvertakenAfterALostRaceTakesBackAll(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			for _, earlier := range []string{"", hired("0", "long ago")} {
				a.reset(t, hired("1", "Ken"), earlier)
				deletes := 0
				b.Fault(fault.On("Table.Delete").Where(func(fault.Request) bool {
					switch deletes++; deletes {
					case 1:
						a.change(t, hired("1", "Ken Kwok"))
					case 2:
						a.change(t, hired("2", "is back"))
					}
					return false
				}))
				err := a.move(t.Context(), eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"})
				b.ClearFaults()
				if !errors.Is(err, eventual.ErrSuperseded) {
					t.Errorf("got %v", err)
				}
				a.want(t, hired("2", "is back"), earlier)
			}
		})
	})
}

// The delete is carried out and its reply lost, and the employee is hired again before
// the SDK repeats it, which then finds another version. What was moved must stay moved.
func TestAMoveWhoseDeleteIsNotAnsweredTakesNothingBack(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		for _, kind := range []string{"table", "blob"} {
			name := testbed.UniqueName()
			current, old, blobs := b.NamedTable(t, name), b.Table(t), b.Container(t)
			putRow(t, current, hired("1", "Ken"))
			from := b.Between(t, name, func(try int) {
				if try == 2 { // the first is the read
					putRow(t, b.Direct(t, name), hired("2", "is back"))
				}
			})
			b.Fault(fault.On("Table.Delete").Nth(1).LoseReply())
			row := eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"}
			a := &archive{current: current, read: func(t testing.TB) (string, bool) { return readRow(t, old) }}
			var err error
			if kind == "blob" {
				a.read = func(t testing.TB) (string, bool) { return readBlob(t, blobs) }
				err = eventual.MoveToBlob(t.Context(), from, blobs, row)
			} else {
				err = eventual.Move(t.Context(), from, old, row)
			}
			b.ClearFaults()
			if !errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("%s: %v", kind, err)
			}
			a.want(t, hired("2", "is back"), hired("1", "Ken"))
		}
	})
}
